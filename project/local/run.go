// Package local runs a blueprint in this process without a server. The journal is in
// memory. Connections come from a file, or are stubs that reach no real service.
package local

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"sync"
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

// Run is a run of a file, a test or a recording.
type Run struct {
	Definition *blueprint.Definition
	Others     map[string]*blueprint.Definition // blueprints that its nodes run, by id
	Variables  map[string]any
	Input      any
	Trigger    *blueprint.TriggerContext

	Clock   clock.Clock // a virtual one advances by itself
	IDs     *ids.Source
	Version string // of the program, sent to MCP servers
	Scripts *script.Pool
	Errors  io.Writer // receives the errors in the engine's log

	Allow       []netip.Prefix
	Instead     outbound.Network // nil for the real network
	Wrap        func(*blueprint.NodeType) *blueprint.NodeType
	Connections engine.Connections                        // nil for none
	Connect     func(*outbound.Client) engine.Connections // replaces Connections; may be nil
	Emit        func(context.Context, blueprint.Event) (int, error)
	Record      bool
	Halts       bool                       // stop a virtual clock once the run is paused
	Room        int                        // bytes that the run and those that it starts may keep; 0 = no limit
	Show        func(*blueprint.Execution) // called with the progress; may be nil
	// Ask returns the answer to a question of a paused run. problem is the reason for which
	// the previous answer was refused, "" for none. The run stays paused if there is no
	// answer, and if Ask is nil.
	Ask func(ctx context.Context, asked *blueprint.AwaitingInput, problem string) (answer any, answered bool)
}

// Do runs the blueprint until it ends or pauses. The end of ctx cancels the run, which
// then fails. Errors are those of engine.Start and of the engine itself.
func (l *Run) Do(ctx context.Context) (*blueprint.Recording, error) {
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		return nil, err
	}
	client := outbound.New(outbound.Options{Allow: l.Allow, Network: l.Instead})
	defer client.Close()
	catalogue := project.CatalogueOf(nodes.Dependencies{HTTP: client, MCP: mcp.New(client, l.Version), Scripts: l.Scripts, Clock: l.Clock})
	if l.Wrap != nil {
		for name, kind := range catalogue {
			catalogue[name] = l.Wrap(kind)
		}
	}
	opener := l.Connections
	if l.Connect != nil {
		opener = l.Connect(client)
	}
	journal := &memoryJournal{
		definition: l.Definition, others: l.Others, runs: map[string]*blueprint.StoredExecution{}, changed: make(chan struct{}, 1),
		room: l.Room, full: make(chan struct{}),
	}
	options := engine.Options{
		Catalogue: catalogue, Journal: journal, Clock: l.Clock, IDs: l.IDs, Sealer: sealer, Connections: opener, Emit: l.Emit, Link: noLink,
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

// follow starts the run and waits for its end.
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
	asks := l.Ask != nil
	rested := make(chan error, 1)
	await := func(rest func() error) { go func() { rested <- rest() }() }
	next := func() error {
		switch {
		case virtual != nil:
			return advance(whole, virtual, journal, handle.ID, l.Halts, asks)
		case l.Ask != nil:
			journal.rest(handle.ID, asks)
			return nil
		}
		_, err := handle.Wait(whole)
		return err
	}
	await(next)
	full := journal.full
	for interrupted := ctx.Done(); ; {
		select {
		case <-full:
			full = nil
			reason := fmt.Sprintf("the run and those that it started keep more than %d KiB; use less data or fewer items", l.Room>>10)
			if err := cancel(whole, runner, handle.ID, reason); err != nil {
				return nil, err
			}
		case <-changes:
			if l.Show != nil {
				l.Show(progress(whole, runner, journal, handle.ID))
			}
		case <-interrupted:
			interrupted = nil
			if err := cancel(whole, runner, handle.ID, interruption); err != nil {
				return nil, err
			}
		case err := <-rested:
			if err != nil {
				return nil, err
			}
			if !asks {
				return l.recording(whole, runner, journal, handle.ID)
			}
			if asks, err = l.answer(ctx, runner, journal, handle.ID); err != nil {
				return nil, err
			}
			if ctx.Err() != nil { // interrupted while it asked
				interrupted = nil
				if err := cancel(whole, runner, handle.ID, interruption); err != nil {
					return nil, err
				}
			}
			await(next)
		}
	}
}

// noLink returns an address that leads nowhere: without a server there are no approval links,
// and nodes that send one still run.
func noLink(_, questionAddress, _ string) (link, secret string) {
	return "https://local.invalid/answer/" + url.PathEscape(questionAddress), ""
}

// interruption is the reason for cancelling a run at the end of a context.
const interruption = "interrupted"

// cancel cancels the run unless it has ended.
func cancel(ctx context.Context, runner *engine.Engine, id, reason string) error {
	if err := runner.Cancel(ctx, id, reason); err != nil && blueprint.CodeOf(err) != blueprint.CodeConflict {
		return err
	}
	return nil
}

// answer asks for what the run, or one that it started, waits for. It reports whether there
// was an answer.
func (l *Run) answer(ctx context.Context, runner *engine.Engine, journal *memoryJournal, main string) (bool, error) {
	whole := context.WithoutCancel(ctx)
	id, asked := question(whole, runner, journal)
	if asked == nil {
		return false, nil
	}
	if l.Show != nil {
		l.Show(progress(whole, runner, journal, main))
	}
	for problem := ""; ; {
		input, answered := l.Ask(ctx, asked, problem)
		if !answered {
			return false, nil
		}
		err := runner.Resume(whole, blueprint.ResumeAnswer{ExecutionID: id, NodeID: asked.NodeID, Input: input, CanManage: true})
		switch {
		case err == nil || blueprint.CodeOf(err) == blueprint.CodeConflict: // it has expired in the meantime
			return true, nil
		case blueprint.CodeOf(err) != blueprint.CodeBadRequest:
			return false, err
		}
		problem = project.MessageOf(err)
	}
}

// question returns the first question for a user of a paused run, nil if there is none.
func question(ctx context.Context, runner *engine.Engine, journal *memoryJournal) (id string, asked *blueprint.AwaitingInput) {
	for _, id := range journal.paused() {
		x := progress(ctx, runner, journal, id)
		if x == nil {
			continue
		}
		for _, asked := range x.AwaitingInputs {
			if asked.Kind == blueprint.AwaitHuman || asked.Kind == blueprint.AwaitApproval {
				return id, asked
			}
		}
	}
	return "", nil
}

// progress returns the current state of a run, nil if it is unknown.
func progress(ctx context.Context, runner *engine.Engine, journal *memoryJournal, id string) *blueprint.Execution {
	stored, err := journal.Load(ctx, id)
	if err != nil { // nothing is stored yet
		stored = &blueprint.StoredExecution{Row: blueprint.ExecutionRow{ID: id, Status: blueprint.StatusRunning}}
	}
	view, err := runner.View(ctx, stored)
	if err != nil {
		return nil
	}
	return view
}

// advance moves a virtual clock to the next timer whenever the run is idle, until the run
// ends, no timer is left or, with halts, the run is paused; with asks, also until one that
// it started is paused.
func advance(ctx context.Context, v *clock.Virtual, journal *memoryJournal, id string, halts, asks bool) error {
	for {
		if err := v.Advance(ctx, v.Now()); err != nil {
			return err
		}
		stored, err := journal.Load(ctx, id)
		if err == nil && (stored.Row.Status.Terminal() || halts && stored.Row.Status == blueprint.StatusPaused || asks && len(journal.paused()) > 0) {
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

// recording returns the recording of the run, including the exchanges and connections of
// the runs that it started.
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

type memoryJournal struct {
	definition *blueprint.Definition
	others     map[string]*blueprint.Definition // by id
	mu         sync.Mutex
	runs       map[string]*blueprint.StoredExecution
	order      []string      // the ids of the runs in the order of their first commit
	changed    chan struct{} // signals commits; several may be one signal
	size       int           // bytes of runs
	room       int           // for size; 0 = no limit
	overflowed bool
	full       chan struct{} // closed when size is above room for the first time
}

func sizeOf(entries [][]byte) (size int) {
	for _, entry := range entries {
		size += len(entry)
	}
	return size
}

// ids returns the ids of the runs in the order of their first commit.
func (j *memoryJournal) ids() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.order)
}

// paused returns the ids of the paused runs, in the order of ids.
func (j *memoryJournal) paused() (list []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, id := range j.order {
		if j.runs[id].Row.Status == blueprint.StatusPaused {
			list = append(list, id)
		}
	}
	return list
}

// rest waits until a run has ended or is paused; with asks, also until one that it started
// is paused. Only one caller may wait at a time.
func (j *memoryJournal) rest(id string, asks bool) {
	for {
		j.mu.Lock()
		stored := j.runs[id]
		rests := stored != nil && stored.Row.Status != blueprint.StatusRunning
		j.mu.Unlock()
		if rests || asks && len(j.paused()) > 0 {
			return
		}
		<-j.changed
	}
}

func (j *memoryJournal) Runnable(_ context.Context, _, id string) (*blueprint.Definition, bool, error) {
	if definition := j.others[id]; definition != nil {
		return definition, true, nil
	}
	return nil, false, blueprint.Errorf(blueprint.CodeNotFound, "there is no blueprint %s here", id)
}

func (j *memoryJournal) Commit(_ context.Context, c *blueprint.JournalCommit) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	stored := j.runs[c.Row.ID]
	if stored == nil {
		stored = &blueprint.StoredExecution{}
		j.runs[c.Row.ID] = stored
		j.order = append(j.order, c.Row.ID)
	}
	stored.Row = c.Row
	stored.Entries = append(stored.Entries, c.Entries...)
	j.size += sizeOf(c.Entries)
	if c.Row.Status.Terminal() {
		j.size += len(c.Record) + len(c.State) - sizeOf(stored.Entries)
		stored.Record, stored.State, stored.Entries = c.Record, c.State, nil
	}
	if j.room > 0 && j.size > j.room && !j.overflowed {
		j.overflowed = true
		close(j.full)
	}
	select {
	case j.changed <- struct{}{}:
	default: // a signal is pending
	}
	return nil
}

// Load returns a copy of a stored run.
func (j *memoryJournal) Load(_ context.Context, id string) (*blueprint.StoredExecution, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	stored := j.runs[id]
	if stored == nil {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "no execution %s", id)
	}
	out := *stored
	out.Entries = slices.Clone(stored.Entries)
	return &out, nil
}

func (j *memoryJournal) Unfinished(context.Context) ([]blueprint.ExecutionRow, error) {
	return nil, nil
}

// DefinitionVersion returns the blueprint with an id; there is one version of each.
func (j *memoryJournal) DefinitionVersion(_ context.Context, id, _ string) (*blueprint.Definition, error) {
	if other := j.others[id]; other != nil {
		return other, nil
	}
	return j.definition, nil
}
