package main

import (
	"context"
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"blueprintd/accounts"
	"blueprintd/blueprint"
	"blueprintd/clock"
	"blueprintd/ids"
	"blueprintd/rpc"
	"blueprintd/runfile"
	"blueprintd/secret"
	"blueprintd/store"
)

// viewer shows one run in the dashboard, to this machine alone. It has a
// database in memory, and neither an engine nor triggers: there is nothing in it
// that could run anything.
type viewer struct {
	server   *server // without what runs
	file     *runfile.File
	token    string // of the address that signs in
	email    string
	password string // nobody else knows it

	mu   sync.Mutex
	used bool // the address was visited
}

// viewerEmail is who looks at the run.
const viewerEmail = "viewer@localhost"

// newViewer makes a viewer and takes its port.
func newViewer(ctx context.Context, address string, f *runfile.File, log io.Writer) (_ *viewer, err error) {
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))
	source := ids.New(nil)
	s := &server{ids: source, draining: make(chan struct{}), options: options{clock: clock.Real{}, logger: logger, ephemeral: true, maxBody: 5 << 20, addr: address}}
	if s.listener, err = listen(address); err != nil {
		return nil, failed("choose another one with --addr", "cannot listen on %s: %s", address, listenCause(err))
	}
	defer func() {
		if err != nil {
			s.listener.Close()
			if s.store != nil {
				s.store.Close()
			}
		}
	}()
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		return nil, err
	}
	if s.store, err = store.Open(ctx, store.Options{Ephemeral: true, Schema: schema, Sealer: sealer, Clock: clock.Real{}, IDs: source, Logger: logger}); err != nil {
		return nil, err
	}
	s.accounts = accounts.New(accounts.Options{Store: s.store, Clock: clock.Real{}, IDs: source, Sealer: sealer})
	v := &viewer{server: s, file: f, token: source.Token(43), email: viewerEmail, password: source.Token(43)}
	user, err := s.store.CreateUser(ctx, v.email, "Viewer")
	if err != nil {
		return nil, err
	}
	if err := s.accounts.SetPassword(ctx, user.ID, v.password); err != nil {
		return nil, err
	}
	row, err := s.store.ImportRun(ctx, blueprint.Principal{UserID: user.ID}, importedRun(f))
	if err != nil {
		return nil, err
	}
	began := clock.Real{}.Now()
	types := catalogue()
	service := &rpc.Service{
		Store: s.store, Runner: frozenRunner{f, row}, Triggers: frozenTriggers{}, Catalogue: types, CheckConfig: checkConfig, IDs: source, APIHost: s.apiHost,
		Frozen: errFrozen, Info: func() rpc.ServerInfo {
			info := s.info(began)
			info.Sandbox = f.Run.Sandbox // the page says so of where the run was
			return info
		},
	}
	s.dashboard = s.newDashboard(service, rpc.NewLimiter(clock.Real{}, 50, 200))
	s.rpc = s.dashboard // it words refusals; API keys open nothing
	return v, nil
}

// importedRun is the run as the database takes it.
func importedRun(f *runfile.File) blueprint.ImportedRun {
	x := f.Execution("", "")
	given := blueprint.NewBlueprint{
		Title: f.Blueprint.Title, Description: f.Blueprint.Description, Tags: f.Blueprint.Tags, Variables: f.Blueprint.Variables, Map: f.Blueprint.Map,
	}
	return blueprint.ImportedRun{Blueprint: given, Row: blueprint.ExecutionRow{
		ID: x.ID, BlueprintID: x.BlueprintID, BlueprintVersion: x.BlueprintVersion, TriggerID: x.TriggerID, Status: x.Status,
		CreatedAt: x.CreatedAt, UpdatedAt: x.UpdatedAt, StartTime: x.StartTime, EndTime: x.EndTime,
	}}
}

// url is the address that signs in.
func (v *viewer) url() string { return v.server.apiHost() + "/open/" + v.token }

// run answers until ctx ends; ready is told the address.
func (v *viewer) run(ctx context.Context, ready func(url string) error) (err error) {
	s := v.server
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	stored := make(chan error, 1)
	go func() { stored <- s.store.Run(storing) }()
	serving := s.newHTTP(v.routes())
	ended := make(chan error, 1)
	go func() { ended <- serving.Serve(s.listener) }()
	err = ready(v.url())
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-ended:
		}
	}
	close(s.draining)
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if serving.Shutdown(patience) != nil {
		serving.Close() // a browser that goes on listening keeps nobody
	}
	stop()
	if failed := <-stored; err == nil {
		err = failed
	}
	if failed := s.store.Close(); err == nil {
		err = failed
	}
	return err
}

// routes is all that is answered.
func (v *viewer) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /open/{token}", v.open)
	mux.HandleFunc("HEAD /open/{token}", func(w http.ResponseWriter, _ *http.Request) { // what previews a link does not use it up
		w.Header().Set("Allow", http.MethodGet)
		w.WriteHeader(blueprint.CodeMethodNotSupported.HTTPStatus())
	})
	mux.HandleFunc("/", v.server.page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v.server.dashboard.Serves(r) {
			v.server.serveDashboard(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// open signs in who has the address, once, and leads to the run.
func (v *viewer) open(w http.ResponseWriter, r *http.Request) {
	s := v.server
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	if s.misnamed(r) != nil || subtle.ConstantTimeCompare([]byte(r.PathValue("token")), []byte(v.token)) != 1 {
		s.nothingHere(w, r)
		return
	}
	cookie := rpc.SessionCookie{Name: s.cookieName(), Root: dashboardRoot, Secure: s.overTLS}
	v.mu.Lock()
	first := !v.used
	v.used = true
	v.mu.Unlock()
	if first {
		token, _, err := s.accounts.SignIn(r.Context(), v.email, v.password, blueprint.Visitor{Agent: agentOf(r)})
		if err != nil {
			s.options.logger.Error("the run cannot be shown", "error", err)
			http.Error(w, "the run cannot be shown", http.StatusInternalServerError)
			return
		}
		cookie.Keep(w, r, token)
	} else if _, err := s.store.AuthenticateSession(r.Context(), cookie.Token(r)); err != nil {
		w.WriteHeader(http.StatusGone)
		fmt.Fprintln(w, "This address was used. Run blueprintd open again for another one.")
		return
	}
	http.Redirect(w, r, "/runs/"+v.file.Run.ID, http.StatusSeeOther)
}

// agentOf names the browser of a request, of a length that fits a list.
func agentOf(r *http.Request) string {
	agent := strings.ToValidUTF8(r.UserAgent(), "")
	return agent[:min(len(agent), 200)]
}
