package triggers_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/store"
	"blueprintd/triggers"
)

func on(event string, more ...any) map[string]any {
	config := map[string]any{"event": event}
	for i := 0; i < len(more); i += 2 {
		config[more[i].(string)] = more[i+1]
	}
	return config
}

// Event triggers receive the end, the failure and the pause of runs before the clock
// moves on.
func TestExecutionEvents(t *testing.T) {
	s := serve(t, "", noon)
	byEvent := map[string]blueprint.Trigger{}
	for _, event := range []string{blueprint.EventExecutionCompleted, blueprint.EventExecutionFailed, blueprint.EventExecutionPaused} {
		byEvent[event] = s.trigger(blueprint.TriggerEvent, on(event), "pass")
	}
	for _, step := range []struct{ event, node string }{{blueprint.EventExecutionFailed, "fail"}, {blueprint.EventExecutionPaused, "human"}} {
		hook := s.trigger(blueprint.TriggerWebhook, nil, step.node)
		s.hook(hook, `{"n":1}`)
		s.advance(noon)
		rows := s.ledger(byEvent[step.event])
		if len(rows) != 1 || rows[0].Decision != blueprint.DecisionStarted || len(rows[0].Key) != 26 || rows[0].ReceivedAt != blueprint.TimeOf(noon) {
			t.Fatalf("%s: rows %+v, want one started at noon", step.event, rows)
		}
		stored, err := s.store.Load(t.Context(), *rows[0].ExecutionID)
		if err != nil {
			t.Fatal(err)
		}
		run, err := s.engine.View(t.Context(), stored)
		text, _ := blueprint.Encode(run.InputData)
		if err != nil || !strings.Contains(string(text), `"event":"`+step.event+`","executionId":"`+*s.ledger(hook)[0].ExecutionID) || !strings.Contains(string(text), `"triggerId":"`+hook.ID) {
			t.Errorf("%s: %v, input %s", step.event, err, text)
		}
	}
	// The two triggered runs completed, which the third trigger received; its own end has no subscriber.
	if got := count(s.ledger(byEvent[blueprint.EventExecutionCompleted])); got[blueprint.DecisionStarted] != 2 || got[blueprint.DecisionSkipped] != 2 {
		t.Errorf("completed: %v, want 2 and 2", got)
	}
	if list, err := s.store.Events(t.Context(), 0, 10); len(list) > 0 || err != nil {
		t.Errorf("left in the outbox: %+v, %v; want none", list, err)
	}
}

// Two blueprints that are triggered by each other's end run until the chain has its
// maximum length.
func TestExecutionEventChain(t *testing.T) {
	s := serve(t, "", noon)
	ping := s.trigger(blueprint.TriggerEvent, on(blueprint.EventExecutionCompleted), "pass")
	pong := s.trigger(blueprint.TriggerEvent, on(blueprint.EventExecutionCompleted, "blueprintId", ping.BlueprintID), "pass")
	if _, _, err := s.triggers.Fire(t.Context(), s.user, ping.ID, nil, false); err != nil {
		t.Fatal(err)
	}
	s.advance(noon)
	pings, pongs := s.ledger(ping), s.ledger(pong)
	started := count(pings)[blueprint.DecisionStarted] + count(pongs)[blueprint.DecisionStarted]
	if started != 1+blueprint.MaxEventDepth || count(pings)[blueprint.DecisionRefused]+count(pongs)[blueprint.DecisionRefused] != 1 {
		t.Errorf("pings %v, pongs %v; want %v and 1", count(pings), count(pongs), 1+blueprint.MaxEventDepth)
	}
	last := pongs[len(pongs)-1]
	if last.Decision == blueprint.DecisionSkipped {
		last = pongs[len(pongs)-2]
	}
	if last.Decision != blueprint.DecisionRefused || !strings.Contains(last.Reason, "a chain of 17 events") {
		t.Errorf("%+v, want Decision %v and \"a chain of 17 events\" in it", last, blueprint.DecisionRefused)
	}
}

// Blueprints that are all triggered by each other's end multiply until their chain has
// reached its maximum number of runs; then the outbox is empty and the clock moves on.
func TestExecutionEventStorm(t *testing.T) {
	s := serve(t, "", noon)
	var all []blueprint.Trigger
	for range 3 {
		all = append(all, s.trigger(blueprint.TriggerEvent, on(blueprint.EventExecutionCompleted), "pass"))
	}
	hook := s.trigger(blueprint.TriggerWebhook, nil, "pass")
	for round := range 2 {
		s.hook(hook, `{}`)
		s.advance(s.clock.Now())
		got := map[blueprint.Decision]int{}
		for _, trigger := range all {
			for decision, n := range count(s.ledger(trigger)) {
				got[decision] += n
			}
		}
		if want := round + 1; got[blueprint.DecisionStarted] != want*blueprint.MaxEventRuns || got[blueprint.DecisionRefused] != want*len(all) || left(s) > 0 {
			t.Errorf("round %d: rows %v, %d left; want %v, %v and at most 0", round, got, left(s), want*blueprint.MaxEventRuns, want*len(all))
		}
	}
}

// A trigger whose runs keep failing is switched off. Firing it returns an error that says
// so, and a schedule stops.
func TestTripped(t *testing.T) {
	s := serve(t, "", noon)
	schedule := s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}, "fail")
	hook := s.trigger(blueprint.TriggerWebhook, nil, "fail")
	for range 20 {
		if status, text, _ := s.hook(hook, "{}"); status != 202 {
			t.Fatalf("%d %s, want 202", status, text)
		}
		s.advance(s.clock.Now())
	}
	if status, text, _ := s.hook(hook, "{}"); status != 503 {
		t.Errorf("%d %s, want 503", status, text)
	}
	rows := s.ledger(hook)
	if last := rows[len(rows)-1]; len(rows) != 22 || !strings.HasPrefix(last.Reason, "the server paused the trigger: 20 runs in a row failed") || last.Decision != blueprint.DecisionRefused {
		t.Errorf("%d rows, the last %+v", len(rows), last)
	}
	s.advance(noon.Add(time.Hour))
	for _, want := range []int{202, 503} { // strangers can fail it: it is tried again, and fails again
		if status, text, _ := s.hook(hook, "{}"); status != want {
			t.Errorf("an hour later: %d %s, want %d", status, text, want)
		}
		s.advance(s.clock.Now())
	}
	if rows = s.ledger(hook); len(rows) != 25 || !strings.HasPrefix(rows[22].Reason, "accepted after a pause of 15 minutes") {
		t.Errorf("%d rows, the last %+v; want 25 and \"accepted after a pause of 15 minutes\" at the start", len(rows), rows[len(rows)-1])
	}
	rows = s.ledger(schedule)
	if got := count(rows); got[blueprint.DecisionStarted] != 20 || got[blueprint.DecisionRefused] != 1 || len(rows) != 21 || rows[20].Source != blueprint.SourceSchedule {
		t.Errorf("rows %v, want 20, 1, length 21 and Source %v", got, blueprint.SourceSchedule)
	}
	active := true
	if _, err := s.store.UpdateTrigger(t.Context(), s.user, schedule.ID, nil, &active); err != nil {
		t.Fatal(err)
	}
	s.triggers.Changed()
	s.advance(noon.Add(time.Hour + 5*time.Minute))
	if got := count(s.ledger(schedule)); got[blueprint.DecisionStarted] != 25 {
		t.Errorf("switched on again: rows %v, want 25", got)
	}
}

// dying is a store that is gone after so many calls that write.
type dying struct {
	*store.Store
	mu   sync.Mutex
	left int
}

var errGone = &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "gone"}

func (d *dying) call() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left--; d.left < 0 {
		return errGone
	}
	return nil
}

func (d *dying) RemoveEvents(ctx context.Context, keys []string, rows ...blueprint.Firing) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Store.RemoveEvents(ctx, keys, rows...)
}

func (d *dying) RecordFirings(ctx context.Context, id string, rows []blueprint.Firing, cursor blueprint.Time, events ...blueprint.Event) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Store.RecordFirings(ctx, id, rows, cursor, events...)
}

// quits is a runner whose runs are on the disk as long as the store lives.
type quits struct {
	runner
	*dying
}

func (q quits) Start(ctx context.Context, request *blueprint.StartRequest, patience time.Duration) (triggers.Run, error) {
	if err := q.call(); err != nil {
		return nil, err
	}
	return q.runner.Start(ctx, request, patience)
}

// Wherever a server dies between an event and its last delivery, each subscriber
// receives the event once.
func TestOutboxOutlivesCrashes(t *testing.T) {
	for calls := range 9 {
		t.Run(fmt.Sprint(calls), func(t *testing.T) {
			t.Parallel()
			path := file(t)
			s := serve(t, path, noon)
			var subscribed []blueprint.Trigger
			for range 3 {
				subscribed = append(subscribed, s.trigger(blueprint.TriggerEvent, on(blueprint.EventBlueprintUpdated), "pass"))
			}
			lost := s.trigger(blueprint.TriggerEvent, on(blueprint.EventBlueprintUpdated, "blueprintId", "11111111-1111-4111-8111-111111111111"), "pass")
			s.change(path, lost.BlueprintID, "one", "two")
			disk, standing := &dying{Store: s.store, left: calls}, clock.NewVirtual(noon)
			half := triggers.New(triggers.Options{Store: disk, Runner: quits{runner{s.engine}, disk}, Clock: standing, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler)})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			half.Changed()
			go func() { ended <- half.Run(ctx) }()
			s.fine(standing.Advance(t.Context(), noon)) // it has done what it could
			if died := left(s) > 0; died != (calls < 7) {
				t.Errorf("%d are left", left(s))
			}
			cancel()
			s.fine(<-ended)
			s.stop()

			s = serve(t, path, noon.Add(time.Hour))
			s.advance(noon.Add(time.Hour))
			for _, trigger := range subscribed {
				if got := count(s.ledger(trigger)); got[blueprint.DecisionStarted] != 2 || got[blueprint.DecisionRefused] > 0 {
					t.Errorf("rows %v, want 2 and at most 0", got)
				}
			}
			if got := count(s.ledger(lost)); got[blueprint.DecisionSkipped] != 2 || got[blueprint.DecisionStarted] > 0 {
				t.Errorf("rows %v, want 2 and at most 0", got)
			}
			if n := left(s); n > 0 {
				t.Errorf("%d left in the outbox, want at most 0", n)
			}
		})
	}
}

// left counts what is in the outbox.
func left(s *server) int {
	list, err := s.store.Events(context.Background(), 0, 100)
	s.fine(err)
	return len(list)
}

// change gives a blueprint new titles, from another process.
func (s *server) change(path, blueprintID string, titles ...string) {
	s.t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	s.fine(err)
	sealer, err := secret.NewSealer(make([]byte, secret.KeySize))
	s.fine(err)
	tool, err := store.Open(s.t.Context(), store.Options{Path: path, Schema: string(schema), Sealer: sealer, Clock: s.clock, IDs: ids.New(nil)})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, title := range titles {
		_, err := tool.UpdateBlueprint(s.t.Context(), s.user, blueprintID, blueprint.BlueprintPatch{Title: &title})
		s.fine(err)
	}
	s.fine(tool.Close())
}
