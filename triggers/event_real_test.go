package triggers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// Two blueprints that answer each other's events go on until the chain is as
// long as it may be.
func TestEventChain(t *testing.T) {
	s := serve(t, "", noon)
	on := func(event string) map[string]any { return map[string]any{"event": event} }
	ping := s.trigger(blueprint.TriggerEvent, on("custom.ping"), "custom.pong")
	pong := s.trigger(blueprint.TriggerEvent, on("custom.pong"), "custom.ping")
	if _, _, err := s.triggers.Fire(t.Context(), s.user, ping.ID, map[string]any{"round": "first"}, false); err != nil {
		t.Fatal(err)
	}
	s.advance(noon.Add(time.Second))
	pings, pongs := s.ledger(ping), s.ledger(pong)
	if got := count(pings); got[blueprint.DecisionStarted] != 1+8 || len(pings) != 9 {
		t.Errorf("pings %v, want %v and length 9", got, 1+8)
	}
	if got := count(pongs); got[blueprint.DecisionStarted] != 8 || got[blueprint.DecisionRefused] != 1 || len(pongs) != 9 {
		t.Errorf("pongs %v, want 8, 1 and length 9", got)
	}
	last := pongs[len(pongs)-1]
	if diff := cmp.Diff([]any{blueprint.SourceEvent, blueprint.DecisionRefused, *pings[8].ExecutionID + "/custom.pong"}, []any{last.Source, last.Decision, last.Key}); diff != "" {
		t.Errorf("last pong (-want +got):\n%s", diff)
	}
	if want := "a chain of 17 events"; !strings.Contains(last.Reason, want) {
		t.Errorf("reason %q, want %q in it", last.Reason, want)
	}
	stored, err := s.store.Load(t.Context(), *pongs[0].ExecutionID)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.engine.View(t.Context(), stored)
	want := map[string]any{
		"event": "custom.pong", "at": "2026-03-02T12:00:00.000Z", "blueprintId": ping.BlueprintID, "executionId": *pings[0].ExecutionID, "data": map[string]any{"round": "first"},
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]any{want, blueprint.StatusCompleted, pong.ID, true}, []any{run.InputData, run.Status, run.TriggerID, run.Output}); diff != "" {
		t.Errorf("input, status, trigger and output (-want +got):\n%s", diff)
	}
}

// An event that is raised again, as after a crash, starts nothing twice, also by
// another process.
func TestEventAgain(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := serve(t, path, noon)
	trigger := s.trigger(blueprint.TriggerEvent, map[string]any{"event": "custom.ping"}, "pass")
	made, err := s.store.GetTrigger(t.Context(), s.user, trigger.ID)
	if err != nil {
		t.Fatal(err)
	}
	binding, err := s.store.Binding(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	event := blueprint.Event{Name: "custom.ping", OrganizationID: binding.Definition.OrganizationID, BlueprintID: "x", ExecutionID: "exec_1_x", Key: "exec_1_x/n", At: blueprint.TimeOf(noon)}
	emit := func() {
		if delivered, err := s.triggers.Emit(t.Context(), event); delivered != 1 || err != nil {
			t.Errorf("%d delivered, %v; want 1", delivered, err)
		}
	}
	emit()
	emit()
	s.stop()
	s = serve(t, path, noon.Add(time.Hour))
	emit()
	if got := count(s.ledger(trigger)); got[blueprint.DecisionStarted] != 1 || got[blueprint.DecisionDuplicate] != 2 {
		t.Errorf("rows %v, want 1 and 2", got)
	}
}

// An event whose run waits for a database that does not answer counts as started once the
// run is stored, although its publisher got an error: published again, it starts nothing.
func TestEventDuringOutage(t *testing.T) {
	t.Parallel()
	s := serve(t, "", noon)
	trigger := s.trigger(blueprint.TriggerEvent, map[string]any{"event": "custom.ping"}, "touch")
	binding, err := s.store.Binding(t.Context(), trigger.ID)
	if err != nil {
		t.Fatal(err)
	}
	event := blueprint.Event{Name: "custom.ping", OrganizationID: binding.Definition.OrganizationID, BlueprintID: "x", ExecutionID: "exec_1_x", Key: "exec_1_x/n", At: blueprint.TimeOf(noon)}
	away := make(chan struct{})
	s.away.Store(&away)
	if _, err := s.triggers.Emit(t.Context(), event); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
		t.Fatalf("during the outage: %v, want %s", err, blueprint.CodeUnavailable)
	}
	s.away.Store(nil)
	close(away)
	for range 2 {
		if delivered, err := s.triggers.Emit(t.Context(), event); delivered != 1 || err != nil {
			t.Errorf("after the outage: %d delivered, %v; want 1", delivered, err)
		}
	}
	rows := s.ledger(trigger)
	s.stop()
	if got := s.touched.Load(); got != 1 || count(rows)[blueprint.DecisionStarted] != 1 {
		t.Errorf("%d runs of one event, rows %v; want 1 run, started once", got, count(rows))
	}
}
