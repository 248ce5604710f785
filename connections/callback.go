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

// mostCode is how long a code may be.
const mostCode = 8 << 10

// Callback answers GET /oauth/callback, where the service sends a person back.
func (s *Service) Callback(w http.ResponseWriter, r *http.Request) {
	defer s.Clock.Hold()()
	shown, err := s.callback(r)
	if err != nil {
		shown = s.broken(r.Context(), "a sign-in could not be finished", err)
	}
	shown.write(w)
}

func (s *Service) callback(r *http.Request) (page, error) {
	query, ok := parameters(r, "state", "code", "error", "iss")
	if !ok || r.Method != http.MethodGet || query["state"] == "" || len(query["state"]) > 100 {
		return pageNoState, nil
	}
	// From here on nothing may be lost when the browser goes away: the code is
	// good for one time.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), 2*askTimeout)
	defer cancel()
	signIn, err := s.Store.TakeSignIn(ctx, hashOf(statePlace+query["state"]))
	if blueprint.CodeOf(err) == blueprint.CodeNotFound {
		return pageNoState, nil
	}
	if err != nil {
		return page{}, err
	}
	var way way
	if err := json.Unmarshal(signIn.Secret, &way); err != nil {
		return page{}, err
	}
	if !s.Clock.Now().Before(signIn.ExpiresAt.Time()) {
		return pageNoState, nil
	}
	if !s.sameBrowser(r, way.Cookie) {
		return pageOtherBrowser, nil
	}
	c, err := s.client(ctx, &signIn)
	if err != nil {
		return page{}, err
	}
	switch {
	case c == nil || c.fingerprint() != way.For:
		return pageChanged, nil
	case query["iss"] != "" && !c.issuedBy(query["iss"]):
		return pageIssuer, nil
	case query["error"] == "access_denied":
		return pageDenied, nil
	case query["error"] != "" || query["code"] == "" || len(query["code"]) > mostCode:
		return refusedPage(query["error"]), nil
	}
	return s.finish(ctx, c, &signIn, way, query["code"])
}

// finish exchanges the code, stores the token and lets the runs go on.
func (s *Service) finish(ctx context.Context, c *oauthClient, signIn *blueprint.SignIn, way way, code string) (page, error) {
	t, err := s.exchange(ctx, c, way.Redirect, code, way.Verifier)
	if errors.Is(err, errInvalidGrant) {
		err = &blueprint.Failure{Code: codeToken, Message: c.token.Host + " did not take the code that it gave", NotSent: true}
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
			break // else it was renewed meanwhile; what a person just allowed is newer
		}
	}
	if err == nil {
		err = s.Store.GrantVersions(blueprint.WithActor(ctx, &blueprint.Actor{UserID: signIn.UserID, Via: blueprint.ViaDashboard, Action: "blueprint.grant"}), signIn.UserID, signIn.Versions)
	}
	if err != nil {
		return page{}, err
	}
	if err := s.goOn(ctx, signIn.ConnectionID, signIn.UserID); err != nil {
		return page{status: http.StatusOK, title: "You are signed in", lines: []string{
			"But a run that waits for it could not go on. Visit its address once more."}}, nil
	}
	return page{status: http.StatusOK, title: "You are signed in", lines: []string{
		"The connection \"" + c.connection.Name + "\" can use " + c.authorization.Host + " in your name now, and what waited for it goes on. You may close this page.",
		"If you did not mean to allow this, take it back in your account at " + c.authorization.Host + "."}}, nil
}

// sameBrowser reports whether a sign-in comes back where it left: in the browser
// with the cookie, or in a program, of which a person in a browser is never part.
func (s *Service) sameBrowser(r *http.Request, bound []byte) bool {
	if len(bound) == 0 {
		return !isBrowser(r)
	}
	return subtle.ConstantTimeCompare(hashOf(s.cookieOf(r)), bound) == 1
}

// issuedBy reports whether an issuer can be the service where people are sent
// (RFC 9207). The connection does not name its issuer, so the host must be one
// of its own.
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

// signInErrors are what a service may say (RFC 6749 4.1.2.1, OpenID Connect
// Core 3.1.2.6), with what that means. No other text of it is shown.
var signInErrors = map[string]string{
	"invalid_request":            "it wants the request in another form; check authorizationUrl",
	"unauthorized_client":        "the client may not use this flow",
	"unsupported_response_type":  "it does not offer this flow",
	"invalid_scope":              "it does not know what was asked for; check scopes",
	"server_error":               "something went wrong there",
	"temporarily_unavailable":    "it is busy; try again later",
	"login_required":             "it wants you to log in there first",
	"consent_required":           "it wants you to allow it",
	"interaction_required":       "it wants to show you something first",
	"account_selection_required": "it wants you to choose an account first",
}

// refusedPage says that the service sent no code.
func refusedPage(code string) page {
	meaning, known := signInErrors[code]
	if !known {
		meaning = "it gave no reason that is known here"
	}
	return page{status: http.StatusBadGateway, title: "The service did not sign you in", lines: []string{
		"It sent you back without a permission: " + meaning + ". What needs it keeps waiting.", once}}
}
