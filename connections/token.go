package connections

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"blueprintd/blueprint"
)

// token is what a service gave, as it is stored.
type token struct {
	Access  string `json:"access"`
	Refresh string `json:"refresh,omitempty"`
	// Since and Until are when it was asked for and when it expires; Until is
	// zero when the service did not say.
	Since blueprint.Time `json:"since"`
	Until blueprint.Time `json:"until"`
	// For is the fingerprint of the client that it was given to.
	For string `json:"for"`
}

// The bounds of what a service gives.
const (
	mostToken    = 16 << 10 // bytes of an access or a refresh token
	mostLifetime = 10 * 365 * 24 * time.Hour
	// early is how long before its end a token is renewed at the most; one that
	// lives shortly is renewed in its last quarter.
	early = time.Minute
)

// otherKinds are kinds of tokens that are not sent as a bearer's. Whatever else a
// service writes there ("bot", "user") means a bearer's.
var otherKinds = []string{"mac", "dpop", "pop", "n_a"}

// newToken returns the token of an answer to a request made at asked, by the service's
// clock; the library uses the real time. The second result is the problem, if any.
func newToken(given *oauth2.Token, asked time.Time, fingerprint string) (token, string) {
	t := token{Access: given.AccessToken, Refresh: given.RefreshToken, Since: blueprint.TimeOf(asked), For: fingerprint}
	switch {
	case !sendable(t.Access) || t.Access == "" || len(t.Refresh) > mostToken:
		return token{}, "a token that cannot be used"
	case slices.Contains(otherKinds, strings.ToLower(given.TokenType)):
		return token{}, "a token of a kind other than bearer"
	}
	if seconds := lifetime(given); seconds > 0 {
		t.Until = blueprint.TimeOf(asked.Add(min(time.Duration(min(seconds, 1<<32))*time.Second, mostLifetime)))
	}
	return t, ""
}

// lifetime returns expires_in in seconds, 0 when the answer had none.
func lifetime(given *oauth2.Token) int64 {
	if given.ExpiresIn != 0 {
		return given.ExpiresIn
	}
	switch value := given.Extra("expires_in").(type) { // of an answer that was a form
	case int64:
		return value
	case float64:
		return int64(value)
	case string:
		seconds, _ := strconv.ParseInt(value, 10, 64)
		return seconds
	}
	return 0
}

// sendable reports whether a text can stand in a header.
func sendable(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return len(text) <= mostToken
}

// readToken reads a stored token; none when it is not for the client.
func readToken(data []byte, fingerprint string) (t token, ok bool) {
	if len(data) == 0 || json.Unmarshal(data, &t) != nil || t.For != fingerprint || t.Access == "" {
		return token{}, false
	}
	return t, true
}

func (t token) bytes() []byte {
	data, err := json.Marshal(t)
	if err != nil {
		panic("connections: a token cannot be written: " + err.Error()) // it has nothing but texts and times
	}
	return data
}

// fresh reports whether a token will do for a while.
func (t token) fresh(now time.Time) bool {
	if t.Until == 0 {
		return true
	}
	until := t.Until.Time()
	return now.Before(until.Add(-min(early, until.Sub(t.Since.Time())/4)))
}

// alive reports whether a token has not expired.
func (t token) alive(now time.Time) bool { return t.Until == 0 || now.Before(t.Until.Time()) }
