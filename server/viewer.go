package server

import (
	"context"
	"errors"
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
	"blueprintd/triggers/explain"
)

// viewer shows a run from a file in the dashboard, only to this machine. It has a database
// in memory, and neither an engine nor triggers.
type viewer struct {
	*site // its link opens the run
}

// ViewerEmail is the address of the viewer's user.
const ViewerEmail = "viewer@localhost"

// NewViewer returns a viewer that listens on address.
func NewViewer(ctx context.Context, version, schema, address string, f *recording.File, log io.Writer) (_ *viewer, err error) {
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))
	source := ids.New(nil)
	s := &site{IDs: source, Options: Options{Database: Database{Schema: schema, Ephemeral: true}, Limits: Limits{MaxBody: 5 << 20}, Network: Network{Addr: address}, Version: version, Clock: clock.Real{}, Logger: logger}}
	s.begin()
	if s.Listener, err = listen(address); err != nil {
		return nil, cannotListen("--addr", address, err)
	}
	s.opened.add(s.Listener.Close)
	defer func() {
		if err != nil {
			err = errors.Join(err, s.opened.close())
		}
	}()
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		return nil, err
	}
	if s.Store, err = store.Open(ctx, store.Options{Ephemeral: true, Schema: schema, Sealer: sealer, Clock: clock.Real{}, IDs: source, Logger: logger}); err != nil {
		return nil, err
	}
	s.opened.add(s.Store.Close)
	s.Accounts = accounts.New(accounts.Options{Store: s.Store, Clock: clock.Real{}, IDs: source, Sealer: sealer})
	v := &viewer{s}
	user, err := s.Store.CreateUser(ctx, ViewerEmail, "Viewer")
	if err != nil {
		return nil, err
	}
	s.Link = &openLink{server: s, UserID: user.ID, Token: source.Token(openLength), to: "/runs/" + f.Run.ID, again: "It works once; run blueprintd open again for another one."}
	row, err := s.Store.ImportRun(ctx, blueprint.Principal{UserID: user.ID}, importedRun(f))
	if err != nil {
		return nil, err
	}
	began := clock.Real{}.Now()
	types := project.Catalogue()
	service := rpc.New(rpc.Options{
		Store: s.Store, Runner: frozenRunner{file: f, row: row}, Triggers: frozenTriggers{}, Catalogue: types, CheckConfig: project.CheckConfig, IDs: source, APIHost: s.APIHost,
		Explain: func(story *blueprint.FiringStory) *blueprint.Explanation {
			return explain.Firing(story, clock.Real{}.Now())
		},
		Frozen: errFrozen, Info: func() rpc.ServerInfo {
			info := s.info(began)
			info.Sandbox = f.Run.Sandbox // of the server where the run was
			return info
		},
	})
	s.Dashboard = s.newDashboard(service.Procedures(), trpc.NewLimiter(clock.Real{}, 50, 200))
	s.RPC = s.Dashboard // only for errors: there are no API keys
	return v, nil
}

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

// Run serves until ctx ends. It calls ready with the URL to visit.
func (v *viewer) Run(ctx context.Context, ready func(url string) error) (err error) {
	s := v.site
	storing, stop := context.WithCancel(context.WithoutCancel(ctx))
	stored := make(chan error, 1)
	go func() { stored <- s.Store.Run(storing) }()
	serving := s.newHTTP(v.routes())
	ended := make(chan error, 1)
	go func() { ended <- serving.Serve(s.Listener) }()
	err = ready(s.Link.URL())
	if err == nil {
		select {
		case <-ctx.Done():
		case err = <-ended:
		}
	}
	close(s.Draining)
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if serving.Shutdown(patience) != nil {
		serving.Close() // a browser may keep a subscription open
	}
	stop()
	if failed := <-stored; err == nil {
		err = failed
	}
	if failed := s.Store.Close(); err == nil {
		err = failed
	}
	return err
}

func (v *viewer) routes() http.Handler {
	mux := http.NewServeMux()
	v.mountLink(mux)
	mux.HandleFunc("/", v.page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v.Dashboard.Serves(r) {
			v.serveDashboard(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// errFrozen is the error of every mutation.
var errFrozen = blueprint.Errorf(blueprint.CodeForbidden, "this only shows a run from a file: nothing can be changed or started here")

// frozenRunner shows the run of a file. Options.Frozen refuses the mutations of rpc.Runner
// before they reach the nil interface.
type frozenRunner struct {
	rpc.Runner
	file *recording.File
	row  blueprint.ExecutionRow
}

func (r frozenRunner) execution() *blueprint.Execution {
	x := r.file.Execution(r.row.OrganizationID, r.row.UserID)
	x.LogID = r.row.LogID
	return x
}

func (r frozenRunner) View(_ context.Context, stored *blueprint.StoredExecution) (*blueprint.Execution, error) {
	if stored.Row.ID != r.row.ID {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "there is no execution %s", stored.Row.ID)
	}
	return r.execution(), nil
}

func (r frozenRunner) ViewWithin(ctx context.Context, stored *blueprint.StoredExecution, _ int) (*blueprint.Execution, error) {
	return r.View(ctx, stored)
}

func (r frozenRunner) Summary(context.Context, *blueprint.StoredExecution) (problem *string, awaiting *blueprint.AwaitKind, privateTo string) {
	var kind *blueprint.AwaitKind
	if asked := r.file.Run.AwaitingInput; asked != nil {
		kind = &asked.Kind
	}
	if summary := r.file.Run.Telemetry.ErrorSummary; summary != "" {
		return &summary, kind, ""
	}
	return nil, kind, ""
}

func (r frozenRunner) Recording(ctx context.Context, stored *blueprint.StoredExecution) (*blueprint.Recording, error) {
	x, err := r.View(ctx, stored)
	if err != nil {
		return nil, err
	}
	out := &blueprint.Recording{Execution: x, Handles: r.file.Run.Handles}
	if from := r.file.Run.Trigger; from != nil {
		out.Trigger = &blueprint.TriggerContext{ID: from.ID, Type: from.Type, Headers: from.Headers}
	}
	if tape := r.file.Cassette; tape != nil {
		out.Recorded, out.Exchanges = true, tape.Exchanges
		for id, c := range tape.Connections {
			out.Connections = append(out.Connections, blueprint.UsedConnection{ID: id, Type: c.Type})
		}
	}
	return out, nil
}

// Watch implements rpc.Runner. A run of a file does not change.
func (r frozenRunner) Watch(string) (<-chan struct{}, func()) { return nil, func() {} }

// frozenTriggers never fire. Preview is the only query of rpc.Triggers; the mutations are
// refused by Options.Frozen before they reach the nil interface.
type frozenTriggers struct{ rpc.Triggers }

func (frozenTriggers) Preview(string, string, int) ([]string, error) { return nil, errFrozen }
