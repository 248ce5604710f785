package server

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/server/accounts"
	"blueprintd/store"
	"blueprintd/web"
)

// site is what shows the dashboard to people: an address, a database and who is signed
// in. A Server is one, and so is what shows the file of a run.
type site struct {
	lifecycle
	Options   Options
	IDs       *ids.Source
	Listener  net.Listener
	Store     *store.Store
	Accounts  *accounts.Service
	RPC       *trpc.Handler // for API keys
	Dashboard *trpc.Handler // for sessions
	Link      *openLink     // signs in who develops; nil = there is none
	opened    closers       // what was opened so far

	Certificates Certificates // nil = no TLS is spoken
	SecureHost   string       // host and port that they fit
}

// DashboardRoot is where the dashboard calls procedures. Nothing there knows
// API keys, and nothing elsewhere but /files knows sessions.
const DashboardRoot = "/app/trpc"

// Each address may call openBurst procedures that need no session at once, and
// openRate a second after that. Nobody types faster; many may share an address.
const (
	openRate  = 2
	OpenBurst = 50
)

// sessions tells who is signed in.
type sessions struct{ store *store.Store }

// Authenticate returns whose session a token is. A session has all scopes.
func (s sessions) Authenticate(ctx context.Context, token string) (blueprint.Admission, error) {
	principal, err := s.store.AuthenticateSession(ctx, token)
	return blueprint.Admission{Principal: principal, Scopes: blueprint.AllScopes()}, err
}

// newDashboard makes what answers the dashboard's calls. The limits of a user
// are those of a key.
func (s *site) newDashboard(service *rpc.Service, limiter *trpc.Limiter) *trpc.Handler {
	o := &s.Options
	cookie := rpc.SessionCookie{Name: s.CookieName(), Root: DashboardRoot, Secure: s.overTLS}
	var public *trpc.Limiter
	if _, virtual := o.Clock.(*clock.Virtual); !virtual { // a clock that stands still would never refill a bucket
		public = trpc.NewLimiter(o.Clock, openRate, OpenBurst)
	}
	return trpc.NewHandler(append(service.Procedures(), rpc.NewSessions(s.Store, s.Accounts, cookie).Procedures()...), trpc.Options{
		Root: DashboardRoot, Authenticator: sessions{s.Store}, Token: cookie.Token, NoToken: "nobody is signed in; sign in first", Via: blueprint.ViaDashboard,
		Device: func(r *http.Request) string { return s.Accounts.DeviceID(cookie.Device(r)) },
		Admit:  s.fromDashboard(), Limiter: limiter, PublicLimiter: public, Proxies: o.Proxies(), MaxBody: o.MaxBody, Draining: s.Draining, Logger: o.Logger,
	})
}

// serveDashboard answers a call of the dashboard. Nothing of it stays in a
// cache, which knows nothing of who is signed in.
func (s *site) serveDashboard(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "private, no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.Dashboard.ServeHTTP(w, r)
}

// CookieName has the port in it, for browsers do not tell the cookies of one
// port of a host from those of another.
func (s *site) CookieName() string {
	name := "blueprintd"
	if address, ok := s.Listener.Addr().(*net.TCPAddr); ok {
		name += "_" + strconv.Itoa(address.Port)
	}
	return name
}

// overTLS reports whether browsers reach this server by https.
func (s *site) overTLS(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(s.APIHost(), "https://")
}

// fromDashboard makes what refuses the requests of other pages, which browsers
// send with the cookie all the same: to change something, and to read something
// as well.
func (s *site) fromDashboard() func(*http.Request) error {
	protection := http.NewCrossOriginProtection()
	if own, err := url.Parse(s.Options.PublicURL); err == nil && own.Host != "" {
		if err := protection.AddTrustedOrigin(strings.ToLower(own.Scheme + "://" + own.Host)); err != nil {
			s.Options.Logger.Warn("pages of the public address can call only by its own name", "error", err)
		}
	}
	return func(r *http.Request) error {
		if err := s.misnamed(r); err != nil {
			return err
		}
		site := r.Header.Get("Sec-Fetch-Site")
		if err := protection.Check(r); err != nil || site != "" && site != "same-origin" && site != "none" {
			return blueprint.Errorf(blueprint.CodeForbidden, "only the dashboard itself may call here; programs call %s/api/trpc with an API key", s.APIHost())
		}
		return nil
	}
}

// misnamed refuses a name that somebody made to lead to this machine, whose page
// in a browser here would then be of the same origin as the dashboard. A server
// that only this machine reaches has no other names than those of every machine,
// unless it is told one; what API keys open needs no such care.
func (s *site) misnamed(r *http.Request) error {
	address, err := netip.ParseAddrPort(s.Listener.Addr().String())
	if s.Options.PublicURL != "" || s.Certificates != nil || err != nil || !address.Addr().Unmap().IsLoopback() || isLocalHost(r.Host) {
		return nil
	}
	return blueprint.Errorf(blueprint.CodeForbidden, "the dashboard is at %s/; for another name, such as that of a proxy, start the server with --public-url", s.APIHost())
}

// fileFor answers /files/{id} to who has an API key, and to who is signed in.
func (s *Server) fileFor() http.Handler {
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

// page answers with what the dashboard consists of, and otherwise that nothing
// is there.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	if s.misnamed(r) != nil || !web.Serve(w, r, s.IDs) && !web.ServeMissing(w, r, s.IDs) {
		s.nothingHere(w, r)
	}
}
