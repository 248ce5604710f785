package engine

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// Records stores the runs that a Reader reads.
type Records interface {
	Load(ctx context.Context, id string) (*blueprint.StoredExecution, error)
	DefinitionVersion(ctx context.Context, blueprintID, version string) (*blueprint.Definition, error)
}

// Reader reads stored runs. It runs nothing, and is safe for concurrent use.
type Reader struct {
	programs *programs
	records  Records
	sealer   *secret.Sealer
	limits   Limits
}

// NewReader returns a Reader with the default Limits.
func NewReader(catalogue blueprint.Catalogue, records Records, sealer *secret.Sealer) *Reader {
	return newReader(catalogue, records, sealer, Limits{}.orDefaults())
}

func newReader(catalogue blueprint.Catalogue, records Records, sealer *secret.Sealer, limits Limits) *Reader {
	return &Reader{programs: &programs{catalogue: catalogue, byVersion: map[versionKey]*program{}}, records: records, sealer: sealer, limits: limits}
}

// View returns the redacted record of a run, as far as its journal goes.
func (d *Reader) View(ctx context.Context, execution *blueprint.StoredExecution) (*blueprint.Execution, error) {
	return d.ViewWithin(ctx, execution, d.limits.Record)
}

// ViewWithin is View with at most room bytes of JSON for inputs and outputs of steps.
// Values that do not fit are null, and the run's log says so.
func (d *Reader) ViewWithin(ctx context.Context, execution *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	room = min(room, d.limits.Record)
	if execution.Row.Status.Terminal() && execution.Record != nil {
		return d.viewRecord(execution, room)
	}
	// It may have changed since it was read, or its record is too large for a list.
	stored, err := d.records.Load(ctx, execution.Row.ID)
	if err != nil {
		return nil, err
	}
	if stored.Row.Status.Terminal() {
		return d.viewRecord(stored, room)
	}
	f := &fold{id: stored.Row.ID}
	if err := d.replay(ctx, f, stored); err != nil {
		return nil, err
	}
	return f.view(stored.Row, room), nil
}

func (d *Reader) viewRecord(execution *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	s, err := d.decodeRecord(execution, false)
	if err != nil {
		return nil, err
	}
	s.room = room
	return s.render(&execution.Row), nil
}

// Recording returns a run with everything needed to show it elsewhere: the redacted record,
// exchanges, and how it began. For an unfinished run it returns the content of the journal.
// The map is set only if it differs from the stored one.
func (d *Reader) Recording(ctx context.Context, execution *blueprint.StoredExecution) (*blueprint.Recording, error) {
	stored, err := d.records.Load(ctx, execution.Row.ID)
	if err != nil {
		return nil, err
	}
	if stored.Row.Status.Terminal() {
		s, err := d.decodeRecord(stored, false)
		if err != nil {
			return nil, err
		}
		out := s.recording(&stored.Row)
		if out.Recorded && stored.State != nil {
			whole, err := d.decodeRecord(stored, true)
			if err != nil {
				return nil, err
			}
			out.Exchanges = whole.Exchanges
		}
		return out, nil
	}
	f := &fold{id: stored.Row.ID}
	if err := d.replay(ctx, f, stored); err != nil {
		return nil, err
	}
	row, masker := stored.Row, f.masker.Load()
	row.Status = f.status()
	out := f.newRecord(stored.Row.Status, d.limits.Record).mask(masker).recording(&row)
	out.Exchanges = maskedExchanges(masker, f.exchanges)
	return out, nil
}

// Summary returns the errorSummary of a finished run, and the first request for input of
// a paused one; nil where there is none or it cannot be read. privateTo is that of
// blueprint.Execution, set when there is a problem.
func (d *Reader) Summary(ctx context.Context, execution *blueprint.StoredExecution) (problem *string, awaiting *blueprint.AwaitKind, privateTo string) {
	return d.summary(ctx, execution, d.ViewWithin)
}

func (d *Reader) summary(ctx context.Context, execution *blueprint.StoredExecution, view func(context.Context, *blueprint.StoredExecution, int) (*blueprint.Execution, error)) (problem *string, awaiting *blueprint.AwaitKind, privateTo string) {
	row := &execution.Row
	switch {
	case row.Status == blueprint.StatusPaused:
		view, err := view(ctx, execution, 0)
		if err == nil && view.Status == blueprint.StatusPaused && view.AwaitingInput != nil {
			awaiting = &view.AwaitingInput.Kind
		}
		return nil, awaiting, ""
	case !row.Status.Terminal():
		return nil, nil, ""
	}
	plain, err := d.openRecord(execution)
	if err != nil || row.Status == blueprint.StatusCompleted && !bytes.Contains(plain, failedStep) {
		return nil, nil, ""
	}
	s, err := parseRecord(plain, row)
	if err != nil {
		return nil, nil, ""
	}
	x := &blueprint.Execution{Failure: s.failure(row.Status)}
	x.Status = row.Status
	if summary := s.telemetry(x).ErrorSummary; summary != "" {
		return &summary, nil, s.Begin.privateTo()
	}
	return nil, nil, ""
}

func (d *Reader) openRecord(execution *blueprint.StoredExecution) ([]byte, error) {
	return d.sealer.Open(execution.Record, secret.RecordPlace(execution.Row.ID))
}

// decodeRecord reads the record of a finished run; if truth is set, the unredacted one.
func (d *Reader) decodeRecord(execution *blueprint.StoredExecution, truth bool) (*runRecord, error) {
	var plain []byte
	var err error
	if truth && execution.State != nil {
		plain, err = d.sealer.Open(execution.State, secret.StatePlace(execution.Row.ID))
	} else {
		plain, err = d.openRecord(execution)
	}
	if err != nil {
		return nil, fmt.Errorf("engine: record of %s: %w", execution.Row.ID, err)
	}
	s, err := parseRecord(plain, &execution.Row)
	if err != nil {
		return nil, fmt.Errorf("engine: record of %s: %w", execution.Row.ID, err)
	}
	s.room = d.limits.Record
	return s, nil
}

// replay applies the journal of a stored run to f, of which only the id is set.
func (d *Reader) replay(ctx context.Context, f *fold, stored *blueprint.StoredExecution) error {
	for i, data := range stored.Entries {
		plain, err := d.sealer.Open(data, secret.JournalPlace(f.id))
		if err != nil {
			return fmt.Errorf("engine: journal of %s: %w", f.id, err)
		}
		entry := &entry{details: &details{}} // encoding/json cannot allocate it, because its type is not exported
		if err := blueprint.DecodeInto(plain, entry); err != nil {
			return fmt.Errorf("engine: journal of %s: entry %d is unreadable: %w", f.id, i, err)
		}
		if i > 0 {
			if err := f.validate(entry); err != nil {
				return fmt.Errorf("engine: journal of %s, entry %d: %w", f.id, i, err)
			}
			f.apply(entry)
			continue
		}
		if entry.Kind != entryBegin || entry.Begin == nil {
			return fmt.Errorf("engine: journal of %s does not start with a begin entry", f.id)
		}
		if err := d.rebegin(ctx, f, &stored.Row, entry.Begin); err != nil {
			return err
		}
	}
	if f.begin == nil {
		return fmt.Errorf("engine: journal of %s is empty", f.id)
	}
	return nil
}

// rebegin sets f up from its stored beginning, on the version that it is pinned to.
func (d *Reader) rebegin(ctx context.Context, f *fold, row *blueprint.ExecutionRow, b *begin) error {
	definition, err := d.records.DefinitionVersion(ctx, row.BlueprintID, row.BlueprintVersion)
	if err != nil {
		return err
	}
	p, err := d.programOf(definition, b)
	if err != nil {
		return err
	}
	return f.setUp(p, b, d.limits)
}

// programOf compiles what a stored beginning runs: its own map or the pinned version.
func (d *Reader) programOf(definition *blueprint.Definition, b *begin) (*program, error) {
	if b.Map == nil {
		return d.programs.get(definition)
	}
	adHoc := *definition
	var issues []blueprint.Issue
	if adHoc.Map, issues = blueprint.ParseMap(b.Map); issues != nil {
		return nil, fmt.Errorf("engine: the map of a run of %s is broken: %s", definition.BlueprintID, issues[0].Message)
	}
	return compile(d.programs.catalogue, &adHoc)
}

// View is Reader.View with the current state of a run in memory.
func (e *Engine) View(ctx context.Context, execution *blueprint.StoredExecution) (*blueprint.Execution, error) {
	return e.ViewWithin(ctx, execution, e.limits.Record)
}

// ViewWithin is Reader.ViewWithin with the current state of a run in memory.
func (e *Engine) ViewWithin(ctx context.Context, execution *blueprint.StoredExecution, room int) (*blueprint.Execution, error) {
	if !execution.Row.Status.Terminal() {
		if live := e.liveView(ctx, execution.Row.ID, min(room, e.limits.Record)); live != nil {
			return live, nil
		}
	}
	return e.Reader.ViewWithin(ctx, execution, room)
}

// Summary is Reader.Summary with the current state of a run in memory.
func (e *Engine) Summary(ctx context.Context, execution *blueprint.StoredExecution) (problem *string, awaiting *blueprint.AwaitKind, privateTo string) {
	return e.summary(ctx, execution, e.ViewWithin)
}

// liveViewTimeout is how long, in real time, a view of a running execution waits for a
// commit before it shows the stored state.
const liveViewTimeout = 2 * time.Second

// liveView returns the view of a run in memory, or nil. It shows only durable state,
// because a crash must not undo a step that a client has seen.
func (e *Engine) liveView(ctx context.Context, id string, room int) *blueprint.Execution {
	return liveState(ctx, e, id, func(r *run) *blueprint.Execution { return r.view(r.row, room) })
}

// liveState is liveView for anything that read makes of the run. r.mu is held meanwhile.
func liveState[T any](ctx context.Context, e *Engine, id string, read func(r *run) *T) *T {
	e.mu.Lock()
	live := e.runs[id]
	e.mu.Unlock()
	if live == nil || live.waitLoaded(ctx) != nil {
		return nil
	}
	view, durable := snapshot(live, read)
	if view == nil || durable {
		return view
	}
	flushed := make(chan error, 1)
	go func() { flushed <- live.flush() }()
	patience := time.NewTimer(liveViewTimeout)
	defer patience.Stop()
	select {
	case err := <-flushed:
		if err == nil {
			return view
		}
	case <-patience.C:
	case <-ctx.Done():
	}
	return nil
}

// snapshot returns what read makes of the run, nil if evicted, and whether all of it is durable.
func snapshot[T any](r *run, read func(r *run) *T) (view *T, durable bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.evicted || r.begin == nil {
		return nil, false
	}
	return read(r), len(r.pending) == 0
}

func (r *fold) view(row blueprint.ExecutionRow, room int) *blueprint.Execution {
	account := r.newRecord(row.Status, room).mask(r.masker.Load())
	if !row.Status.Terminal() {
		row.Status = r.status()
	}
	return account.render(&row)
}

func (s *runRecord) render(row *blueprint.ExecutionRow) *blueprint.Execution {
	x := &blueprint.Execution{
		LogID: row.LogID, BlueprintID: row.BlueprintID, BlueprintVersion: row.BlueprintVersion, OrganizationID: row.OrganizationID, UserID: row.UserID, PrivateTo: s.Begin.privateTo(),
		TriggerID: row.TriggerID, FiringID: row.FiringID, ParentExecutionID: row.ParentExecutionID, RetryOf: s.Begin.RetryOf, RetryFrom: s.Begin.From, InputEdited: s.Begin.Edited, OtherNodes: s.Begin.Map != nil,
		CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, InputVariables: s.Begin.Given, InputData: s.Begin.InputData, Outputs: map[string]any{},
	}
	x.ID, x.Status, x.StartTime, x.EndTime, x.TotalSteps = row.ID, row.Status, row.StartTime, row.EndTime, s.topLevelSteps()
	if x.InputVariables == nil {
		x.InputVariables = map[string]any{}
	}
	values := newValues(s)
	if x.Status == blueprint.StatusCompleted {
		x.Output = values.runOutput(s.Ends)
	}
	x.Steps = make([]blueprint.Step, len(s.Steps))
	settled := 0
	for i := range s.Steps {
		at := &s.Steps[i]
		x.Steps[i] = values.step(at)
		if a := s.Awaiting[at.Node]; a != nil {
			x.AwaitingInputs = append(x.AwaitingInputs, a)
		}
		if at.Status == blueprint.StepRunning && (x.CurrentStep == nil || at.In != "" && strings.HasPrefix(at.Node, *x.CurrentStep+"[")) {
			x.CurrentStep = &at.Node // the innermost running node
		}
		if at.In != "" {
			continue
		}
		switch at.Status {
		case blueprint.StepCompleted:
			x.CompletedSteps++
			settled++
			x.Outputs[at.Node] = x.Steps[i].Output
		case blueprint.StepSkipped:
			settled++
		case blueprint.StepFailed:
			x.FailedSteps++
			if at.Output != nil {
				x.Outputs[at.Node] = x.Steps[i].Output
			}
		}
	}
	if len(x.AwaitingInputs) > 0 {
		x.AwaitingInput = x.AwaitingInputs[0]
	}
	x.Progress = min(99, 100*settled/max(1, x.TotalSteps)) // 100 only once the end is durable
	if x.Status == blueprint.StatusCompleted {
		x.Progress = 100
	}
	x.DataSize = s.room - values.room
	x.Failure = s.failure(x.Status)
	x.Telemetry = s.telemetry(x)
	x.Logs = s.fullLog(x, len(values.omitted))
	return x
}

// topLevelSteps counts the steps outside of items.
func (s *runRecord) topLevelSteps() (n int) {
	for i := range s.Steps {
		if s.Steps[i].In == "" {
			n++
		}
	}
	return n
}

// failure returns why a failed run failed, nil for other runs.
func (s *runRecord) failure(status blueprint.Status) *blueprint.RunError {
	switch {
	case status != blueprint.StatusFailed:
		return nil
	case s.Canceled != nil:
		message := "cancelled"
		if *s.Canceled != "" {
			message += ": " + *s.Canceled
		}
		return &blueprint.RunError{Message: message, Code: "cancelled", Displaced: *s.Canceled == blueprint.Displaced}
	}
	for i := range s.Steps {
		if at := &s.Steps[i]; at.Node == s.Failed && at.Error != nil {
			return &blueprint.RunError{NodeID: at.Node, Message: at.Error.Message, Code: at.Error.Code, Hint: at.Error.Hint, Grant: at.Error.Grant}
		}
	}
	return &blueprint.RunError{Message: "failed"}
}

// Watch returns a channel that signals that the run may have changed; several changes
// may be one signal. stop ends it.
func (e *Engine) Watch(id string) (changes <-chan struct{}, stop func()) {
	ch := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.watchers[id] == nil {
		e.watchers[id] = map[chan struct{}]struct{}{}
	}
	e.watchers[id][ch] = struct{}{}
	return ch, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.watchers[id], ch)
		if len(e.watchers[id]) == 0 {
			delete(e.watchers, id)
		}
	}
}

func (e *Engine) changed(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ch := range e.watchers[id] {
		select {
		case ch <- struct{}{}:
		default: // a signal is pending
		}
	}
}

// failedStep is part of every record with a failed step.
var failedStep = []byte(`"s":"` + blueprint.StepFailed + `"`)

func (s *runRecord) telemetry(x *blueprint.Execution) blueprint.Telemetry {
	t := blueprint.NewTelemetry()
	sources := map[string]*blueprint.DataSource{}
	var hosts []string
	var problems []string
	for i := range s.Steps {
		at := &s.Steps[i]
		t.TotalTokensUsed += at.Tokens
		for _, call := range at.Calls {
			source := sources[call.Host]
			if source == nil {
				source = &blueprint.DataSource{Host: call.Host, Statuses: []int{}}
				sources[call.Host] = source
				hosts = append(hosts, call.Host)
			}
			source.Calls++
			if call.Status != 0 && !slices.Contains(source.Statuses, call.Status) {
				source.Statuses = append(source.Statuses, call.Status)
			}
		}
		if at.Status == blueprint.StepFailed {
			t.ErrorCount++
			message := "failed"
			if at.Error != nil {
				message = at.Error.Message
			}
			problems = append(problems, fmt.Sprintf("%s: %s", at.Node, message))
		}
	}
	for _, host := range hosts {
		slices.Sort(sources[host].Statuses)
		t.DataSourcesSummary = append(t.DataSourcesSummary, *sources[host])
	}
	t.ReachedOutForData, t.ExternalDataSourcesCount = len(hosts) > 0, len(hosts)
	s.services(&t)
	t.HasErrors, t.CriticalErrors = t.ErrorCount > 0 || x.Status == blueprint.StatusFailed, x.Status == blueprint.StatusFailed
	if x.Failure != nil && x.Failure.Code == "cancelled" && x.Failure.NodeID == "" {
		problems = []string{x.Failure.Message}
	}
	if len(problems) > 0 {
		summary := strings.Join(problems[:min(3, len(problems))], "; ")
		if more := len(problems) - 3; more > 0 {
			summary += fmt.Sprintf(" (and %d more)", more)
		}
		t.ErrorSummary = summary
	} else if x.Failure != nil {
		t.ErrorSummary = x.Failure.Message
	}
	return t
}

// services adds the connections and MCP servers used.
func (s *runRecord) services(t *blueprint.Telemetry) {
	tokens := map[string]int64{} // by connection to a provider of language models
	addresses := map[string]bool{}
	for i := range s.Steps {
		at := &s.Steps[i]
		for _, u := range at.Uses {
			t.RequiredLogin = t.RequiredLogin || u.SignIn
			if u.Auth != "" && !slices.Contains(t.AuthenticationMethodsUsed, u.Auth) {
				t.AuthenticationMethodsUsed = append(t.AuthenticationMethodsUsed, u.Auth)
			}
			if u.Type == blueprint.ConnectionAIProvider {
				tokens[u.Connection] += at.Tokens
			}
		}
		for _, server := range at.Servers {
			addresses[server.At] = true
			if !slices.Contains(t.MCPServerNames, server.Name) {
				t.MCPServerNames = append(t.MCPServerNames, server.Name)
			}
		}
		t.RequiredLogin = t.RequiredLogin || at.SignIn
		t.OAuthFlowsTriggered = t.OAuthFlowsTriggered || at.SignIn
	}
	slices.Sort(t.AuthenticationMethodsUsed)
	t.MCPServerCount, t.UsedMCPServers = len(addresses), len(addresses) > 0
	t.AIProvidersUsedCount = len(tokens)
	for _, connection := range slices.Sorted(maps.Keys(tokens)) {
		if primary := t.PrimaryAIProviderConnectionID; primary == "" || tokens[connection] > tokens[primary] {
			t.PrimaryAIProviderConnectionID = connection
		}
	}
}

// fullLog returns the lines written by nodes together with the lifecycle lines, which
// follow from the steps and are not stored.
func (s *runRecord) fullLog(x *blueprint.Execution, left int) []blueprint.LogEntry {
	logs := make([]blueprint.LogEntry, 0, 3+len(s.Logs)+2*len(x.Steps))
	add := func(at blueprint.Time, level string, node *string, message string) {
		logs = append(logs, blueprint.LogEntry{Timestamp: at, Level: level, NodeID: node, Message: message})
	}
	add(x.StartTime, "info", nil, "the run started")
	logs = append(logs, s.Logs...)
	for i := range x.Steps {
		at := &x.Steps[i]
		switch {
		case at.EndTime != 0 && at.EndTime < x.StartTime: // logged by the retried run
		case at.Status == blueprint.StepCompleted && at.DurationMs != nil:
			add(at.EndTime, "info", &at.NodeID, fmt.Sprintf("completed in %d ms", *at.DurationMs))
		case at.Status == blueprint.StepFailed && at.Error != nil:
			add(at.EndTime, "error", &at.NodeID, "failed: "+at.Error.Message)
		}
		if a := s.Awaiting[at.NodeID]; a != nil {
			add(a.RequestedAt, "info", &at.NodeID, fmt.Sprintf("waits for input (%s)", a.Kind))
		}
	}
	switch x.Status {
	case blueprint.StatusCompleted:
		add(x.EndTime, "info", nil, "the run completed")
	case blueprint.StatusFailed:
		add(x.EndTime, "error", nil, "the run failed: "+x.Failure.Message)
	}
	if left > 0 {
		add(x.UpdatedAt, "warn", nil, fmt.Sprintf("the record is too large to show all of it: inputs or outputs of %d nodes are left out", left))
	}
	slices.SortStableFunc(logs, func(a, b blueprint.LogEntry) int { return int(a.Timestamp - b.Timestamp) })
	return logs
}
