package store

import (
	"context"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// What the server switched off it can name, until somebody switches it on again
// or it is gone; and that a schedule is off is told to who listens, once.
func TestPausedTriggers(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Ephemeral = true
	s := open(t, options)
	ann := user(t, s, "ann")
	b, gone := create(t, s, ann, "T"), create(t, s, ann, "gone")
	must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerEvent, map[string]any{"event": blueprint.EventTriggerMissed}))(t)
	trip := func(of blueprint.Blueprint, kind blueprint.TriggerType) blueprint.Trigger {
		trigger := must(s.CreateTrigger(ctx, ann, of.ID, kind, map[string]any{"cron": "* * * * *", "secret": "s"}))(t)
		for range maxFailures + 1 {
			ends(t, s, of, trigger, sourceOf[kind], blueprint.StatusFailed, false, true)
		}
		return trigger
	}
	expect := func(want ...blueprint.Trigger) {
		t.Helper()
		list, total, err := s.PausedTriggers(ctx, 2)
		ids := map[string]bool{}
		for _, one := range want {
			ids[one.ID] = true
		}
		if total != len(want) || len(list) != min(2, total) || err != nil {
			t.Fatalf("%+v of %d, want %d: %v", list, total, len(want), err)
		}
		for _, one := range list {
			if !ids[one.ID] || !strings.Contains(one.Trip.String(), "20 runs in a row failed") {
				t.Errorf("%+v", one)
			}
		}
	}
	expect()
	hook, tick, mail, other := trip(b, blueprint.TriggerWebhook), trip(b, blueprint.TriggerScheduled), trip(b, blueprint.TriggerEmail), trip(gone, blueprint.TriggerAPI)
	expect(hook, tick, mail, other)
	on := true
	must(s.UpdateTrigger(ctx, ann, hook.ID, nil, &on))(t)
	expect(tick, mail, other)
	check(t, s.DeleteTrigger(ctx, ann, mail.ID))
	expect(tick, other)
	must(s.DeleteBlueprint(ctx, ann, gone.ID))(t)
	expect(tick)

	events := must(s.Events(ctx, 0, 10))(t)
	if len(events) != 1 {
		t.Fatalf("%+v", events)
	}
	data, _ := events[0].Data.(map[string]any)
	reason, _ := data["reason"].(string)
	if data["triggerId"] != tick.ID || data["decision"] != "paused" || !strings.Contains(reason, "20 runs in a row failed, the last of them exec_") || events[0].BlueprintID != b.ID || events[0].OrganizationID != b.OrganizationID {
		t.Errorf("%+v", events[0])
	}
}
