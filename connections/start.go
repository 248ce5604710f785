package connections

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"blueprintd/blueprint"
	"blueprintd/foundation/form"
)

const (
	startPath    = "/oauth/start"
	callbackPath = "/oauth/callback"
)

// flowState is the secret state of a sign-in that the callback needs.
type flowState struct {
	Verifier string `json:"verifier"`
	Redirect string `json:"redirect"`
	For      string `json:"for"`              // the client's fingerprint
	Cookie   []byte `json:"cookie,omitempty"` // hash of the browser's cookie; nil for programs
}

// Start serves GET /oauth/start, which begins a sign-in.
func (s *Service) Start(w http.ResponseWriter, r *http.Request) {
	defer s.Clock.Hold()()
	next, shown, err := s.start(w, r)
	switch {
	case err != nil:
		s.failurePage(r.Context(), "start", err).write(w)
	case shown != nil:
		shown.write(w)
	default:
		setPrivacyHeaders(w.Header())
		w.Header().Set("Location", next)
		w.WriteHeader(http.StatusSeeOther)
	}
}

// start returns the authorization URL to redirect to, or a page to show.
func (s *Service) start(w http.ResponseWriter, r *http.Request) (next string, shown *page, err error) {
	ctx := r.Context()
	query, ok := parameters(r, "ticket", "go")
	if !ok || r.Method != http.MethodGet {
		return "", &pageNoTicket, nil
	}
	signIn, err := s.byTicket(ctx, query["ticket"])
	if err != nil || signIn == nil {
		return "", &pageNoTicket, err
	}
	c, err := s.client(ctx, signIn)
	if err != nil || c == nil {
		return "", &pageChanged, err
	}
	switch _, err := s.current(ctx, c, signIn.UserID, ""); {
	case err == nil: // already signed in; only the run has not been resumed
		if err := s.resumeWaiting(ctx, signIn.ConnectionID, signIn.UserID); err != nil {
			return "", nil, err
		}
		return "", &page{status: http.StatusOK, title: "You are signed in", lines: []string{"Waiting runs continue. You can close this page."}}, nil
	case !errors.Is(err, errSignIn):
		return "", nil, err
	}
	var bound []byte
	if isBrowser(r) {
		cookie, ok := s.confirmed(r, query["ticket"], query["go"])
		if !ok {
			shown, err = s.consentPage(w, r, c, signIn, query["ticket"])
			return "", shown, err
		}
		bound = hashOf(cookie)
	}
	next, shown, err = s.begin(ctx, c, signIn, bound)
	return next, shown, err
}

// client returns the client of a sign-in; nil if it needs none or the user may not use it.
func (s *Service) client(ctx context.Context, signIn *blueprint.SignIn) (*oauthClient, error) {
	connection, err := s.connection(ctx, blueprint.Authority{PrincipalID: signIn.UserID}, signIn.ConnectionID)
	if err != nil {
		if blueprint.CodeOf(err) == blueprint.CodeNotFound {
			err = nil
		}
		return nil, err
	}
	if connection.Type != blueprint.ConnectionOAuth2 {
		return nil, nil
	}
	c, err := newOAuthClient(connection)
	if err != nil || c.flow != flowCode {
		return nil, nil
	}
	return c, nil
}

// begin stores the state of the sign-in and returns the authorization URL.
func (s *Service) begin(ctx context.Context, c *oauthClient, signIn *blueprint.SignIn, bound []byte) (string, *page, error) {
	state := s.random()
	flow := flowState{Verifier: s.random(), Redirect: s.APIHost() + callbackPath, For: c.fingerprint(), Cookie: bound}
	secret, err := json.Marshal(flow)
	if err != nil {
		return "", nil, err
	}
	err = s.Store.BeginSignIn(ctx, blueprint.SignIn{
		StateHash: hashOf(statePlace + state), ConnectionID: signIn.ConnectionID, UserID: signIn.UserID, Secret: secret,
		ExecutionID: signIn.ExecutionID, Address: signIn.Address, Versions: signIn.Versions, ExpiresAt: blueprint.TimeOf(s.Clock.Now().Add(stateLife)),
	})
	if blueprint.CodeOf(err) == blueprint.CodeTooManyRequests {
		return "", &page{status: http.StatusTooManyRequests, title: "Too many unfinished sign-ins", lines: []string{"Finish one of them, or try again in ten minutes."}}, nil
	}
	if err != nil {
		return "", nil, err
	}
	next := c.config(flow.Redirect, oauth2.AuthStyleInParams).AuthCodeURL(state, oauth2.S256ChallengeOption(flow.Verifier))
	if s.RewriteURL != nil {
		next = s.RewriteURL(next)
	}
	return next, nil, nil
}

// failurePage returns the page for a failed sign-in. It logs err unless the service is at
// fault or the client has gone.
func (s *Service) failurePage(ctx context.Context, step string, err error) page {
	var failure *blueprint.Failure
	switch {
	case errors.As(err, &failure):
		return page{status: http.StatusBadGateway, title: "Sign-in failed at the service", lines: []string{"The sign-in did not complete: " + failure.Message + ".", once}}
	case ctx.Err() == nil:
		s.Logger.Error("sign-in failed", "step", step, "error", err)
	}
	return pageBroken
}

// parameters returns the named query parameters; false if malformed or repeated.
func parameters(r *http.Request, names ...string) (map[string]string, bool) {
	const longest = 16 << 10
	if len(r.URL.RawQuery) > longest {
		return nil, false
	}
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, false
	}
	out := map[string]string{}
	for _, name := range names {
		if len(values[name]) > 1 {
			return nil, false
		}
		out[name] = values.Get(name)
	}
	return out, true
}

// isBrowser reports whether the client may be a browser. Every browser sends Mozilla in
// User-Agent, and a page cannot change that header in requests to another site.
func isBrowser(r *http.Request) bool {
	return strings.Contains(r.UserAgent(), "Mozilla/") || strings.Contains(r.Header.Get("Accept"), "text/html")
}

// maxCode limits the length of an authorization code, in bytes.
const maxCode = 8 << 10

// Callback serves GET /oauth/callback, the redirect URI of sign-ins.
func (s *Service) Callback(w http.ResponseWriter, r *http.Request) {
	defer s.Clock.Hold()()
	shown, err := s.callback(r)
	if err != nil {
		shown = s.failurePage(r.Context(), "callback", err)
	}
	shown.write(w)
}

func (s *Service) callback(r *http.Request) (page, error) {
	query, ok := parameters(r, "state", "code", "error", "iss")
	if !ok || r.Method != http.MethodGet || len(query["state"]) != randomSize {
		return pageNoState, nil
	}
	// The code can be used only once, so continue even if the browser disconnects.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 2*askTimeout)
	defer cancel()
	signIn, err := s.Store.TakeSignIn(ctx, hashOf(statePlace+query["state"]))
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		return pageNoState, nil
	}
	if err != nil {
		return page{}, err
	}
	var flow flowState
	if err := json.Unmarshal(signIn.Secret, &flow); err != nil {
		return page{}, err
	}
	if !s.Clock.Now().Before(signIn.ExpiresAt.Time()) {
		return pageNoState, nil
	}
	if !s.sameBrowser(r, flow.Cookie) {
		return pageOtherBrowser, nil
	}
	c, err := s.client(ctx, &signIn)
	if err != nil {
		return page{}, err
	}
	switch {
	case c == nil || c.fingerprint() != flow.For:
		return pageChanged, nil
	case query["iss"] != "" && !c.issuedBy(query["iss"]):
		return pageIssuer, nil
	case query["error"] == "access_denied":
		return pageDenied, nil
	case query["error"] != "" || query["code"] == "" || len(query["code"]) > maxCode:
		return refusedPage(query["error"]), nil
	}
	return s.finish(ctx, c, &signIn, flow, query["code"])
}

// finish exchanges the code, stores the token and resumes the waiting runs.
func (s *Service) finish(ctx context.Context, c *oauthClient, signIn *blueprint.SignIn, flow flowState, code string) (page, error) {
	t, err := s.exchange(ctx, c, flow.Redirect, code, flow.Verifier)
	if errors.Is(err, errInvalidGrant) {
		err = &blueprint.Failure{Code: codeToken, Message: c.token.Host + " rejected its own authorization code", NotSent: true}
	}
	if err != nil {
		return page{}, err
	}
	person := blueprint.WithActor(ctx, &blueprint.Actor{UserID: signIn.UserID, Via: blueprint.ViaDashboard, Action: "connection.signedIn"})
	for range 5 {
		before, readErr := s.Store.Token(ctx, c.connection.ID, signIn.UserID)
		if readErr != nil {
			return page{}, readErr
		}
		if err = s.Store.SaveToken(person, c.connection.ID, signIn.UserID, t.bytes(), before); blueprint.CodeOf(err) != blueprint.CodeConflict {
			break // on a conflict the token was refreshed meanwhile; the new grant replaces it
		}
	}
	if err == nil {
		err = s.Store.GrantVersions(blueprint.WithActor(ctx, &blueprint.Actor{UserID: signIn.UserID, Via: blueprint.ViaDashboard, Action: "blueprint.grant"}), signIn.UserID, signIn.Versions)
	}
	if err != nil {
		return page{}, err
	}
	if err := s.resumeWaiting(ctx, signIn.ConnectionID, signIn.UserID); err != nil {
		return page{status: http.StatusOK, title: "You are signed in", lines: []string{
			"A waiting run could not be resumed. Open its sign-in link again."}}, nil
	}
	return page{status: http.StatusOK, title: "You are signed in", lines: []string{
		"The connection \"" + c.connection.Name + "\" can use " + c.authorization.Host + " on your behalf. Waiting runs continue. You can close this page.",
		"To withdraw this permission, revoke it in your account at " + c.authorization.Host + "."}}, nil
}

// sameBrowser reports whether the callback comes from the client that began the sign-in:
// the browser with the cookie, or a client that is not a browser if it began without one.
func (s *Service) sameBrowser(r *http.Request, bound []byte) bool {
	if len(bound) == 0 {
		return !isBrowser(r)
	}
	return subtle.ConstantTimeCompare(hashOf(s.cookieOf(r)), bound) == 1
}

// issuedBy reports whether issuer can be the authorization server (RFC 9207). A connection
// does not name its issuer, so scheme and host must be those of one of its URLs.
func (c *oauthClient) issuedBy(issuer string) bool {
	u, err := url.Parse(issuer)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return false
	}
	for _, own := range []*url.URL{c.authorization, c.token} {
		if u.Scheme == own.Scheme && strings.EqualFold(hostPort(u), hostPort(own)) {
			return true
		}
	}
	return false
}

// signInErrors explains the error codes of authorization responses (RFC 6749 4.1.2.1,
// OpenID Connect Core 3.1.2.6). No other text of the service is shown.
var signInErrors = map[string]string{
	"invalid_request":            "it rejected the request; check authorizationUrl",
	"unauthorized_client":        "the client is not allowed to use this flow",
	"unsupported_response_type":  "it does not support this flow",
	"invalid_scope":              "a scope is unknown; check scopes",
	"server_error":               "it had an internal error",
	"temporarily_unavailable":    "it is busy; try again later",
	"login_required":             "log in there first",
	"consent_required":           "your consent is required",
	"interaction_required":       "it requires an action on its site first",
	"account_selection_required": "choose an account there first",
}

// refusedPage returns the page for an authorization response without a code.
func refusedPage(code string) page {
	meaning, known := signInErrors[code]
	if !known {
		meaning = "it returned no known reason"
	}
	return page{status: http.StatusBadGateway, title: "The service did not sign you in", lines: []string{
		"It did not grant access: " + meaning + ". Waiting runs keep waiting.", once}}
}

// page is a page of the sign-in. Its fields are plain text.
type page struct {
	status int
	title  string
	lines  []string
	// link and label define the button; there is none if link is empty.
	link, label string
}

func (p page) write(w http.ResponseWriter) {
	shown := form.Page{Title: p.title, Description: p.lines, Link: form.Link{URL: p.link, Label: p.label}}
	shown.Write(w, p.status)
}

// setPrivacyHeaders prevents caching and keeps the URL out of the Referer of later requests.
func setPrivacyHeaders(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
}

// once explains how to try again, for sign-ins from the dashboard and from runs.
const once = "To sign in, start again from the link of the run or from the page of the connection."

// Pages for sign-ins that did not complete.
var (
	pageNoTicket = page{status: http.StatusBadRequest, title: "Invalid or expired link", lines: []string{
		"It was already used, has expired or is incomplete. Nothing was changed.", once + " Resuming a run creates a new link."}}
	pageNoState = page{status: http.StatusBadRequest, title: "Unknown sign-in", lines: []string{
		"It was already completed, took longer than ten minutes or was not started here. Nothing was changed.", once}}
	pageOtherBrowser = page{status: http.StatusBadRequest, title: "This sign-in was started elsewhere", lines: []string{
		"It was started in another browser, or this browser blocks cookies. Nothing was changed.",
		"If another person sent you this link, do not try again. " + once}}
	pageChanged = page{status: http.StatusConflict, title: "The connection has changed", lines: []string{
		"While you signed in, it was changed or deleted, or you lost access to it. Nothing was stored.", once}}
	pageDenied = page{status: http.StatusOK, title: "Access denied", lines: []string{
		"You did not grant access at the service. Waiting runs keep waiting.", once}}
	pageIssuer = page{status: http.StatusBadRequest, title: "Response from another service", lines: []string{
		"The issuer of the response is not the service where the sign-in started. Nothing was stored."}}
	pageBroken = page{status: http.StatusInternalServerError, title: "Internal error", lines: []string{
		"The sign-in did not complete.", once}}
)

// SignIn returns the URL where a user signs in for a connection without a waiting run.
// CodeNotFound if the user may not use the connection, CodeBadRequest if none is needed.
func (s *Service) SignIn(ctx context.Context, userID, id string) (url string, err error) {
	connection, err := s.connection(ctx, blueprint.Authority{PrincipalID: userID}, id)
	if err != nil {
		return "", err
	}
	if connection.Type != blueprint.ConnectionOAuth2 || connection.Config["flow"] != flowCode {
		return "", &blueprint.Error{
			Code: blueprint.CodeBadRequest, Message: "this connection needs no sign-in",
			Hint: blueprint.SeeDocs("only oauth2 connections with the flow authorization_code need a sign-in", "connections-and-sign-in"),
		}
	}
	c, err := newOAuthClient(connection)
	if err != nil {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, "%s", err)
	}
	url, _, err = s.ticket(ctx, c, blueprint.ConnectionUse{ConnectionID: id, UserID: userID})
	return url, err
}
