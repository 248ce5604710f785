package connections

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"blueprintd/blueprint"
)

// errSignIn means that the user has to sign in.
var errSignIn = errors.New("the user must sign in")

// current returns the token of a client: that of the user, or the client's own. refused is
// an access token that a service has refused, or "". Errors are errSignIn, a
// *blueprint.Failure, or internal.
func (s *Service) current(ctx context.Context, c *oauthClient, userID, refused string) (token, error) {
	if c.flow == flowClient {
		return s.clientCredentialsToken(ctx, c, refused)
	}
	data, err := s.Store.Token(ctx, c.connection.ID, userID)
	if err != nil {
		return token{}, err
	}
	if t, ok := readToken(data, c.fingerprint()); !ok {
		return token{}, errSignIn
	} else if t.Access != refused && t.fresh(s.Clock.Now()) {
		return t, nil
	}
	var t token
	for range 2 { // a shared request may have considered the refused token valid
		t, err = s.shareRequest(ctx, c.connection.ID+" "+userID, func(ctx context.Context) (token, error) {
			return s.renew(ctx, c, userID, refused)
		})
		if err != nil || t.Access != refused {
			break
		}
	}
	return t, err
}

// shareRequest makes concurrent requests with the same key once. The request has its own
// context: it continues if a caller is cancelled, and has no values of a node's requests.
func (s *Service) shareRequest(ctx context.Context, key string, request func(context.Context) (token, error)) (token, error) {
	flight := s.flights.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.Background(), 2*askTimeout)
		defer cancel()
		return request(ctx)
	})
	select {
	case <-ctx.Done():
		return token{}, ctx.Err()
	case result := <-flight:
		t, _ := result.Val.(token)
		return t, result.Err
	}
}

// renew refreshes a user's token, unless it has just been refreshed.
func (s *Service) renew(ctx context.Context, c *oauthClient, userID, refused string) (token, error) {
	for range 3 {
		before, err := s.Store.Token(ctx, c.connection.ID, userID)
		if err != nil {
			return token{}, err
		}
		old, ok := readToken(before, c.fingerprint())
		switch now := s.Clock.Now(); {
		case !ok:
			return token{}, errSignIn
		case old.Access != refused && old.fresh(now):
			return old, nil
		case old.Refresh == "" && old.Access != refused && old.alive(now):
			return old, nil // valid until it expires: it cannot be refreshed
		case old.Refresh == "":
			return token{}, s.forget(ctx, c, userID, before)
		}
		next, err := s.refresh(ctx, c, old.Refresh)
		switch {
		case errors.Is(err, errInvalidGrant):
			if err = s.forget(ctx, c, userID, before); errors.Is(err, errChanged) {
				continue
			}
			return token{}, err
		case err != nil && old.Access != refused && old.alive(s.Clock.Now()):
			return old, nil // the service is unavailable: use the token until it expires
		case err != nil:
			return token{}, err
		}
		// Stored before it is used: the service may have withdrawn the old one.
		err = s.Store.SaveToken(ctx, c.connection.ID, userID, next.bytes(), before)
		if blueprint.CodeOf(err) == blueprint.CodeConflict {
			continue
		}
		if err != nil {
			return token{}, err
		}
		return next, nil
	}
	return token{}, &blueprint.Failure{Code: codeToken, Message: "the sign-in kept changing while its token was refreshed", NotSent: true}
}

// errChanged means that the token to delete has been replaced.
var errChanged = errors.New("the token has changed")

// forget deletes an invalid token and returns errSignIn, or errChanged if it is replaced.
func (s *Service) forget(ctx context.Context, c *oauthClient, userID string, useless []byte) error {
	now, err := s.Store.Token(ctx, c.connection.ID, userID)
	if err != nil {
		return err
	}
	if now != nil && !bytes.Equal(now, useless) {
		return errChanged
	}
	if err := s.Store.DeleteToken(ctx, c.connection.ID, userID); err != nil {
		return err
	}
	return errSignIn
}

func (s *Service) clientCredentialsToken(ctx context.Context, c *oauthClient, refused string) (token, error) {
	// The secret is part of the key, which stays in memory: a changed secret is another client.
	key := c.connection.ID + " " + c.fingerprint() + " " + string(hashOf(c.secret))
	good := func() (token, bool) {
		t, ok := cacheGet(s, s.tokens, key)
		return t, ok && t.Access != refused && t.fresh(s.Clock.Now())
	}
	if t, ok := good(); ok {
		return t, nil
	}
	return s.shareRequest(ctx, key, func(ctx context.Context) (token, error) {
		if t, ok := good(); ok {
			return t, nil
		}
		t, err := s.clientToken(ctx, c)
		if errors.Is(err, errInvalidGrant) {
			err = &blueprint.Failure{Code: codeToken, Message: c.token.Host + " did not issue a token (invalid_grant); check clientId and clientSecret", Permanent: true, NotSent: true}
		}
		if err == nil {
			cachePut(s, s.tokens, key, t)
		}
		return t, err
	})
}

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
