// Package local runs a blueprint in this process, without a server: its journal is in
// memory, and its connections come from a file or are stubs that reach nothing real.
package local

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

// Run is a run without a server: of a file, of a test, or of a run that is
// repeated. Its journal is in memory.
type Run struct {
	Definition *blueprint.Definition
	Others     map[string]*blueprint.Definition // that its nodes run, by id
	Variables  map[string]any
	Input      any
	Trigger    *blueprint.TriggerContext

	Clock   clock.Clock // a virtual one moves by itself
	IDs     *ids.Source
	Version string // of the program, told to MCP servers
	Scripts *script.Pool
	Errors  io.Writer // what goes wrong in the machine

	Allow       []netip.Prefix
	Instead     outbound.Network // nil = the network itself
	Wrap        func(*blueprint.NodeType) *blueprint.NodeType
	Connections engine.Connections                        // nil = there are none
	Connect     func(*outbound.Client) engine.Connections // makes them; may be nil
	Emit        func(context.Context, blueprint.Event) (int, error)
	Record      bool
	// halts keeps a virtual clock from moving on once the run is paused; without
	// it what expires does.
	Halts bool
	Show  func(*blueprint.Execution) // is told how far it is; may be nil
}

// Do runs it until it ends or pauses. The end of ctx cancels the run, which then
// ends as failed. Errors are those of engine.Start, and the machine's.
func (l *Run) Do(ctx context.Context) (*blueprint.Recording, error) {
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		return nil, err
	}
	way := outbound.New(outbound.Options{Allow: l.Allow, Network: l.Instead})
	catalogue := project.CatalogueOf(nodes.Dependencies{HTTP: way, MCP: mcp.New(way, l.Version), Scripts: l.Scripts, Clock: l.Clock})
	if l.Wrap != nil {
		for name, kind := range catalogue {
			catalogue[name] = l.Wrap(kind)
		}
	}
	opener := l.Connections
	if l.Connect != nil {
		opener = l.Connect(way)
	}
	journal := newMemoryJournal(l.Definition, l.Others)
	options := engine.Options{
		Catalogue: catalogue, Journal: journal, Clock: l.Clock, IDs: l.IDs, Sealer: sealer, Connections: opener, Emit: l.Emit,
		Logger: slog.New(slog.NewTextHandler(l.Errors, &slog.HandlerOptions{Level: slog.LevelError})), Drain: time.Second,
	}
	if len(l.Others) > 0 {
		options.Blueprints = journal
	}
	virtual, _ := l.Clock.(*clock.Virtual)
	if virtual != nil && l.IDs.IsSeeded() {
		options.Schedule = virtual.WhenIdle
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
func (l *Run) follow(ctx context.Context, runner *engine.Engine, journal *memoryJournal, virtual *clock.Virtual) (*blueprint.Recording, error) {
	whole := context.WithoutCancel(ctx)
	handle, err := runner.Start(&blueprint.StartRequest{
		Definition: l.Definition, Principal: blueprint.Principal{UserID: l.IDs.Stream("user").UUID()}, CanManage: true,
		Variables: l.Variables, InputData: l.Input, Trigger: l.Trigger, Record: l.Record,
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
			if l.Show != nil {
				l.Show(soFar(whole, runner, journal, handle.ID))
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
func (l *Run) moveOn(ctx context.Context, v *clock.Virtual, journal *memoryJournal, id string) error {
	for {
		if err := v.Advance(ctx, v.Now()); err != nil {
			return err
		}
		stored, err := journal.Load(ctx, id)
		if err == nil && (stored.Row.Status.Terminal() || l.Halts && stored.Row.Status == blueprint.StatusPaused) {
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

// recording returns what came of the run, with what the runs that it started
// exchanged, and the connections that they opened.
func (l *Run) recording(ctx context.Context, runner *engine.Engine, journal *memoryJournal, id string) (*blueprint.Recording, error) {
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
