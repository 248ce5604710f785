package main

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/engine/nodes"
	"blueprintd/engine/nodes/mcp"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/secret"
	"blueprintd/project"
)

// localRun is a run without a server: of a file, of a test, or of a run that is
// repeated. Its journal is in memory.
type localRun struct {
	definition *blueprint.Definition
	others     map[string]*blueprint.Definition // that its nodes run, by id
	variables  map[string]any
	input      any
	trigger    *blueprint.TriggerContext

	clock   clock.Clock // a virtual one moves by itself
	ids     *ids.Source
	version string // of the program, told to MCP servers
	scripts *script.Pool
	errors  io.Writer // what goes wrong in the machine

	allow       []netip.Prefix
	instead     outbound.Network // nil = the network itself
	wrap        func(*blueprint.NodeType) *blueprint.NodeType
	connections engine.Connections                        // nil = there are none
	connect     func(*outbound.Client) engine.Connections // makes them; may be nil
	emit        func(context.Context, blueprint.Event) (int, error)
	record      bool
	// halts keeps a virtual clock from moving on once the run is paused; without
	// it what expires does.
	halts bool
	show  func(*blueprint.Execution) // is told how far it is; may be nil
}

// run runs it until it ends or pauses. The end of ctx cancels the run, which then
// ends as failed. Errors are those of engine.Start, and the machine's.
func (l *localRun) run(ctx context.Context) (*blueprint.Recording, error) {
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		return nil, err
	}
	way := outbound.New(outbound.Options{Allow: l.allow, Instead: l.instead})
	catalogue := project.CatalogueOf(nodes.Dependencies{HTTP: way, MCP: mcp.New(way, l.version), Scripts: l.scripts, Clock: l.clock})
	if l.wrap != nil {
		for name, kind := range catalogue {
			catalogue[name] = l.wrap(kind)
		}
	}
	opener := l.connections
	if l.connect != nil {
		opener = l.connect(way)
	}
	journal := newMemoryJournal(l.definition, l.others)
	options := engine.Options{
		Catalogue: catalogue, Journal: journal, Clock: l.clock, IDs: l.ids, Sealer: sealer, Connections: opener, Emit: l.emit,
		Logger: slog.New(slog.NewTextHandler(l.errors, &slog.HandlerOptions{Level: slog.LevelError})), Drain: time.Second,
	}
	if len(l.others) > 0 {
		options.Blueprints = journal
	}
	virtual, _ := l.clock.(*clock.Virtual)
	if virtual != nil && l.ids.IsSeeded() {
		options.Turn = virtual.Turn
	}
	runner := engine.New(options)
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended, ready := make(chan error, 1), make(chan struct{})
	go func() { ended <- runner.Run(working, func() { close(ready) }) }()
	<-ready
	recording, err := l.follow(ctx, runner, journal, virtual)
	stop()
	if ended := <-ended; err == nil {
		err = ended
	}
	return recording, err
}

// follow starts the run and waits for it.
func (l *localRun) follow(ctx context.Context, runner *engine.Engine, journal *memoryJournal, virtual *clock.Virtual) (*blueprint.Recording, error) {
	whole := context.WithoutCancel(ctx)
	handle, err := runner.Start(&blueprint.StartRequest{
		Definition: l.definition, Principal: blueprint.Principal{UserID: l.ids.Stream("user").UUID()}, CanManage: true,
		Variables: l.variables, InputData: l.input, Trigger: l.trigger, Record: l.record,
	}, engine.AtEnd)
	if err != nil {
		return nil, err
	}
	changes, stop := runner.Watch(handle.ID)
	defer stop()
	rested := make(chan error, 1)
	go func() {
		if virtual != nil {
			rested <- l.moveOn(whole, virtual, journal, handle.ID)
			return
		}
		_, err := handle.Wait(whole)
		rested <- err
	}()
	for interrupted := ctx.Done(); ; {
		select {
		case <-changes:
			if l.show != nil {
				l.show(soFar(whole, runner, journal, handle.ID))
			}
		case <-interrupted:
			interrupted = nil
			if err := runner.Cancel(whole, handle.ID, "interrupted"); err != nil && blueprint.CodeOf(err) != blueprint.CodeConflict {
				return nil, err
			}
		case err := <-rested:
			if err != nil {
				return nil, err
			}
			return l.recording(whole, runner, journal, handle.ID)
		}
	}
}

// soFar tells how far a run is.
func soFar(ctx context.Context, runner *engine.Engine, journal *memoryJournal, id string) *blueprint.Execution {
	stored, err := journal.Load(ctx, id)
	if err != nil { // at work, and nothing of it stored yet
		stored = &blueprint.StoredExecution{Row: blueprint.ExecutionRow{ID: id, Status: blueprint.StatusRunning}}
	}
	view, err := runner.View(ctx, stored)
	if err != nil {
		return nil
	}
	return view
}

// moveOn moves a virtual clock from one instant at which something is due to the
// next, each time that all is at rest, until nothing is due any more.
func (l *localRun) moveOn(ctx context.Context, v *clock.Virtual, journal *memoryJournal, id string) error {
	for {
		if err := v.Advance(ctx, v.Now()); err != nil {
			return err
		}
		stored, err := journal.Load(ctx, id)
		if err == nil && (stored.Row.Status.Terminal() || l.halts && stored.Row.Status == blueprint.StatusPaused) {
			return nil
		}
		next, more := v.Next()
		if !more {
			return nil
		}
		if err := v.Advance(ctx, next); err != nil {
			return err
		}
	}
}

// recording gives what came of the run, with what the runs that it started
// exchanged, and the connections that they opened.
func (l *localRun) recording(ctx context.Context, runner *engine.Engine, journal *memoryJournal, id string) (*blueprint.Recording, error) {
	stored, err := journal.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	out, err := runner.Recording(ctx, stored)
	if err != nil {
		return nil, err
	}
	for _, other := range journal.ids() {
		if other == id {
			continue
		}
		stored, err := journal.Load(ctx, other)
		if err != nil {
			return nil, err
		}
		below, err := runner.Recording(ctx, stored)
		if err != nil {
			return nil, err
		}
		out.Exchanges = append(out.Exchanges, below.Exchanges...)
		out.Connections = append(out.Connections, below.Connections...)
	}
	slices.SortStableFunc(out.Exchanges, func(a, b blueprint.Exchange) int { return cmp.Compare(a.At, b.At) })
	return out, nil
}
