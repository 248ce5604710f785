package connections

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"blueprintd/blueprint"
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

// client returns the client of a sign-in, or nil if the user may no longer use it or it
// needs no sign-in.
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

// parameters returns the named query parameters, or false if the query is
// malformed or repeats one of them.
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
