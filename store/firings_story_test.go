package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestTriggerStory(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		who, trigger, all := ledger(t, s, 20)
		story := must(s.TriggerStory(ctx, trigger.ID))(t)
		want := &blueprint.TriggerStory{
			Trigger: trigger, BlueprintTitle: "T", BlueprintStatus: story.BlueprintStatus, Owner: blueprint.Principal{UserID: who.UserID}, CanManage: true,
			CreatedAt: blueprint.TimeOf(start), Cursor: story.Cursor, Firings: 20, Oldest: all[0].ReceivedAt,
		}
		if diff := cmp.Diff(want, story); diff != "" {
			t.Errorf("story (-want +got):\n%s", diff)
		}
		counts := must(s.ReasonCounts(ctx, who, trigger.ID, all[10].ReceivedAt, 100))(t)
		sum := 0
		for _, c := range counts {
			if sum += c.Count; (c.Why.String() == "") != (c.Decision == "started" || c.Decision == "duplicate") || c.Last < all[10].ReceivedAt {
				t.Errorf("count %+v", c)
			}
		}
		since := 0
		for i := range all {
			if all[i].ReceivedAt >= all[10].ReceivedAt {
				since++
			}
		}
		if sum != since {
			t.Errorf("%d rows are counted, want %d", sum, since)
		}
		check(t, s.DeleteTrigger(ctx, who, trigger.ID))
		_, err := s.TriggerStory(ctx, trigger.ID)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

// The story says which change left a trigger inactive.
func TestTriggerStoryOfInactiveTriggers(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx, ann := context.Background(), user(t, s, "ann")
		b := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set")}))(t)
		by := func(action string) context.Context { audited, _ := as(ann, action); return audited }
		add := func(action string, active bool) string {
			return must(s.AddTrigger(by(action), ann, b.ID, blueprint.TriggerWebhook, map[string]any{}, active))(t).ID
		}
		set := func(ctx context.Context, id string, active bool) {
			_, err := s.UpdateTrigger(ctx, ann, id, nil, &active)
			check(t, err)
		}
		off, on, created, back, unknown := add("create", true), add("create", true), add("import", false), add("create", false), add("create", true)
		set(by("update"), off, false)
		set(by("again"), off, false)
		set(by("on"), back, true)
		set(by("off"), back, false)
		set(ctx, unknown, false)
		for name, c := range map[string]struct{ id, want string }{
			"active":               {on, ""},
			"switched off":         {off, "update by ann"},
			"created inactive":     {created, "import by ann"},
			"switched on and off":  {back, "off by ann"},
			"without an audit log": {unknown, ""},
		} {
			t.Run(name, func(t *testing.T) {
				story, got := must(s.TriggerStory(ctx, c.id))(t), ""
				if e := story.Deactivated; e != nil {
					got = e.Action + " by " + e.ActorName
				}
				if got != c.want {
					t.Errorf("deactivated by %q, want %q", got, c.want)
				}
			})
		}
		// A restore that pauses all triggers is the cause for those that were active.
		s.NoteAction(ctx, &blueprint.AuditEntry{Action: "database.restore", TargetType: "database", TargetID: "x", Via: blueprint.ViaCLI, Detail: map[string]any{"pausedTriggers": 1}})
		check(t, s.settle(ctx))
		for id, want := range map[string]string{unknown: "database.restore", off: "update"} {
			t.Run("restore after "+want, func(t *testing.T) {
				if e := must(s.TriggerStory(ctx, id))(t).Deactivated; e == nil || e.Action != want {
					t.Errorf("deactivated by %+v, want %s", e, want)
				}
			})
		}
	})
}
