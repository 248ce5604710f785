package triggers_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
)

func limit(most, rule string) map[string]any {
	return map[string]any{"concurrency": map[string]any{"limit": json.Number(most), "onLimit": rule}}
}

// Copies of a delivery that come at once are duplicates, whatever the limit.
func TestCopiesAreNotLeftOut(t *testing.T) {
	t.Parallel()
	s := serve(t, file(t), noon) // a file has several readers
	hook := s.trigger(blueprint.TriggerWebhook, limit("1", "skip"), "human")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { s.hook(hook, `{}`, "Idempotency-Key", "k") })
	}
	group.Wait()
	if got := count(s.ledger(hook)); got[blueprint.DecisionStarted] != 1 || got[blueprint.DecisionDuplicate] != 7 {
		t.Errorf("%v, want 1 and 7", got)
	}
	if _, text, _ := s.hook(hook, `{}`); !strings.Contains(text, `"skipped":true`) {
		t.Errorf("another one: %s, want \"skipped\":true in it", text)
	}
}

// Queued runs start when the limit of their trigger is removed or raised, and when the
// trigger is deleted. A trigger that is switched off keeps its limit.
func TestLimitTakenAway(t *testing.T) {
	s := serve(t, "", noon)
	off := false
	for name, act := range map[string]func(trigger blueprint.Trigger) error{
		"taken away": func(trigger blueprint.Trigger) error {
			_, err := s.store.UpdateTrigger(t.Context(), s.user, trigger.ID, func(blueprint.Trigger) (map[string]any, error) { return map[string]any{}, nil }, nil)
			return err
		},
		"raised": func(trigger blueprint.Trigger) error {
			_, err := s.store.UpdateTrigger(t.Context(), s.user, trigger.ID, func(blueprint.Trigger) (map[string]any, error) { return limit("9", "queue"), nil }, nil)
			return err
		},
		"deleted": func(trigger blueprint.Trigger) error { return s.store.DeleteTrigger(t.Context(), s.user, trigger.ID) },
		"off": func(trigger blueprint.Trigger) error {
			_, err := s.store.UpdateTrigger(t.Context(), s.user, trigger.ID, nil, &off)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			hook := s.trigger(blueprint.TriggerWebhook, limit("1", "queue"), "human")
			for range 5 {
				s.hook(hook, `{}`)
			}
			s.advance(s.clock.Now())
			if stats := s.engine.Stats(); stats.Blocked != 4 {
				t.Fatalf("%+v, want Blocked 4", stats)
			}
			s.fine(act(hook))
			s.triggers.Changed()
			s.advance(s.clock.Now().Add(time.Minute))
			want := 0
			if name == "off" {
				want = 4
				s.fine(s.store.DeleteTrigger(t.Context(), s.user, hook.ID))
				s.triggers.Changed()
			}
			if stats := s.engine.Stats(); stats.Blocked != want {
				t.Errorf("%+v, want Blocked %v", stats, want)
			}
			s.advance(s.clock.Now().Add(time.Minute))
		})
	}
}
