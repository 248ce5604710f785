package server

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
)

const (
	openLength = 43               // base62 characters of a token
	OpenLife   = 15 * time.Minute // of a link of a developer's server
	maxUsed    = 100              // number of used tokens to remember
)

// openLink is a URL that signs a browser in to the dashboard: once, and only through a host
// name of this machine. It is safe for concurrent use.
type openLink struct {
	server *site
	UserID string        // is signed in
	to     string        // path after the sign-in
	life   time.Duration // of each link, in real time; 0 = one link without expiry
	again  string        // hint for a used link

	mu    sync.Mutex // serializes visits
	Token string     // "" = used, and not replaced
	Until time.Time
	used  []string             // used tokens
	next  func(address string) // is called with each new link; nil = none
}

// newOpenLink returns a link for the owner of a developer's server that is in memory and
// listens only on loopback; nil for other servers, and if any user has a password.
func (s *Server) newOpenLink() *openLink {
	if s.Bootstrap.Setup == "" || !s.Options.Dev || !s.Options.Ephemeral || !s.loopbackOnly() || s.Options.PublicURL != "" {
		return nil
	}
	if host, err := url.Parse(s.APIHost()); err != nil || !isLocalHost(host.Host) { // such as that of a certificate
		return nil
	}
	l := &openLink{server: &s.site, UserID: s.Bootstrap.Account.ID, to: "/", life: OpenLife, again: "Each works once, for 15 minutes; blueprintd dev has printed another one."}
	l.renew()
	return l
}

// renew replaces the link, or removes it if life is 0.
func (l *openLink) renew() {
	if l.Token != "" {
		l.used = append(l.used, l.Token)
		l.used = l.used[max(0, len(l.used)-maxUsed):]
	}
	if l.Token = ""; l.life > 0 {
		l.Token = ids.New(nil).Token(openLength) // random even if ids are seeded
		l.Until = clock.Real{}.Now().Add(l.life)
	}
}

// Then sets the function that receives new links.
func (l *openLink) Then(next func(address string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = next
}

// URL returns the valid link.
func (l *openLink) URL() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.address()
}

func (l *openLink) address() string { return l.server.APIHost() + "/open/" + l.Token }

// errLinkUsed is the error for a used or expired link.
var errLinkUsed = errors.New("the link is used or expired")

// Use calls f if token is valid, and then replaces the link unless f fails.
func (l *openLink) Use(token string, f func() error) error {
	l.mu.Lock()
	late := l.life > 0 && clock.Real{}.Now().After(l.Until)
	err := errLinkUsed
	if !late && token == l.Token {
		err = f()
	}
	var next func(string)
	address := ""
	if late || err == nil {
		if l.renew(); l.Token != "" {
			next, address = l.next, l.address()
		}
	}
	l.mu.Unlock()
	if next != nil {
		next(address)
	}
	return err
}

// knows reports whether a token is valid or used.
func (l *openLink) knows(token string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	given := []byte(token)
	return token != "" && slices.ContainsFunc(append(l.used, l.Token), func(one string) bool { return subtle.ConstantTimeCompare([]byte(one), given) == 1 })
}

// mountLink registers the link; without a link its path is unknown.
func (s *site) mountLink(mux *http.ServeMux) {
	mux.HandleFunc("GET /open/{token}", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.Link == nil:
			s.page(w, r)
		case r.Method == http.MethodHead: // link previews do not use it up
			w.Header().Set("Allow", http.MethodGet)
			w.WriteHeader(blueprint.CodeMethodNotSupported.HTTPStatus())
		default:
			s.Link.visit(w, r)
		}
	})
}

// visit signs in the first request, and redirects a browser that is signed in already.
func (l *openLink) visit(w http.ResponseWriter, r *http.Request) {
	s, token := l.server, r.PathValue("token")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if !isLocalHost(r.Host) || !l.knows(token) {
		s.serveNotFound(w, r)
		return
	}
	if isPrefetch(r) {
		http.Error(w, "This link signs you in and cannot be prefetched.", blueprint.CodeUnavailable.HTTPStatus())
		return
	}
	cookie := s.SessionCookie()
	_, err := s.Store.AuthenticateSession(r.Context(), cookie.Token(r))
	if blueprint.CodeOf(err) == blueprint.CodeUnauthorized {
		err = l.Use(token, func() error { return l.SignIn(w, r, cookie) })
	}
	switch {
	case err == nil:
		http.Redirect(w, r, l.to, http.StatusSeeOther)
	case errors.Is(err, errLinkUsed):
		http.Error(w, "This link is used or expired. "+l.again, http.StatusGone)
	default:
		if r.Context().Err() == nil {
			s.Options.Logger.Warn("sign-in by link failed", "error", err)
		}
		http.Error(w, "The sign-in failed; try the same link again.", blueprint.CodeUnavailable.HTTPStatus())
	}
}

// SignIn creates a session and sets its cookies. If the client has disconnected, the
// session is ended again.
func (l *openLink) SignIn(w http.ResponseWriter, r *http.Request, cookie rpc.SessionCookie) error {
	s := l.server
	ctx := blueprint.WithActor(context.WithoutCancel(r.Context()), &blueprint.Actor{Via: blueprint.ViaDashboard, Action: "session.create"})
	user, err := s.Store.User(ctx, l.UserID)
	if err != nil {
		return err
	}
	session, err := s.Accounts.Open(ctx, user.ID, trpc.AgentOf(r))
	if err != nil {
		return err
	}
	if gone := r.Context().Err(); gone != nil {
		return errors.Join(gone, s.Store.EndSessionOf(ctx, session))
	}
	cookie.Keep(w, r, session, s.Accounts.Device(user.Email, cookie.Device(r)))
	return nil
}

// SessionCookie returns the cookies of the dashboard.
func (s *site) SessionCookie() rpc.SessionCookie {
	return rpc.SessionCookie{Name: s.CookieName(), Root: DashboardRoot, Secure: s.overTLS}
}

// isPrefetch reports whether a request is a prefetch.
func isPrefetch(r *http.Request) bool {
	return slices.ContainsFunc([]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}, func(name string) bool {
		purpose := strings.ToLower(strings.Join(r.Header.Values(name), ","))
		return strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "preview")
	})
}
