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
	// openLength is how many characters of base62 the secret of an address has.
	openLength = 43
	// OpenLife is how long an address is good that a developer's server prints.
	OpenLife = 15 * time.Minute
	// mostOpened bounds how many addresses of before are told from those of nobody.
	mostOpened = 100
)

// openLink is an address of a server that signs in to the dashboard who visits it:
// once, and only from where the server is reached by names of this machine. It is
// safe for concurrent use.
type openLink struct {
	server *site
	UserID string        // who is signed in
	to     string        // where it leads
	life   time.Duration // of each, by the clock of the machine; 0 = as long as the server is there, and there is one alone
	again  string        // what to say of one that is not good any more

	mu    sync.Mutex // who holds it judges a visit
	Token string     // "" = it was used, and there is no other
	Until time.Time
	spent []string             // tokens of before
	next  func(address string) // is told each address but the first; nil = nobody is
}

// newOpenLink makes the address that signs in the owner of a developer's server
// in memory that this machine alone reaches, by a name of its own; nil for others,
// and when somebody had a password from the start.
func (s *Server) newOpenLink() *openLink {
	if s.Bootstrap.Setup == "" || !s.Options.Develops || !s.Options.Ephemeral || !s.onlyHere() || s.Options.PublicURL != "" {
		return nil
	}
	if host, err := url.Parse(s.APIHost()); err != nil || !isLocalHost(host.Host) { // such as that of a certificate
		return nil
	}
	l := &openLink{server: &s.site, UserID: s.Bootstrap.Account.ID, to: "/", life: OpenLife, again: "Each works once, for 15 minutes; blueprintd dev has printed another one."}
	l.renew()
	return l
}

// renew puts another address in the place of the one before.
func (l *openLink) renew() {
	if l.Token != "" {
		l.spent = append(l.spent, l.Token)
		l.spent = l.spent[max(0, len(l.spent)-mostOpened):]
	}
	if l.Token = ""; l.life > 0 {
		l.Token = ids.New(nil).Token(openLength) // random also where ids follow from a number
		l.Until = clock.Real{}.Now().Add(l.life)
	}
}

// Then has somebody told each address that there is from now on.
func (l *openLink) Then(told func(address string)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = told
}

// URL is the whole address that is good now.
func (l *openLink) URL() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.address()
}

func (l *openLink) address() string { return l.server.APIHost() + "/open/" + l.Token }

// errSpent refuses an address that is not good any more.
var errSpent = errors.New("the address is not good any more")

// Use calls f for who has a token if it is good, which it then is no more; an error
// of f leaves it so. When there is another one, it is told.
func (l *openLink) Use(token string, f func() error) error {
	l.mu.Lock()
	late := l.life > 0 && clock.Real{}.Now().After(l.Until)
	err := errSpent
	if !late && token == l.Token {
		err = f()
	}
	var told func(string)
	address := ""
	if late || err == nil {
		if l.renew(); l.Token != "" {
			told, address = l.next, l.address()
		}
	}
	l.mu.Unlock()
	if told != nil {
		told(address)
	}
	return err
}

// knows reports whether a token is one that was given out.
func (l *openLink) knows(token string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	given := []byte(token)
	return token != "" && slices.ContainsFunc(append(l.spent, l.Token), func(one string) bool { return subtle.ConstantTimeCompare([]byte(one), given) == 1 })
}

// mountLink has a mux answer the address, as if there were nothing when there is
// none.
func (s *site) mountLink(mux *http.ServeMux) {
	mux.HandleFunc("GET /open/{token}", func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.Link == nil:
			s.page(w, r)
		case r.Method == http.MethodHead: // what previews a link does not use it up
			w.Header().Set("Allow", http.MethodGet)
			w.WriteHeader(blueprint.CodeMethodNotSupported.HTTPStatus())
		default:
			s.Link.visit(w, r)
		}
	})
}

// visit signs in who comes first, and leads there who is signed in already.
func (l *openLink) visit(w http.ResponseWriter, r *http.Request) {
	s, token := l.server, r.PathValue("token")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if !isLocalHost(r.Host) || !l.knows(token) {
		s.nothingHere(w, r)
		return
	}
	if ahead(r) {
		http.Error(w, "This address signs in who visits it: it cannot be fetched ahead.", blueprint.CodeUnavailable.HTTPStatus())
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
	case errors.Is(err, errSpent):
		http.Error(w, "This address is not good any more. "+l.again, http.StatusGone)
	default:
		if r.Context().Err() == nil {
			s.Options.Logger.Warn("nobody could be signed in by the address", "error", err)
		}
		http.Error(w, "Nobody can be signed in at this moment; try the same address again.", blueprint.CodeUnavailable.HTTPStatus())
	}
}

// SignIn makes the session and has the browser keep it. Of one that has hung up
// nothing stays: nobody would be signed in.
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

// SessionCookie is how the dashboard's cookies are set and read.
func (s *site) SessionCookie() rpc.SessionCookie {
	return rpc.SessionCookie{Name: s.CookieName(), Root: DashboardRoot, Secure: s.overTLS}
}

// ahead reports whether a browser fetches what nobody has asked for yet.
func ahead(r *http.Request) bool {
	return slices.ContainsFunc([]string{"Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"}, func(name string) bool {
		purpose := strings.ToLower(strings.Join(r.Header.Values(name), ","))
		return strings.Contains(purpose, "prefetch") || strings.Contains(purpose, "preview")
	})
}
