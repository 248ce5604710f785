package triggers_test

import (
	"testing"
	"time"

	"blueprintd/blueprint"
)

// TestMissedTicksAreDelivered checks that an outage of a schedule is delivered to event
// triggers as one event.
func TestMissedTicksAreDelivered(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := serve(t, path, noon)
	listener := s.trigger(blueprint.TriggerEvent, map[string]any{"event": blueprint.EventTriggerMissed}, "pass")
	names := map[string]string{}
	for _, catchUp := range []string{"latest", "all", "none"} {
		names[s.trigger(blueprint.TriggerScheduled, map[string]any{"cron": "0 * * * *", "catchUp": catchUp}, "pass").ID] = catchUp
	}
	s.advance(noon.Add(time.Hour))
	if rows := s.ledger(listener); len(rows) != 0 {
		t.Errorf("on time: %+v, want none", rows)
	}
	s.stop()
	again := noon.Add(4*time.Hour + 30*time.Minute)
	s = serve(t, path, again)
	s.advance(again.Add(time.Second))
	got := map[string]int{}
	for _, row := range s.ledger(listener) {
		stored, err := s.store.Load(t.Context(), *row.ExecutionID)
		if err != nil {
			t.Fatal(err)
		}
		run, err := s.engine.View(t.Context(), stored)
		if err != nil {
			t.Fatal(err)
		}
		data := run.InputData.(map[string]any)["data"].(map[string]any)
		got[names[data["triggerId"].(string)]+" "+data["decision"].(string)+" "+data["firstDueAt"].(string)[11:16]+" "+data["lastDueAt"].(string)[11:16]]++
	}
	for _, want := range []string{"latest coalesced 14:00 16:00", "all late 14:00 16:00", "none skipped 14:00 16:00"} {
		if got[want] != 1 {
			t.Errorf("%q was heard %d times", want, got[want])
		}
		delete(got, want)
	}
	if len(got) > 0 {
		t.Errorf("and %v, want none", got)
	}
}
