package connections

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"blueprintd/blueprint"
)

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
	if !ok || r.Method != http.MethodGet || query["state"] == "" || len(query["state"]) > 100 {
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
		if readErr != nil && blueprint.CodeOf(readErr) != blueprint.CodeNotFound {
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
