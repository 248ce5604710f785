package connections

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
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
	// cookieName is that of the cookie that binds the way back to the browser.
	cookieName = "blueprintd_sign_in"
	// mostAway is how many times a user may be away at a service at once for one
	// connection.
	mostAway = 100
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

// start gives the address of the service to go on to, or a page to show.
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
		return "", &page{status: http.StatusOK, title: "You are signed in", lines: []string{"There is nothing left to do: the run goes on. You may close this page."}}, nil
	case !errors.Is(err, errSignIn):
		return "", nil, err
	}
	var bound []byte
	if isBrowser(r) {
		if cookie, ok := confirmed(r, query["ticket"], query["go"]); ok {
			bound = hashOf(cookie)
		} else {
			return "", s.invitation(w, r, c, query["ticket"]), nil
		}
	}
	next, shown, err = s.leave(ctx, c, signIn, bound)
	return next, shown, err
}

// client gives the client of a sign-in; nil when the user may not use it any
// more, or it needs nobody to sign in.
func (s *Service) client(ctx context.Context, signIn *blueprint.SignIn) (*oauthClient, error) {
	connection, err := s.connection(ctx, signIn.UserID, signIn.ConnectionID)
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

// invitation is the page that says what is about to be allowed. Its link works
// only with the cookie that comes with it, so nobody can send a person past it.
func (s *Service) invitation(w http.ResponseWriter, r *http.Request, c *oauthClient, ticket string) *page {
	cookie := cookieOf(r)
	if len(cookie) != len(proof("", "")) { // none yet, or none of ours; several pages of one browser share it
		cookie = s.random()
	}
	http.SetCookie(w, &http.Cookie{
		Name: cookieName, Value: cookie, Path: "/", MaxAge: int(stateLife.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: r.TLS != nil || strings.HasPrefix(s.APIHost(), "https://"),
	})
	lines := []string{
		"A run of yours needs to use " + c.authorization.Host + " in your name, by the connection \"" + c.connection.Name + "\".",
		"What it gets goes to " + strings.Join(oauthReach(c.connection).hosts, ", ") + ", and to the hosts of connections that whoever made this one, or you, set up to use it.",
	}
	if len(c.scopes) > 0 {
		lines = append(lines, "It asks for: "+strings.Join(c.scopes, ", ")+".")
	}
	lines = append(lines, "Go on only if you started this yourself. If somebody sent you this address, close the page.")
	return &page{
		status: http.StatusOK, title: "Sign in at " + c.authorization.Host, lines: lines,
		link: startPath + "?" + url.Values{"ticket": {ticket}, "go": {proof(cookie, ticket)}}.Encode(), label: "Go on to " + c.authorization.Host,
	}
}

// proof shows that who has it has read the page for the ticket in the browser
// with the cookie.
func proof(cookie, ticket string) string {
	return base64.RawURLEncoding.EncodeToString(hashOf("go on " + cookie + " " + ticket))
}

// confirmed gives the browser's cookie when the request came from the page.
func confirmed(r *http.Request, ticket, given string) (cookie string, ok bool) {
	cookie = cookieOf(r)
	return cookie, cookie != "" && subtle.ConstantTimeCompare([]byte(proof(cookie, ticket)), []byte(given)) == 1
}

// cookieOf gives the browser's cookie, "" when it has none.
func cookieOf(r *http.Request) string {
	found, err := r.Cookie(cookieName)
	if err != nil {
		return ""
	}
	return found.Value
}

// leave begins the sign-in proper and gives the service's address for it.
func (s *Service) leave(ctx context.Context, c *oauthClient, signIn *blueprint.SignIn, bound []byte) (string, *page, error) {
	waiting, err := s.Store.WaitingSignIns(ctx, signIn.ConnectionID, signIn.UserID)
	if err != nil {
		return "", nil, err
	}
	away := 0
	for _, other := range waiting {
		if other.ExpiresAt.Time().Sub(other.CreatedAt.Time()) <= stateLife {
			away++
		}
	}
	if away >= mostAway {
		return "", &page{status: http.StatusTooManyRequests, title: "Too many sign-ins at once", lines: []string{"Many were begun and not finished. Try again in ten minutes."}}, nil
	}
	state := s.random()
	way := way{Verifier: s.random(), Redirect: s.APIHost() + callbackPath, For: c.fingerprint(), Cookie: bound}
	secret, err := json.Marshal(way)
	if err != nil {
		return "", nil, err
	}
	err = s.Store.BeginSignIn(ctx, blueprint.SignIn{
		StateHash: hashOf(statePlace + state), ConnectionID: signIn.ConnectionID, UserID: signIn.UserID, Secret: secret,
		ExecutionID: signIn.ExecutionID, Address: signIn.Address, ExpiresAt: blueprint.TimeOf(s.Clock.Now().Add(stateLife)),
	})
	if err != nil {
		return "", nil, err
	}
	return c.config(way.Redirect, oauth2.AuthStyleInParams).AuthCodeURL(state, oauth2.S256ChallengeOption(way.Verifier)), nil, nil
}

// broken logs what went wrong, unless the fault lies with the service that was
// asked, and gives the page that says so.
func (s *Service) broken(ctx context.Context, what string, err error) page {
	var failure *blueprint.Failure
	switch {
	case errors.As(err, &failure):
		return page{status: http.StatusBadGateway, title: "The service did not do its part", lines: []string{"The sign-in could not be finished: " + failure.Message + ".", "Visit the address of the run once more to try again."}}
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

// isBrowser tells whether a person may sit before the client. Every browser
// calls itself Mozilla, and no page that it shows can make it say otherwise to
// another site.
func isBrowser(r *http.Request) bool {
	return strings.Contains(r.UserAgent(), "Mozilla/") || strings.Contains(r.Header.Get("Accept"), "text/html")
}
