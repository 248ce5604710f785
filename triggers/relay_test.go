package triggers

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// endedRun is an event of the n-th run of blueprint a in organization o.
func endedRun(n int) blueprint.Event {
	e := paid
	e.Name, e.ExecutionID, e.Key = blueprint.EventExecutionCompleted, fmt.Sprint("exec_", n), fmt.Sprintf("%026d", n)
	return e
}

// subscriber creates a trigger in organization o that subscribes to the ends of runs.
func (m *memory) subscriber(change func(b *blueprint.Binding)) string {
	return m.listener(func(b *blueprint.Binding) {
		b.Trigger.Config["event"] = blueprint.EventExecutionCompleted
		if change != nil {
			change(b)
		}
	})
}

// keys writes the rows of a trigger: the decision's first letter and the number
// in the key.
func (m *memory) keys(id string) string {
	var out []string
	for _, row := range m.snapshot() {
		if row.TriggerID == id {
			out = append(out, string(row.Decision[0])+strings.TrimLeft(row.Key, "0"))
		}
	}
	return strings.Join(out, " ")
}

func TestOutbox(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	first, second := m.subscriber(nil), m.subscriber(nil)
	deafOne := m.subscriber(func(b *blueprint.Binding) { b.Trigger.Config["blueprintId"] = creator })
	other := m.listener(nil)
	for n := range 250 { // of before the start: more than a page, and more than a batch
		m.raise(endedRun(n + 1))
	}
	move := mover(t, v)
	start(t, s, move)
	if left := m.undelivered(); len(left) > 0 {
		t.Fatalf("after the start %d are left, want none", len(left))
	}
	var want, skipped []string
	for n := range 250 {
		want, skipped = append(want, fmt.Sprint("s", n+1)), append(skipped, fmt.Sprint("s", n+1))
	}
	if got := m.keys(first); got != strings.Join(want, " ") || m.keys(second) != got {
		t.Errorf("delivered %s and %s, want %s in both", got, m.keys(second), strings.Join(want, " "))
	}
	if got := m.keys(deafOne); got != strings.Join(skipped, " ") || m.keys(other) != "" {
		t.Errorf("left out %s, want %v and nothing", got, strings.Join(skipped, " "))
	}
	request := m.runs()[0]
	if got, _ := blueprint.Encode(request.InputData); !strings.Contains(string(got), `"event":"execution.completed","executionId":"exec_1"`) || request.Trigger.Depth != 1 || request.Firing.Source != blueprint.SourceEvent {
		t.Errorf("input %s, want \"event\":\"execution.completed\",\"executionId\":\"exec_1\" in it, Depth 1 and Source %v", got, blueprint.SourceEvent)
	}
	// Publishing an event holds the clock until it is delivered.
	m.raise(endedRun(251))
	s.Published()
	move(begin.Add(time.Hour))
	if got := m.keys(first); !strings.HasSuffix(got, " s251") || m.runs()[len(m.runs())-1].Firing.ReceivedAt != blueprint.TimeOf(begin) {
		t.Errorf("delivered %s, want \" s251\" at the end and ReceivedAt %v", got, blueprint.TimeOf(begin))
	}
	m.remove(first)
	m.remove(second)
	m.remove(deafOne)
	m.raise(endedRun(252))
	s.Published()
	move(begin.Add(2 * time.Hour))
	if left := m.undelivered(); len(left) > 0 || strings.Contains(m.keys(first), "252") {
		t.Errorf("no subscriber: left %v, want none and no \"252\"", left)
	}
}

// Events of another process, and those already in the outbox, are found by polling.
func TestOutboxIsPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		v := clock.NewVirtual(begin)
		s := newService(m, v)
		id := m.subscriber(nil)
		stop := start(t, s, mover(t, v))
		m.raise(endedRun(1))
		<-time.NewTimer(pollInterval).C
		synctest.Wait()
		if got := m.keys(id); got != "s1" {
			t.Errorf("delivered %q, want s1", got)
		}
		stop()
		s.Published() // the relay has stopped: the clock is free
		mover(t, v)(begin.Add(time.Hour))
	})
}

// An event that cannot be delivered now is delivered later, only to the triggers that
// lack it, and delays no other trigger.
func TestOutboxTriesAgain(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	var log bytes.Buffer
	s := newService(m, v, logTo(&log))
	fine, busy := m.subscriber(nil), m.subscriber(nil)
	skips := m.subscriber(func(b *blueprint.Binding) { b.Trigger.BlueprintID = paid.BlueprintID })
	var tries []time.Time
	open := false
	m.refuseStart = func(request *blueprint.StartRequest) error {
		if request.Trigger.ID == busy && request.Firing.Key == endedRun(1).Key && !open {
			tries = append(tries, v.Now())
			return unavailable(time.Millisecond)
		}
		return nil
	}
	move := mover(t, v)
	start(t, s, move)
	m.raise(endedRun(1))
	m.raise(endedRun(2))
	s.Published()
	move(begin)
	state := func() []any {
		return []any{m.keys(fine), m.keys(busy), m.keys(skips), m.undelivered(), s.Stats().Undelivered}
	}
	if diff := cmp.Diff([]any{"s1 s2", "s2", "s1 s2", []string{endedRun(1).Key}, int64(1)}, state()); diff != "" {
		t.Errorf("at first: keys of fine, busy and skips, and what is left (-want +got):\n%s", diff)
	}
	move(begin.Add(30 * time.Minute))
	var waits []string
	for i := range tries[1:] {
		waits = append(waits, tries[i+1].Sub(tries[i]).String())
	}
	if got := strings.Join(waits, " "); !strings.HasPrefix(got, "5s 10s 20s 40s 1m20s 2m40s 5m0s 5m0s 5m0s") {
		t.Errorf("tried again after %s, want \"5s 10s 20s 40s 1m20s 2m40s 5m0s 5m0s 5m0s\" at the start", got)
	}
	m.raise(endedRun(3))
	s.Published()
	move(v.Now())
	open = true
	move(v.Now().Add(lastRetry))
	if diff := cmp.Diff([]any{"s1 s2 s3", "s2 s3 s1", "s1 s2 s3", []string(nil), int64(0)}, state()); diff != "" {
		t.Errorf("at last: keys of fine, busy and skips, and what is left (-want +got):\n%s", diff)
	}
	if got := strings.Count(log.String(), "level=WARN"); got != len(tries) || !strings.Contains(log.String(), "the queue is full") {
		t.Errorf("%d warnings: %s, want %v and \"the queue is full\" in it", got, &log, len(tries))
	}
}

// Whichever part fails for a while, every trigger has one row per event in the end.
func TestOutboxFails(t *testing.T) {
	broken := unavailable(time.Second)
	cases := []struct {
		name      string
		fail, fix func(m *memory)
		want      string // rows of a trigger with access, then of one that lost it; s is started, r is refused
	}{
		{"the outbox cannot be read", func(m *memory) { m.readError = broken }, func(m *memory) { m.readError = nil }, "s1 s2, r1 r2"},
		{"rows cannot be written", func(m *memory) { m.refuse = func(*blueprint.Firing) error { return broken } }, func(m *memory) { m.refuse = nil }, "s1 s2, r1 r2"},
		{"events cannot be deleted", func(m *memory) { m.keepEvents = broken }, func(m *memory) { m.keepEvents = nil }, "s1 s2, r1 r2"},
		{"too many runs", func(m *memory) {
			m.refuseStart = func(*blueprint.StartRequest) error {
				return blueprint.Errorf(blueprint.CodeTooManyRequests, "too many")
			}
		}, func(m *memory) { m.refuseStart = nil }, "s1 s2, r1 r2"},
		{"it cannot run", func(m *memory) {
			m.refuseStart = func(*blueprint.StartRequest) error { return blueprint.Errorf(blueprint.CodeBadRequest, "no nodes") }
		}, func(m *memory) { m.refuseStart = nil }, "r1 r2, r1 r2"},
		{"a flaw", func(m *memory) {
			m.refuseStart = func(*blueprint.StartRequest) error { return errors.New("broken") }
		}, func(m *memory) { m.refuseStart = nil }, "r1 r2, r1 r2"},
		{"its concurrency group is full", func(m *memory) {
			m.refuseStart = func(*blueprint.StartRequest) error { return &blueprint.ConcurrencyLimitError{Limit: 1} }
		}, func(m *memory) { m.refuseStart = nil }, "s1 s2, r1 r2"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory()
			v := clock.NewVirtual(begin)
			s := newService(m, v)
			id, lost := m.subscriber(nil), m.subscriber(func(b *blueprint.Binding) { b.CanManage = false })
			move := mover(t, v)
			start(t, s, move)
			m.raise(endedRun(1))
			m.raise(endedRun(2))
			m.mu.Lock()
			c.fail(m)
			m.mu.Unlock()
			s.Published()
			move(begin.Add(time.Minute))
			m.mu.Lock()
			c.fix(m)
			m.mu.Unlock()
			move(begin.Add(time.Hour))
			if got := m.keys(id) + ", " + m.keys(lost); got != c.want || len(m.undelivered()) > 0 {
				t.Errorf("rows %s, left %v; want %v and none", got, m.undelivered(), c.want)
			}
		})
	}
}

// The number of undelivered events in memory is bounded, and all are delivered in the
// end.
func TestOutboxIsBounded(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	s := newService(m, v)
	id := m.subscriber(nil)
	closed := true
	m.refuseStart = func(*blueprint.StartRequest) error {
		if closed {
			return unavailable(time.Second)
		}
		return nil
	}
	const events = maxBlocked + 3*outboxPage
	for n := range events {
		m.raise(endedRun(n + 1))
	}
	move := mover(t, v)
	start(t, s, move)
	if got := s.Stats().Undelivered; got < maxBlocked || got > maxBlocked+outboxPage {
		t.Errorf("%d are remembered, want at least %v and at most %v", got, maxBlocked, maxBlocked+outboxPage)
	}
	move(begin.Add(time.Minute))
	closed = false
	move(begin.Add(time.Hour))
	if rows := strings.Fields(m.keys(id)); len(rows) != events || len(m.undelivered()) > 0 {
		t.Errorf("%d rows, %d left; want %v and none", len(rows), len(m.undelivered()), events)
	}
}

// A blueprint does not receive the events of its own runs, but all other events about
// itself.
func TestOwnEvents(t *testing.T) {
	for name, want := range map[string]string{
		blueprint.EventExecutionCompleted: "skipped", blueprint.EventExecutionFailed: "skipped", blueprint.EventExecutionPaused: "skipped", "custom.x": "skipped",
		blueprint.EventBlueprintCreated: "started", blueprint.EventBlueprintUpdated: "started", blueprint.EventBlueprintPublished: "started", blueprint.EventTriggerMissed: "started",
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			m.listener(func(b *blueprint.Binding) {
				b.Trigger.Config["event"], b.Trigger.BlueprintID = name, paid.BlueprintID
			})
			e := paid
			e.Name = name
			if _, err := newService(m, clock.NewVirtual(begin)).Emit(t.Context(), e); err != nil || string(m.lastRow(t).Decision) != want {
				t.Errorf("%+v, %v; want Decision %v", m.snapshot(), err, want)
			}
		})
	}
}

// Firing a trigger that the server switched off returns an error that says so.
func TestPausedTrigger(t *testing.T) {
	m := newMemory()
	s := newService(m, clock.NewVirtual(begin))
	id := m.trigger(blueprint.TriggerWebhook, nil, begin)
	m.change(id, func(b *blueprint.Binding) {
		b.Trigger.IsActive, b.Tripped = false, &blueprint.Trip{Failures: 20, ExecutionID: "exec_1"}
	})
	const want = "the server paused the trigger: 20 runs in a row failed, the last of them exec_1"
	if status := deliver(s, id, delivery{body: "{}"}).Code; status != 404 || m.lastRow(t).Reason != want {
		t.Errorf("delivered: %d, %q; want 404 and %v", status, m.lastRow(t).Reason, want)
	}
	_, _, err := s.Fire(t.Context(), me, id, nil, false)
	var refused *blueprint.Error
	if !errors.As(err, &refused) || refused.Code != blueprint.CodeBadRequest || refused.Message != want || !strings.Contains(refused.Hint, "isActive") {
		t.Errorf("fired: %v, want %q with a hint at isActive", err, want)
	}
	if got := m.lastRow(t).Reason; got != want {
		t.Errorf("fired: reason %q, want %q", got, want)
	}
}
