package server

import (
	"context"
	"mime"
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
	"blueprintd/triggers/mail"
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
	RPC       *trpc.Handler // for API keys
	Dashboard *trpc.Handler // for sessions
	Link      *openLink     // signs in the developer; nil = none
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

// newDashboard returns the handler of the dashboard's calls, with the rate limit of keys.
func (s *site) newDashboard(service *rpc.Service, limiter *trpc.Limiter) *trpc.Handler {
	o := &s.Options
	cookie := rpc.SessionCookie{Name: s.CookieName(), Root: DashboardRoot, Secure: s.overTLS}
	var public *trpc.Limiter
	if _, virtual := o.Clock.(*clock.Virtual); !virtual { // a virtual clock does not refill buckets
		public = trpc.NewLimiter(o.Clock, openRate, OpenBurst)
	}
	return trpc.NewHandler(append(service.Procedures(), rpc.NewSessions(s.Store, s.Accounts, cookie).Procedures()...), trpc.Options{
		Root: DashboardRoot, Authenticator: sessions{s.Store}, Token: cookie.Token, NoToken: "not signed in; sign in first", Via: blueprint.ViaDashboard,
		Device: func(r *http.Request) string { return s.Accounts.DeviceID(cookie.Device(r)) },
		Admit:  s.fromDashboard(), Limiter: limiter, PublicLimiter: public, Proxies: o.Proxies(), MaxBody: o.MaxBody, Draining: s.Draining, Logger: o.Logger,
	})
}

// serveDashboard serves a call of the dashboard. Answers must not be cached, because they
// depend on the session.
func (s *site) serveDashboard(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "private, no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	s.Dashboard.ServeHTTP(w, r)
}

// CookieName returns the name of the session cookie. It contains the port, because
// browsers send the cookies of a host to all its ports.
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

// fromDashboard returns a check that refuses requests of other sites, because browsers send
// the cookie with them too.
func (s *site) fromDashboard() func(*http.Request) error {
	protection := http.NewCrossOriginProtection()
	if own, err := url.Parse(s.Options.PublicURL); err == nil && own.Host != "" {
		if err := protection.AddTrustedOrigin(strings.ToLower(own.Scheme + "://" + own.Host)); err != nil {
			s.Options.Logger.Warn("public URL not accepted as an origin", "error", err)
		}
	}
	return func(r *http.Request) error {
		if err := s.checkHost(r); err != nil {
			return err
		}
		site := r.Header.Get("Sec-Fetch-Site")
		if err := protection.Check(r); err != nil || site != "" && site != "same-origin" && site != "none" {
			return blueprint.Errorf(blueprint.CodeForbidden, "only the dashboard itself may call here; programs call %s/api/trpc with an API key", s.APIHost())
		}
		return nil
	}
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

// safeTypes are the content types that a browser may receive: none can run code.
var safeTypes = map[string]bool{
	"application/pdf": true, "application/zip": true, "image/gif": true, "image/jpeg": true, "image/png": true, "image/webp": true,
	"text/calendar": true, "text/csv": true, "text/plain": true,
}

// file answers GET /files/{id} with an attachment of a mail, if the caller may see the run
// that it started. It is a download, never a page: its content is the sender's.
func (s *Server) file(w http.ResponseWriter, r *http.Request, caller *trpc.Caller) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return blueprint.Errorf(blueprint.CodeMethodNotSupported, "files accept only GET")
	}
	found, content, err := s.open(r.Context(), r.Method == http.MethodGet, func(ctx context.Context) (blueprint.File, []byte, error) {
		return s.Store.File(ctx, caller.Principal, r.PathValue("id"))
	})
	if err != nil {
		return err
	}
	kind := "application/octet-stream"
	if safeTypes[found.ContentType] {
		kind = found.ContentType
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.FormatInt(found.Size, 10))
	h.Set("Content-Disposition", disposition(found.Name))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-store")
	if r.Method == http.MethodGet {
		_, _ = w.Write(content)
	}
	return nil
}

// fileOfRun returns a file of the delivery that started a run.
func (s *Server) fileOfRun(ctx context.Context, authority blueprint.Authority, executionID, id string) (blueprint.File, []byte, error) {
	return s.open(ctx, true, func(ctx context.Context) (blueprint.File, []byte, error) {
		return s.Store.FileOfRun(ctx, authority, executionID, id)
	})
}

// maxDecoding is the maximum number of files decoded concurrently: each takes the memory of
// its whole mail.
const maxDecoding = 4

// open reads a file, and its content if wanted.
func (s *Server) open(ctx context.Context, wanted bool, read func(context.Context) (blueprint.File, []byte, error)) (found blueprint.File, content []byte, err error) {
	select {
	case s.decoding <- struct{}{}:
		defer func() { <-s.decoding }()
	case <-ctx.Done():
		return found, nil, ctx.Err()
	}
	found, body, err := read(ctx)
	if err == nil && wanted {
		content, err = mail.Open(body, found.Part)
		found.Size = int64(len(content))
	}
	return found, content, err
}

// disposition returns the Content-Disposition of a download (RFC 6266).
func disposition(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, name)
	if value := mime.FormatMediaType("attachment", map[string]string{"filename": name}); value != "" {
		return value
	}
	return "attachment"
}
