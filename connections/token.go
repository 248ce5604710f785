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

// token is a token of a service, as stored.
type token struct {
	Access  string `json:"access"`
	Refresh string `json:"refresh,omitempty"`
	// Since is when the token was requested, Until when it expires; zero if unknown.
	Since blueprint.Time `json:"since"`
	Until blueprint.Time `json:"until"`
	// For is the fingerprint of the client that it was issued to.
	For string `json:"for"`
}

// Limits of tokens.
const (
	maxToken    = 16 << 10 // bytes of an access or a refresh token
	maxLifetime = 10 * 365 * 24 * time.Hour
	// early is how long before it expires a token is refreshed, at most; one with a short
	// lifetime is refreshed in its last quarter.
	early = time.Minute
)

// unsupportedTokenTypes cannot be sent as bearer tokens. All other values, such as "bot" or
// "user", mean bearer.
var unsupportedTokenTypes = []string{"mac", "dpop", "pop", "n_a"}

// newToken returns the token in a response to a request made at the time requested; the
// expiry in received is by the real clock. The second result is the problem, if any.
func newToken(received *oauth2.Token, requested time.Time, fingerprint string) (token, string) {
	t := token{Access: received.AccessToken, Refresh: received.RefreshToken, Since: blueprint.TimeOf(requested), For: fingerprint}
	switch {
	case !isHeaderValue(t.Access) || t.Access == "" || len(t.Refresh) > maxToken:
		return token{}, "a token that cannot be used"
	case slices.Contains(unsupportedTokenTypes, strings.ToLower(received.TokenType)):
		return token{}, "a token of a type other than bearer"
	}
	if seconds := lifetime(received); seconds > 0 {
		t.Until = blueprint.TimeOf(requested.Add(min(time.Duration(min(seconds, 1<<32))*time.Second, maxLifetime)))
	}
	return t, ""
}

// lifetime returns expires_in in seconds, 0 if absent.
func lifetime(received *oauth2.Token) int64 {
	if received.ExpiresIn != 0 {
		return received.ExpiresIn
	}
	switch value := received.Extra("expires_in").(type) { // of a form-encoded response
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

// isHeaderValue reports whether a text is valid in a header and not too long.
func isHeaderValue(text string) bool {
	for i := range len(text) {
		if text[i] <= ' ' || text[i] > '~' {
			return false
		}
	}
	return len(text) <= maxToken
}

// readToken decodes a stored token. It reports false if the token is not for the client.
func readToken(data []byte, fingerprint string) (t token, ok bool) {
	if len(data) == 0 || json.Unmarshal(data, &t) != nil || t.For != fingerprint || t.Access == "" {
		return token{}, false
	}
	return t, true
}

func (t token) bytes() []byte {
	data, err := json.Marshal(t)
	if err != nil {
		panic("connections: encoding a token: " + err.Error()) // it has only strings and times
	}
	return data
}

// fresh reports whether a token need not be refreshed yet.
func (t token) fresh(now time.Time) bool {
	if t.Until == 0 {
		return true
	}
	until := t.Until.Time()
	return now.Before(until.Add(-min(early, until.Sub(t.Since.Time())/4)))
}

// alive reports whether a token has not expired.
func (t token) alive(now time.Time) bool { return t.Until == 0 || now.Before(t.Until.Time()) }
