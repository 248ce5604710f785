package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/recording"
	"blueprintd/foundation/secret"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/server/accounts"
	"blueprintd/store"
)

// viewer shows one run in the dashboard, to this machine alone. It has a
// database in memory, and neither an engine nor triggers: there is nothing in it
// that could run anything.
type viewer struct {
	server *server // without what runs; its link leads to the run
}

// viewerEmail is who looks at the run.
const viewerEmail = "viewer@localhost"

// newViewer makes a viewer and takes its port.
func newViewer(ctx context.Context, version, schema, address string, f *recording.File, log io.Writer) (_ *viewer, err error) {
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))
	source := ids.New(nil)
	s := &server{ids: source, draining: make(chan struct{}), options: options{version: version, schema: schema, clock: clock.Real{}, logger: logger, ephemeral: true, maxBody: 5 << 20, addr: address}}
	if s.listener, err = listen(address); err != nil {
		return nil, blueprint.Hinted("choose another one with --addr", "cannot listen on %s: %s", address, listenCause(err))
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
	v := &viewer{server: s}
	user, err := s.store.CreateUser(ctx, viewerEmail, "Viewer")
	if err != nil {
		return nil, err
	}
	s.link = &openLink{server: s, userID: user.ID, token: source.Token(openLength), to: "/runs/" + f.Run.ID, again: "It works once; run blueprintd open again for another one."}
	row, err := s.store.ImportRun(ctx, blueprint.Principal{UserID: user.ID}, importedRun(f))
	if err != nil {
		return nil, err
	}
	began := clock.Real{}.Now()
	types := project.Catalogue()
	service := &rpc.Service{
		Store: s.store, Runner: frozenRunner{f, row}, Triggers: frozenTriggers{}, Catalogue: types, CheckConfig: project.CheckConfig, IDs: source, APIHost: s.apiHost,
		Frozen: errFrozen, Info: func() rpc.ServerInfo {
			info := s.info(began)
			info.Sandbox = f.Run.Sandbox // the page says so of where the run was
			return info
		},
	}
	s.dashboard = s.newDashboard(service, trpc.NewLimiter(clock.Real{}, 50, 200))
	s.rpc = s.dashboard // it words refusals; API keys open nothing
	return v, nil
}

// importedRun is the run as the database takes it.
func importedRun(f *recording.File) blueprint.ImportedRun {
	x := f.Execution("", "")
	given := blueprint.NewBlueprint{
		Title: f.Blueprint.Title, Description: f.Blueprint.Description, Tags: f.Blueprint.Tags, Variables: f.Blueprint.Variables, Map: f.Blueprint.Map,
	}
	return blueprint.ImportedRun{Blueprint: given, Row: blueprint.ExecutionRow{
		ID: x.ID, BlueprintID: x.BlueprintID, BlueprintVersion: x.BlueprintVersion, TriggerID: x.TriggerID, Status: x.Status,
		CreatedAt: x.CreatedAt, UpdatedAt: x.UpdatedAt, StartTime: x.StartTime, EndTime: x.EndTime,
	}}
}

// run answers until ctx ends; ready is told the address.
func (v *viewer) run(ctx context.Context, ready func(url string) error) (err error) {
	s := v.server
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	stored := make(chan error, 1)
	go func() { stored <- s.store.Run(storing) }()
	serving := s.newHTTP(v.routes())
	ended := make(chan error, 1)
	go func() { ended <- serving.Serve(s.listener) }()
	err = ready(s.link.url())
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
	v.server.mountLink(mux)
	mux.HandleFunc("/", v.server.page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v.server.dashboard.Serves(r) {
			v.server.serveDashboard(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
