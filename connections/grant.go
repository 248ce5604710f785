package connections

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
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

// renew refreshes a user's token, unless it has just been refreshed. Only one process does
// at a time, because a service may withdraw all tokens of a grant if a refresh token is used
// twice.
func (s *Service) renew(ctx context.Context, c *oauthClient, userID, refused string) (token, error) {
	release, err := s.Store.Claim(ctx, "token "+c.connection.ID+" "+userID)
	if err != nil && ctx.Err() != nil {
		return token{}, &blueprint.Failure{Code: codeTimeout, Message: "another process did not finish refreshing the token in time", NotSent: true}
	}
	if err != nil {
		return token{}, err
	}
	defer release()
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

// style is how a client authenticates to a token endpoint.
type style = oauth2.AuthStyle

// askTimeout bounds a request for a token, in real time.
const askTimeout = 30 * time.Second

// errInvalidGrant is returned for a code or refresh token that is no longer valid.
var errInvalidGrant = errors.New("the grant is no longer valid")

// errRedirected is returned if a token endpoint redirects.
var errRedirected = errors.New("redirected")

// exchange returns the token for an authorization code.
func (s *Service) exchange(ctx context.Context, c *oauthClient, redirect, code, verifier string) (token, error) {
	return s.ask(ctx, c, func(ctx context.Context, how style) (*oauth2.Token, error) {
		return c.config(redirect, how).Exchange(ctx, code, oauth2.VerifierOption(verifier))
	})
}

// refresh returns the next token for a refresh token, which may stay the same.
func (s *Service) refresh(ctx context.Context, c *oauthClient, refreshToken string) (token, error) {
	return s.ask(ctx, c, func(ctx context.Context, how style) (*oauth2.Token, error) {
		return c.config("", how).TokenSource(ctx, &oauth2.Token{RefreshToken: refreshToken}).Token()
	})
}

// clientToken returns a token of the client credentials flow.
func (s *Service) clientToken(ctx context.Context, c *oauthClient) (token, error) {
	return s.ask(ctx, c, func(ctx context.Context, how style) (*oauth2.Token, error) {
		config := clientcredentials.Config{ClientID: c.id, ClientSecret: c.secret, TokenURL: c.token.String(), Scopes: c.scopes, AuthStyle: how}
		return config.Token(ctx)
	})
}

// ask requests a token. The error is errInvalidGrant or a *blueprint.Failure. Services
// differ in where they expect the client secret and in how they reject the other style; a
// second style is tried only if the first request cannot have consumed the grant.
func (s *Service) ask(ctx context.Context, c *oauthClient, request func(context.Context, style) (*oauth2.Token, error)) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	ctx = context.WithValue(outbound.Unrecorded(ctx), oauth2.HTTPClient, &http.Client{
		Transport:     tokenTransport{s.HTTP},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	key := c.token.String() + " " + c.id
	styles := []style{oauth2.AuthStyleInHeader, oauth2.AuthStyleInParams}
	if known, ok := cacheGet(s, s.styles, key); ok {
		styles = []style{known}
	}
	if c.secret == "" { // a public client sends only its id
		styles = []style{oauth2.AuthStyleInParams}
	}
	for i, how := range styles {
		asked := s.Clock.Now()
		given, err := request(ctx, how)
		if err == nil {
			t, problem := newToken(given, asked, c.fingerprint())
			if problem != "" {
				return token{}, &blueprint.Failure{Code: codeToken, Message: c.token.Host + " returned " + problem, Permanent: true, NotSent: true}
			}
			if len(styles) > 1 {
				cachePut(s, s.styles, key, how)
			}
			return t, nil
		}
		if i+1 == len(styles) || !isStyleError(err) {
			return token{}, s.askFailure(err, c)
		}
	}
	panic("connections: no client authentication style was tried")
}

// isStyleError reports whether the error may be about the client authentication style.
func isStyleError(err error) bool {
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) || refused.Response.StatusCode >= 500 || refused.Response.StatusCode == http.StatusTooManyRequests {
		return false
	}
	return !slices.Contains([]string{"invalid_grant", "invalid_scope", "invalid_target", "access_denied", "unsupported_grant_type"}, refused.ErrorCode)
}

// standardErrors explains the error codes of token endpoints (RFC 6749 5.2, RFC 8707).
// Other texts are not shown, because they might repeat what was sent.
var standardErrors = map[string]string{
	"invalid_client":         "check clientId and clientSecret",
	"unauthorized_client":    "the client is not allowed to use this flow",
	"invalid_scope":          "check scopes",
	"invalid_request":        "the service rejected the form of the request",
	"invalid_target":         "the service does not know the target of the token",
	"unsupported_grant_type": "the service does not support this flow",
	"access_denied":          "the service does not allow it",
}

// askFailure converts the error of a token request.
func (s *Service) askFailure(err error, c *oauthClient) error {
	host := c.token.Host
	var refused *oauth2.RetrieveError
	switch {
	case errors.Is(err, errRedirected):
		return &blueprint.Failure{Code: codeToken, Message: host + " redirected a token request, which is not followed; check tokenUrl", Permanent: true, NotSent: true}
	case !errors.As(err, &refused):
		var failure *blueprint.Failure
		if failure = unreachable(err, host); failure.Code == codeConnect && strings.HasPrefix(err.Error(), "oauth2: ") {
			failure = &blueprint.Failure{Code: codeToken, Message: host + " did not answer a token request with a token; check tokenUrl", NotSent: true}
		}
		return failure
	case refused.ErrorCode == "invalid_grant":
		return errInvalidGrant
	}
	status := refused.Response.StatusCode
	failure := &blueprint.Failure{Code: codeToken, Message: fmt.Sprintf("%s refused a token request: status %d", host, status), NotSent: true}
	if meaning, known := standardErrors[refused.ErrorCode]; known {
		failure.Message = fmt.Sprintf("%s refused a token request (%s): %s", host, refused.ErrorCode, meaning)
		failure.Permanent = status < 500
	}
	if seconds, err := strconv.ParseUint(refused.Response.Header.Get("Retry-After"), 10, 16); err == nil {
		failure.RetryAfter = min(time.Duration(seconds)*time.Second, time.Hour)
	}
	return failure
}

// tokenTransport sends token requests without redirects: the body holds secrets.
type tokenTransport struct{ client *outbound.Client }

func (t tokenTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	alone := request.Clone(request.Context())
	alone.GetBody = nil // prevents sending the body again
	alone.Header.Set("Accept", "application/json")
	response, err := t.client.Do(alone)
	if err != nil {
		return nil, err
	}
	followed := response.Request.Response != nil
	if followed || response.StatusCode >= 300 && response.StatusCode < 400 {
		response.Body.Close()
		return nil, errRedirected
	}
	return response, nil
}

// The flows of an oauth2 connection.
const (
	flowCode   = "authorization_code"
	flowClient = "client_credentials"
)

// oauthClient is the parsed config of an oauth2 connection.
type oauthClient struct {
	connection    *blueprint.Connection
	flow          string
	authorization *url.URL // nil for client credentials
	token         *url.URL
	id, secret    string
	scopes        []string
}

// newOAuthClient reads a config, which was checked when it was stored.
func newOAuthClient(connection *blueprint.Connection) (*oauthClient, error) {
	config := connection.Config
	c := &oauthClient{
		connection: connection, flow: textAt(config, "flow"), authorization: address(textAt(config, "authorizationUrl")), token: address(textAt(config, "tokenUrl")),
		id: textAt(config, "clientId"), secret: textAt(config, "clientSecret"), scopes: blueprint.TextsOf(config["scopes"]),
	}
	switch {
	case c.token == nil || !isSafe(c.token):
		return nil, unusable("the %s has no secure tokenUrl", connection.Text())
	case c.flow == flowCode && (c.authorization == nil || !isSafe(c.authorization)):
		return nil, unusable("the %s has no secure authorizationUrl", connection.Text())
	case c.flow != flowCode && c.flow != flowClient:
		return nil, unusable("the %s has an unknown flow", connection.Text())
	}
	return c, nil
}

// oauthReach returns the hosts to which the tokens of an oauth2 connection may be sent
// through another connection, unless that one decides. By default these are the hosts of the
// sign-in, because services often have their API there.
func oauthReach(connection *blueprint.Connection) reach {
	return reach{of: connection, hosts: blueprint.OAuthHosts(connection.Config)}
}

// directReach returns the hosts to which requests that name an oauth2 connection may send its
// tokens. Without hosts in its config, that is the host of the request: its author may use the
// connection, or the principal has granted the version. A token that all members of an
// organization share is limited to the hosts of the sign-in, so that no member can send it
// elsewhere.
func directReach(connection *blueprint.Connection) reach {
	r := oauthReach(connection)
	shared := connection.OrganizationID != nil && textAt(connection.Config, "flow") == flowClient
	r.any = blueprint.OAuthAnyHost(connection.Config) && !shared
	return r
}

// fingerprint returns a hash of the client, addresses, scopes and hosts, to which the user
// consented.
func (c *oauthClient) fingerprint() string {
	hosts, scopes := slices.Clone(blueprint.TextsOf(c.connection.Config["hosts"])), slices.Clone(c.scopes)
	slices.Sort(hosts)
	slices.Sort(scopes)
	parts := []string{c.flow, textAt(c.connection.Config, "authorizationUrl"), textAt(c.connection.Config, "tokenUrl"), c.id, strings.Join(hosts, " "), strings.Join(scopes, " ")}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func (c *oauthClient) config(redirect string, how oauth2.AuthStyle) *oauth2.Config {
	config := &oauth2.Config{
		ClientID: c.id, ClientSecret: c.secret, RedirectURL: redirect, Scopes: c.scopes,
		Endpoint: oauth2.Endpoint{TokenURL: c.token.String(), AuthStyle: how},
	}
	if c.authorization != nil {
		config.Endpoint.AuthURL = c.authorization.String()
	}
	return config
}

// authorizer adds credentials to a request.
type authorizer func(ctx context.Context, request *http.Request) error

// reach is where a connection's credentials may go.
type reach struct {
	of    *blueprint.Connection
	hosts []string // as in a config
	any   bool     // besides hosts, the host of the first request, not those of redirects
	plain []string // hosts that may be reached over plain http
	open  bool     // there are no credentials: plain http is allowed everywhere
}

func reachOf(connection *blueprint.Connection, u *url.URL) reach {
	r := reach{of: connection, hosts: []string{hostPort(u)}}
	if u.Scheme == "http" {
		r.plain = r.hosts
	}
	return r
}

// check returns a *blueprint.Failure if the target may not receive the credentials.
func (r reach) check(request *http.Request) error {
	refused := func(format string, args ...any) error {
		return &blueprint.Failure{Code: codeHost, Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
	}
	target := hostPort(request.URL)
	switch {
	case !blueprint.HostsCover(r.hosts, target) && !(r.any && outbound.SameHost(firstURL(request), request.URL)), request.Host != "" && !strings.EqualFold(request.Host, request.URL.Host):
		return refused("the %s is not for %s", r.of.Text(), request.URL.Host)
	case request.URL.Scheme == "https", r.open, isLoopback(request.URL.Hostname()), blueprint.HostsCover(r.plain, target):
		return nil
	default:
		return refused("the credentials of the %s do not go to %s over plain http; use https", r.of.Text(), request.URL.Host)
	}
}

// firstURL returns the URL of the request that led to a request by redirects.
func firstURL(request *http.Request) *url.URL {
	for request.Response != nil && request.Response.Request != nil {
		request = request.Response.Request
	}
	return request.URL
}

// guarded restricts an authorizer to these hosts.
func (r reach) guarded(authorize authorizer) authorizer {
	return func(ctx context.Context, request *http.Request) error {
		if err := r.check(request); err != nil || authorize == nil {
			return err
		}
		return authorize(ctx, request)
	}
}

// withHeader sets a header, replacing all values of that name.
func withHeader(name, value string) authorizer {
	return func(_ context.Context, request *http.Request) error {
		request.Header.Set(name, value)
		return nil
	}
}

// withBasic sets the header of HTTP's basic authentication (RFC 7617).
func withBasic(username, password string) authorizer {
	return func(_ context.Context, request *http.Request) error {
		request.SetBasicAuth(username, password)
		return nil
	}
}

// withQuery sets a query parameter, replacing all values of that name.
// Other parameters keep their bytes and their order.
func withQuery(name, value string) authorizer {
	return func(_ context.Context, request *http.Request) error {
		var kept []string
		for part := range strings.SplitSeq(request.URL.RawQuery, "&") {
			key, _, _ := strings.Cut(part, "=")
			if plain, err := url.QueryUnescape(key); part != "" && (err != nil || plain != name) {
				kept = append(kept, part)
			}
		}
		request.URL.RawQuery = strings.Join(append(kept, url.QueryEscape(name)+"="+url.QueryEscape(value)), "&")
		return nil
	}
}
