package connections

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// style is how a client proves itself to a token address.
type style = oauth2.AuthStyle

// askTimeout bounds a request for a token, in real time.
const askTimeout = 30 * time.Second

// errInvalidGrant says that a code or a refresh token is not good any more.
var errInvalidGrant = errors.New("the grant is not good any more")

// errRedirected says that a token address sent us elsewhere.
var errRedirected = errors.New("redirected")

// exchange returns the token for a code.
func (s *Service) exchange(ctx context.Context, c *oauthClient, redirect, code, verifier string) (token, error) {
	return s.ask(ctx, c, func(ctx context.Context, how style) (*oauth2.Token, error) {
		return c.config(redirect, how).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	})
}

// refresh returns the next token for a refresh token, which stays when there is
// no other one in the answer.
func (s *Service) refresh(ctx context.Context, c *oauthClient, refreshToken string) (token, error) {
	return s.ask(ctx, c, func(ctx context.Context, how style) (*oauth2.Token, error) {
		return c.config("", how).TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken}).Token()
	})
}

// clientToken returns a token for the client itself.
func (s *Service) clientToken(ctx context.Context, c *oauthClient) (token, error) {
	return s.ask(ctx, c, func(ctx context.Context, how style) (*oauth2.Token, error) {
		config := clientcredentials.Config{ClientID: c.id, ClientSecret: c.secret, TokenURL: c.token.String(), Scopes: c.scopes, AuthStyle: how}
		return config.Token(ctx)
	})
}

// ask makes a request for a token: errInvalidGrant, or a *blueprint.Failure.
// Services differ in where they want the client's secret, and say so in
// different ways; a second try is made only while the first cannot have used
// anything up.
func (s *Service) ask(ctx context.Context, c *oauthClient, request func(context.Context, style) (*oauth2.Token, error)) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	ctx = context.WithValue(outbound.Unrecorded(ctx), oauth2.HTTPClient, &http.Client{
		Transport:     tokenTransport{s.HTTP},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	key := c.token.String() + " " + c.id
	styles := []style{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams}
	if known, ok := kept(s, s.styles, key); ok {
		styles = []style{known}
	}
	if c.secret == "" { // a public client has nothing but its name to tell
		styles = []style{oauth2.AuthStyleInParams}
	}
	for i, how := range styles {
		asked := s.Clock.Now()
		given, err := request(ctx, how)
		if err == nil {
			t, problem := newToken(given, asked, c.fingerprint())
			if problem != "" {
				return token{}, &blueprint.Failure{Code: codeToken, Message: c.token.Host + " gave " + problem, Permanent: true, NotSent: true}
			}
			if len(styles) > 1 {
				keep(s, s.styles, key, how)
			}
			return t, nil
		}
		if i+1 == len(styles) || !dislikesStyle(err) {
			return token{}, s.askFailure(err, c)
		}
	}
	panic("connections: no way to ask for a token was tried")
}

// dislikesStyle reports whether an answer may be about how the client proved
// itself.
func dislikesStyle(err error) bool {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.Response.StatusCode >= 500 || refused.Response.StatusCode == http.StatusTooManyRequests {
		return false
	}
	return !slices.Contains([]string{"invalid_grant", "invalid_scope", "invalid_target", "access_denied", "unsupported_grant_type"}, refused.ErrorCode)
}

// standardErrors are what a token address may say (RFC 6749 5.2, RFC 8707), with
// what that means. Any other text might repeat what was sent.
var standardErrors = map[string]string{
	"invalid_client":         "check clientId and clientSecret",
	"unauthorized_client":    "the client may not use this flow",
	"invalid_scope":          "check scopes",
	"invalid_request":        "the service wants the request in another form",
	"invalid_target":         "the service does not know what the token is for",
	"unsupported_grant_type": "the service does not offer this flow",
	"access_denied":          "the service does not allow it",
}

// askFailure says why no token came.
func (s *Service) askFailure(err error, c *oauthClient) error {
	host := c.token.Host
	var refused *oauth2.RetrieveError
	switch {
	case errors.Is(err, errRedirected):
		return &blueprint.Failure{Code: codeToken, Message: host + " redirected a request for a token, which is not followed; check tokenUrl", Permanent: true, NotSent: true}
	case !errors.As(err, &refused):
		var failure *blueprint.Failure
		if failure = unreachable(err, host); failure.Code == codeConnect && strings.HasPrefix(err.Error(), "oauth2: ") {
			failure = &blueprint.Failure{Code: codeToken, Message: host + " answered a request for a token with something else; check tokenUrl", NotSent: true}
		}
		return failure
	case refused.ErrorCode == "invalid_grant":
		return errInvalidGrant
	}
	status := refused.Response.StatusCode
	failure := &blueprint.Failure{Code: codeToken, Message: fmt.Sprintf("%s refused to give a token: it answered %d", host, status), NotSent: true}
	if meaning, known := standardErrors[refused.ErrorCode]; known {
		failure.Message = fmt.Sprintf("%s refused to give a token (%s): %s", host, refused.ErrorCode, meaning)
		failure.Permanent = status < 500
	}
	if seconds, err := strconv.ParseUint(refused.Response.Header.Get("Retry-After"), 10, 16); err == nil {
		failure.RetryAfter = min(time.Duration(seconds)*time.Second, time.Hour)
	}
	return failure
}

// tokenTransport sends a request for a token, and to nowhere else than where it
// was meant to go: its body holds secrets.
type tokenTransport struct{ client *outbound.Client }

// RoundTrip sends one request.
func (t tokenTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	alone := request.Clone(request.Context())
	alone.GetBody = nil // without it the body cannot be sent to a second address
	alone.Header.Set("Accept", "application/json")
	response, err := t.client.Do(alone)
	if err != nil {
		return nil, err
	}
	if elsewhere := response.Request != nil && response.Request.Response != nil; elsewhere || response.StatusCode >= 300 && response.StatusCode < 400 {
		response.Body.Close()
		return nil, errRedirected
	}
	return response, nil
}
