package triggers

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
)

// begin is where the clocks of the tests start.
var begin = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const (
	creator  = "11111111-1111-4111-8111-111111111111"
	stranger = "22222222-2222-4222-8222-222222222222"
)

// memory is a store and a runner in one: what is started is on the "disk" when
// Accepted returns.
type memory struct {
	mu       sync.Mutex
	bindings map[string]*blueprint.Binding
	recent   map[string]*blueprint.Binding // what is known of generation 1
	order    []string
	cursors  map[string]blueprint.Time
	rows     []blueprint.Firing
	events   []blueprint.Event
	readings []int64                   // of the schedules: since which generation
	requests []*blueprint.StartRequest // of runs that exist
	patience []time.Duration

	// refuse, when set, may fail a start or a write of rows. It is called with
	// what was to be stored.
	refuse func(firing *blueprint.Firing) error
	// refuseStart fails Start itself, as a full queue does.
	refuseStart func(request *blueprint.StartRequest) error
	readError   error
	outbox      []blueprint.OutboxEvent
	keepEvents  error // what RemoveEvents fails with
	commits     int   // how often it was called
	claims      map[string]bool
	// result makes the run of a request; nil is one that has ended.
	result func(request *blueprint.StartRequest) *fakeRun
}

func newMemory() *memory {
	return &memory{bindings: map[string]*blueprint.Binding{}, cursors: map[string]blueprint.Time{}, claims: map[string]bool{}}
}

// trigger makes an active trigger with a new id.
func (m *memory) trigger(kind blueprint.TriggerType, config map[string]any, cursor time.Time) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	id := fmt.Sprintf("00000000-0000-4000-8000-%012x", len(m.order)+1)
	m.order = append(m.order, id)
	m.cursors[id] = blueprint.TimeOf(cursor)
	m.bindings[id] = &blueprint.Binding{
		Trigger:    blueprint.Trigger{ID: id, BlueprintID: "b", Type: kind, Config: config, IsActive: true, CreatedBy: creator},
		Definition: &blueprint.Definition{BlueprintID: "b", Version: "1.0.0"}, Principal: blueprint.Principal{UserID: creator}, CanManage: true, Member: true,
	}
	return id
}

// change replaces a binding by a changed copy.
func (m *memory) change(id string, f func(b *blueprint.Binding)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := *m.bindings[id]
	b.Trigger.Config = maps.Clone(b.Trigger.Config)
	f(&b)
	m.bindings[id] = &b
}

// edit changes a config as the store does: a new schedule begins now.
func (m *memory) edit(id string, now time.Time, config map[string]any) {
	m.change(id, func(b *blueprint.Binding) { b.Trigger.Config = config })
	m.mu.Lock()
	m.cursors[id] = max(m.cursors[id], blueprint.TimeOf(now))
	m.mu.Unlock()
}

func (m *memory) remove(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.bindings, id)
}

func (m *memory) Binding(_ context.Context, id string) (*blueprint.Binding, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readError != nil {
		return nil, m.readError
	}
	if b, ok := m.bindings[id]; ok {
		return b, nil
	}
	return nil, blueprint.Errorf(blueprint.CodeNotFound, "trigger %s not found", id)
}

// RecentBinding returns what a test has put into recent, of generation 1, else
// what Binding gives.
func (m *memory) RecentBinding(ctx context.Context, id string) (*blueprint.Binding, int64, error) {
	m.mu.Lock()
	old := m.recent[id]
	m.mu.Unlock()
	if old != nil {
		return old, 1, nil
	}
	b, err := m.Binding(ctx, id)
	return b, 0, err
}

func (m *memory) GetTrigger(ctx context.Context, principal blueprint.Principal, id string) (blueprint.Trigger, error) {
	b, err := m.Binding(ctx, id)
	if err != nil {
		return blueprint.Trigger{}, err
	}
	if principal.UserID == stranger {
		return blueprint.Trigger{}, blueprint.Errorf(blueprint.CodeForbidden, "not yours")
	}
	return b.Trigger, nil
}

// Schedules returns all that were ever made, whatever changed.
func (m *memory) Schedules(_ context.Context, since int64) (list []blueprint.Schedule, generation int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readError != nil {
		return nil, 0, m.readError
	}
	m.readings = append(m.readings, since)
	for _, id := range m.order {
		if b := m.bindings[id]; b == nil {
			list = append(list, blueprint.Schedule{Trigger: blueprint.Trigger{ID: id}})
		} else if b.Trigger.Type == blueprint.TriggerScheduled {
			list = append(list, blueprint.Schedule{Trigger: b.Trigger, Cursor: m.cursors[id]})
		}
	}
	return list, since + 1, nil
}

func (m *memory) SchedulesAfter(_ context.Context, last int64, limit int) (page []blueprint.Schedule, next int64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readError != nil {
		return nil, last, m.readError
	}
	for next = last; int(next) < len(m.order) && len(page) < limit; next++ {
		id := m.order[next]
		if b := m.bindings[id]; b != nil && b.Trigger.Type == blueprint.TriggerScheduled && b.Trigger.IsActive {
			page = append(page, blueprint.Schedule{Trigger: b.Trigger, Cursor: m.cursors[id], OrganizationID: b.Definition.OrganizationID})
		}
	}
	return page, next, nil
}

func (m *memory) RecordFirings(_ context.Context, id string, firings []blueprint.Firing, cursor blueprint.Time, events ...blueprint.Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range firings {
		if m.refuse != nil {
			if err := m.refuse(&firings[i]); err != nil {
				return err
			}
		}
	}
	m.rows = append(m.rows, firings...)
	m.events = append(m.events, events...)
	m.cursors[id] = max(m.cursors[id], cursor)
	return nil
}

func (m *memory) Listeners(_ context.Context, organization, event string) (list []string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, id := range m.order {
		if b := m.bindings[id]; b != nil && b.Trigger.Type == blueprint.TriggerEvent && b.Trigger.IsActive && b.Trigger.Config["event"] == event && b.Definition.OrganizationID == organization {
			list = append(list, id)
		}
	}
	return list, m.readError
}

func (m *memory) Events(_ context.Context, after int64, limit int) (list []blueprint.OutboxEvent, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.outbox {
		if e.Seq > after && len(list) < limit {
			list = append(list, e)
		}
	}
	return list, m.readError
}

// NextEvents gives each organization the same share, but for what is left over.
func (m *memory) NextEvents(_ context.Context, after map[string]int64, limit int) (list []blueprint.OutboxEvent, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := map[string][]blueprint.OutboxEvent{}
	for _, e := range m.outbox {
		if e.Seq > after[e.OrganizationID] {
			of[e.OrganizationID] = append(of[e.OrganizationID], e)
		}
	}
	for _, events := range of {
		list = append(list, events[:min(len(events), max(1, limit/len(of)))]...)
	}
	slices.SortFunc(list, func(a, b blueprint.OutboxEvent) int { return int(a.Seq - b.Seq) })
	return list, m.readError
}

func (m *memory) TryClaim(_ context.Context, name string) (release func(), held bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.claims[name] {
		return nil, false, nil
	}
	m.claims[name] = true
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.claims, name)
	}, true, nil
}

func (m *memory) RemoveEvents(_ context.Context, keys []string, firings ...blueprint.Firing) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commits++
	if m.keepEvents != nil {
		return m.keepEvents
	}
	for i := range firings {
		if m.refuse != nil {
			if err := m.refuse(&firings[i]); err != nil {
				return err
			}
		}
	}
	m.rows = append(m.rows, firings...)
	m.outbox = slices.DeleteFunc(m.outbox, func(e blueprint.OutboxEvent) bool { return slices.Contains(keys, e.Key) })
	return nil
}

// raise puts an event into the outbox.
func (m *memory) raise(e blueprint.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seq := int64(1)
	if n := len(m.outbox); n > 0 {
		seq = m.outbox[n-1].Seq + 1
	}
	m.outbox = append(m.outbox, blueprint.OutboxEvent{Event: e, Seq: seq})
}

// undelivered returns the keys of the events in the outbox.
func (m *memory) undelivered() (keys []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.outbox {
		keys = append(keys, e.Key)
	}
	return keys
}

func (m *memory) Reactivate(_ context.Context, id string) (bool, error) {
	if m.readError != nil {
		return false, m.readError
	}
	m.change(id, func(b *blueprint.Binding) { b.Trigger.IsActive, b.Tripped, b.RetryAt = true, nil, 0 })
	return true, nil
}

func (m *memory) StartedFiring(_ context.Context, id, key string) (*blueprint.Firing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.rows {
		if row := m.rows[i]; row.TriggerID == id && row.Key == key && row.Decision == blueprint.DecisionStarted {
			return &row, nil
		}
	}
	return nil, blueprint.Errorf(blueprint.CodeNotFound, "no such firing")
}

func (m *memory) Start(_ context.Context, request *blueprint.StartRequest, patience time.Duration) (Run, error) {
	if m.refuseStart != nil {
		if err := m.refuseStart(request); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	firing := request.Firing
	execution := "exec_" + strings.ToLower(firing.ID)
	firing.Decision, firing.ExecutionID = blueprint.DecisionStarted, &execution
	failed := &fakeRun{}
	if request.Generation != 0 && m.recent[firing.TriggerID] != m.bindings[firing.TriggerID] {
		failed.err = &blueprint.StaleError{}
		return failed, nil
	}
	for i := range m.rows {
		if row := &m.rows[i]; row.TriggerID == firing.TriggerID && row.Key == firing.Key && row.Decision == blueprint.DecisionStarted {
			failed.err = &blueprint.DuplicateFiringError{FiringID: row.ID, ExecutionID: *row.ExecutionID}
			return failed, nil
		}
	}
	if m.refuse != nil {
		if failed.err = m.refuse(firing); failed.err != nil {
			return failed, nil
		}
	}
	if request.Coalesced != nil {
		m.rows = append(m.rows, *request.Coalesced)
	}
	m.rows = append(m.rows, *firing)
	m.events = append(m.events, request.Events...)
	m.requests = append(m.requests, request)
	m.patience = append(m.patience, patience)
	m.cursors[firing.TriggerID] = max(m.cursors[firing.TriggerID], request.Cursor)
	if m.result != nil {
		return m.result(request), nil
	}
	return &fakeRun{execution: &blueprint.Execution{ExecutionStatus: blueprint.ExecutionStatus{Status: blueprint.StatusCompleted}, Output: request.InputData}}, nil
}

// snapshot returns the rows so far.
func (m *memory) snapshot() []blueprint.Firing {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.rows)
}

func (m *memory) runs() []*blueprint.StartRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// lastRow returns the newest row.
func (m *memory) lastRow(t testing.TB) blueprint.Firing {
	t.Helper()
	rows := m.snapshot()
	if len(rows) == 0 {
		t.Fatal("the ledger is empty")
	}
	return rows[len(rows)-1]
}

// fakeRun is a run that is accepted, or not, at once.
type fakeRun struct {
	err       error
	execution *blueprint.Execution
	response  *blueprint.Response
	never     bool // it does not end
}

func (r *fakeRun) Accepted(context.Context) error { return r.err }

func (r *fakeRun) Wait(ctx context.Context) (*blueprint.Execution, error) {
	if r.never {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return r.execution, r.err
}

func (r *fakeRun) Ending(ctx context.Context) (blueprint.Ending, error) {
	execution, err := r.Wait(ctx)
	if execution == nil {
		return blueprint.Ending{}, err
	}
	return blueprint.Ending{Status: execution.Status, Output: execution.Output, Failure: execution.Failure}, err
}

func (r *fakeRun) Ended() <-chan struct{} {
	c := make(chan struct{})
	if !r.never {
		close(c)
	}
	return c
}

func (r *fakeRun) Responded() <-chan struct{} {
	c := make(chan struct{})
	if r.response != nil {
		close(c)
	}
	return c
}

func (r *fakeRun) Response() *blueprint.Response { return r.response }

// newService makes a service over a memory.
func newService(m *memory, c clock.Clock, change ...func(*Options)) *Service {
	options := Options{Store: m, Runner: m, Clock: c, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&options)
	}
	return New(options)
}

// logTo makes the service log into a buffer.
func logTo(buffer *bytes.Buffer) func(*Options) {
	var mu sync.Mutex
	return func(o *Options) {
		o.Logger = slog.New(slog.NewTextHandler(writerFunc(func(p []byte) (int, error) {
			mu.Lock()
			defer mu.Unlock()
			return buffer.Write(p)
		}), nil))
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func unavailable(after time.Duration) error {
	return fmt.Errorf("wrapped: %w", &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the queue is full", RetryAfter: after})
}
