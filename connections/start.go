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

// way is what the way back needs to know: the secret of a sign-in.
type way struct {
	Verifier string `json:"verifier"`
	Redirect string `json:"redirect"`
	For      string `json:"for"`              // the fingerprint of the client
	Cookie   []byte `json:"cookie,omitempty"` // the hash of the browser's; none for programs
}

// Start answers GET /oauth/start, where whoever has to sign in is sent.
func (s *Service) Start(w http.ResponseWriter, r *http.Request) {
	defer s.Clock.Hold()()
	next, shown, err := s.start(w, r)
	switch {
	case err != nil:
		s.broken(r.Context(), "a sign-in could not begin", err).write(w)
	case shown != nil:
		shown.write(w)
	default:
		private(w.Header())
		w.Header().Set("Location", next)
		w.WriteHeader(http.StatusSeeOther)
	}
}

// start returns the address of the service to go on to, or a page to show.
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
	case err == nil: // somebody did already: only the run has not noticed
		if err := s.goOn(ctx, signIn.ConnectionID, signIn.UserID); err != nil {
			return "", nil, err
		}
		return "", &page{status: http.StatusOK, title: "You are signed in", lines: []string{"There is nothing left to do: what waited for it goes on. You may close this page."}}, nil
	case !errors.Is(err, errSignIn):
		return "", nil, err
	}
	var bound []byte
	if isBrowser(r) {
		cookie, ok := s.confirmed(r, query["ticket"], query["go"])
		if !ok {
			shown, err = s.invitation(w, r, c, signIn, query["ticket"])
			return "", shown, err
		}
		bound = hashOf(cookie)
	}
	next, shown, err = s.leave(ctx, c, signIn, bound)
	return next, shown, err
}

// client returns the client of a sign-in; nil when the user may not use it any
// more, or it needs nobody to sign in.
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

// leave begins the sign-in proper and gives the service's address for it.
func (s *Service) leave(ctx context.Context, c *oauthClient, signIn *blueprint.SignIn, bound []byte) (string, *page, error) {
	state := s.random()
	way := way{Verifier: s.random(), Redirect: s.APIHost() + callbackPath, For: c.fingerprint(), Cookie: bound}
	secret, err := json.Marshal(way)
	if err != nil {
		return "", nil, err
	}
	err = s.Store.BeginSignIn(ctx, blueprint.SignIn{
		StateHash: hashOf(statePlace + state), ConnectionID: signIn.ConnectionID, UserID: signIn.UserID, Secret: secret,
		ExecutionID: signIn.ExecutionID, Address: signIn.Address, Versions: signIn.Versions, ExpiresAt: blueprint.TimeOf(s.Clock.Now().Add(stateLife)),
	})
	if blueprint.CodeOf(err) == blueprint.CodeTooManyRequests {
		return "", &page{status: http.StatusTooManyRequests, title: "Too many sign-ins at once", lines: []string{"Many were begun and not finished. Try again in ten minutes."}}, nil
	}
	if err != nil {
		return "", nil, err
	}
	next := c.config(way.Redirect, oauth2.AuthStyleInParams).AuthCodeURL(state, oauth2.S256ChallengeOption(way.Verifier))
	if s.Instead != nil {
		next = s.Instead(next)
	}
	return next, nil, nil
}

// broken logs what went wrong, unless the fault lies with the service that was
// asked, and gives the page that says so.
func (s *Service) broken(ctx context.Context, what string, err error) page {
	var failure *blueprint.Failure
	switch {
	case errors.As(err, &failure):
		return page{status: http.StatusBadGateway, title: "The service did not do its part", lines: []string{"The sign-in could not be finished: " + failure.Message + ".", once}}
	case ctx.Err() == nil:
		s.Logger.Error(what, "error", err)
	}
	return pageBroken
}

// parameters reads the query: known names, each at most once. False when it is
// not well formed.
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

// isBrowser reports whether a person may sit before the client. Every browser
// calls itself Mozilla, and no page that it shows can make it say otherwise to
// another site.
func isBrowser(r *http.Request) bool {
	return strings.Contains(r.UserAgent(), "Mozilla/") || strings.Contains(r.Header.Get("Accept"), "text/html")
}
