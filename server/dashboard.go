package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/server/accounts"
	"blueprintd/store"
	"blueprintd/web"
)

// site serves the dashboard: a listener, a database and sessions; Server embeds one.
type site struct {
	lifecycle
	Options   Options
	IDs       *ids.Source
	Listener  net.Listener
	Store     *store.Store
	Accounts  *accounts.Service
	RPC       *trpc.Handler   // for API keys
	Dashboard *trpc.Handler   // for sessions
	Link      *openLink       // signs in the developer; nil = none
	Clients   *trpc.Clients   // finds the clients of requests
	limiters  []*trpc.Limiter // those that other processes share
	opened    closers

	Certificates Certificates // nil = no TLS
	SecureHost   string       // host and port for which they are valid
}

// DashboardRoot is the root of the dashboard's procedures. It accepts sessions and no API
// keys; elsewhere only /files accepts sessions.
const DashboardRoot = "/app/trpc"

// The rate limit of procedures without a session, by address, which several users may
// share: calls a second, and burst.
const (
	openRate  = 2
	OpenBurst = 50
)

// sessions authenticates session tokens.
type sessions struct{ store *store.Store }

// Authenticate implements trpc.Authenticator. A session has all scopes.
func (s sessions) Authenticate(ctx context.Context, token string) (blueprint.Admission, error) {
	principal, err := s.store.AuthenticateSession(ctx, token)
	return blueprint.Admission{Principal: principal, Scopes: blueprint.AllScopes()}, err
}

// newDashboard returns the handler of the dashboard's calls, those of the API and those of
// sessions, with the rate limit of keys.
func (s *site) newDashboard(api []trpc.Procedure, limiter *trpc.Limiter) *trpc.Handler {
	o := &s.Options
	cookie := rpc.SessionCookie{Name: s.CookieName(), Root: DashboardRoot, Secure: s.overTLS}
	var public *trpc.Limiter
	if _, virtual := o.Clock.(*clock.Virtual); !virtual { // a virtual clock does not refill buckets
		public = s.newLimiter(openRate, OpenBurst)
	}
	return trpc.NewHandler(slices.Concat(api, rpc.NewSessions(s.Store, s.Accounts, cookie).Procedures()), trpc.Options{
		Root: DashboardRoot, Authenticator: sessions{s.Store}, Token: cookie.Token, NoToken: "not signed in; sign in first", Via: blueprint.ViaDashboard,
		Device: func(r *http.Request) string { return s.Accounts.DeviceID(cookie.Device(r)) },
		Admit:  s.fromDashboard(), Limiter: limiter, PublicLimiter: public, Clients: s.Clients, MaxBody: o.MaxBody, Draining: s.Draining, Logger: o.Logger, Available: s.Store.Available,
	})
}

// newLimiter returns a rate limit that all processes on a PostgreSQL database share.
func (s *site) newLimiter(perSecond float64, burst int) *trpc.Limiter {
	limiter := trpc.NewLimiter(s.Options.Clock, perSecond, burst)
	if s.Options.URL != "" {
		limiter.Shared = s.Store
		s.limiters = append(s.limiters, limiter)
	}
	return limiter
}

// serveDashboard serves a call of the dashboard. Answers must not be cached, because they
// depend on the session.
func (s *site) serveDashboard(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "private, no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.Dashboard.ServeHTTP(w, r)
}

// CookieName returns the name of the session cookie. It contains the port, because
// browsers send the cookies of a host to all its ports. Behind a public URL there may be
// several processes, each with a port of its own, which accept the same cookie.
func (s *site) CookieName() string {
	name := "blueprintd"
	if s.Options.PublicURL != "" {
		return name
	}
	if address, ok := s.Listener.Addr().(*net.TCPAddr); ok {
		name += "_" + strconv.Itoa(address.Port)
	}
	return name
}

// overTLS reports whether browsers reach this server by https.
func (s *site) overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(s.APIHost(), "https://")
}

// fromDashboard returns a check that refuses requests of other sites, because browsers send
// the cookie with them too. It logs once if browsers open the dashboard at another address
// than links do.
func (s *site) fromDashboard() func(*http.Request) error {
	protection := http.NewCrossOriginProtection()
	if own := originOf(s.Options.PublicURL); own != "" {
		if err := protection.AddTrustedOrigin(own); err != nil {
			s.Options.Logger.Warn("public URL not accepted as an origin", "error", err)
		}
	}
	var elsewhere sync.Once
	return func(r *http.Request) error {
		if err := s.checkHost(r); err != nil {
			return err
		}
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		// Browsers send no Sec-Fetch-Site to an insecure address, where they ignore secure cookies.
		if host, plain := strings.CutPrefix(origin, "http://"); plain && site == "" && r.TLS == nil && s.overTLS(r) && !isLocalHost(host) {
			return blueprint.Errorf(blueprint.CodeForbidden, "the dashboard is at %s/: over http, browsers do not keep its sign-in", s.APIHost())
		}
		if err := protection.Check(r); err != nil || site != "" && site != "same-origin" && site != "none" {
			change := "change"
			if s.Options.PublicURL == "" {
				change = "start the server with"
			}
			return blueprint.Errorf(blueprint.CodeForbidden, "only the dashboard itself may call here, at %s/ (for another address, such as that of a proxy, %s --public-url); programs call %[1]s/api/trpc with an API key", s.APIHost(), change)
		}
		if own := originOf(s.APIHost()); origin != "" && origin != "null" && own != "" && origin != own && !isLocalOrigin(origin) {
			elsewhere.Do(func() {
				s.Options.Logger.Warn("dashboard opened at another address than that of links", "opened", origin, "links", s.APIHost(), "hint", "set --public-url to the address that browsers use: links and webhook addresses begin with it")
			})
		}
		return nil
	}
}

// originOf returns the origin of a URL as browsers send it, "" for none.
func originOf(address string) string {
	u, err := url.Parse(strings.ToLower(address))
	if err != nil || u.Host == "" {
		return ""
	}
	if standard := map[string]string{"http": "80", "https": "443"}[u.Scheme]; u.Port() == standard {
		u.Host = strings.TrimSuffix(u.Host, ":"+standard)
	}
	return u.Scheme + "://" + u.Host
}

func isLocalOrigin(origin string) bool {
	_, host, _ := strings.Cut(origin, "://")
	return isLocalHost(host)
}

// checkHost refuses a host name that is not the server's, against DNS rebinding: a page of
// that name would have the same origin as the dashboard. It applies to servers on loopback
// without a public URL. Requests with API keys do not need it.
func (s *site) checkHost(r *http.Request) error {
	address, err := netip.ParseAddrPort(s.Listener.Addr().String())
	if s.Options.PublicURL != "" || s.Certificates != nil || err != nil || !address.Addr().Unmap().IsLoopback() || isLocalHost(r.Host) {
		return nil
	}
	return blueprint.Errorf(blueprint.CodeForbidden, "the dashboard is at %s/; for another name, such as that of a proxy, start the server with --public-url", s.APIHost())
}

// serveFile answers /files/{id} by API key or session.
func (s *Server) serveFile() http.Handler {
	byKey, bySession := s.RPC.Authenticated(blueprint.ScopeRead, s.file), s.Dashboard.Authenticated(blueprint.ScopeRead, s.file)
	cookie := rpc.SessionCookie{Name: s.CookieName(), Secure: s.overTLS}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" && cookie.Token(r) != "" {
			bySession.ServeHTTP(w, r)
			return
		}
		byKey.ServeHTTP(w, r)
	})
}

// page serves the files of the dashboard, and 404 otherwise.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	if s.checkHost(r) != nil || !web.Serve(w, r, s.IDs) && !web.ServeMissing(w, r, s.IDs) {
		s.serveNotFound(w, r)
	}
}
