package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// firing is a row of the ledger that starts nothing.
func firing(s *Store, trigger blueprint.Trigger, key string) blueprint.Firing {
	now := s.options.Clock.Now()
	return blueprint.Firing{
		ID: s.options.IDs.ULID(now), TriggerID: trigger.ID, Source: blueprint.SourceWebhook, Key: key,
		ReceivedAt: blueprint.TimeOf(now), Decision: blueprint.DecisionRefused, Reason: "the trigger is not active", Why: blueprint.Because(blueprint.ReasonOff),
	}
}

func activeSchedules(t testing.TB, s *Store) []blueprint.Schedule {
	t.Helper()
	list, _, err := s.Schedules(context.Background(), 0)
	check(t, err)
	return list
}

// cursors are those of the active schedules, by trigger.
func cursors(t testing.TB, s *Store) map[string]blueprint.Time {
	t.Helper()
	got := map[string]blueprint.Time{}
	for _, schedule := range activeSchedules(t, s) {
		got[schedule.Trigger.ID] = schedule.Cursor
	}
	return got
}

func TestTriggers(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		public, off := blueprint.VisibilityPublic, false
		must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		manual := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerManual, nil))(t)
		config := map[string]any{"secret": "hidden", "respond": "wait"}
		hook := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, config))(t)
		want := blueprint.Trigger{ID: hook.ID, BlueprintID: b.ID, Type: "webhook", Config: config, IsActive: true, CreatedBy: ann.UserID}
		if !cmp.Equal(hook, want) || !blueprint.IsUUID(hook.ID) || manual.Config == nil {
			t.Error(cmp.Diff(want, hook))
		}
		if list := must(s.ListTriggers(ctx, ann, b.ID))(t); !cmp.Equal(list, []blueprint.Trigger{manual, want}) {
			t.Errorf("ann lists %+v", list)
		}
		list, err := s.ListTriggers(ctx, bob, b.ID) // the id of a webhook is its address
		if wantCode(t, err, blueprint.CodeForbidden); len(list) > 0 {
			t.Errorf("bob lists %+v", list)
		}
		updated := must(s.UpdateTrigger(ctx, ann, hook.ID, func(present blueprint.Trigger) (map[string]any, error) {
			return blueprint.MergeConfig(present.Config, map[string]any{"secret": nil, "respond": nil, "x": "y"}), nil
		}, &off))(t)
		want.Config, want.IsActive = map[string]any{"secret": "hidden", "x": "y"}, false
		if got := must(s.GetTrigger(ctx, ann, hook.ID))(t); !cmp.Equal(got, want) || !cmp.Equal(updated, want) {
			t.Error(cmp.Diff(want, got), cmp.Diff(want, updated))
		}
		refused := errors.New("refused")
		if _, err := s.UpdateTrigger(ctx, ann, hook.ID, func(blueprint.Trigger) (map[string]any, error) { return nil, refused }, nil); !errors.Is(err, refused) {
			t.Errorf("merge's error came back as %v", err)
		}
		check(t, s.DeleteTrigger(ctx, ann, hook.ID))
		_, err = s.GetTrigger(ctx, ann, hook.ID)
		wantCode(t, err, blueprint.CodeNotFound)
		_, err = s.Binding(ctx, hook.ID)
		wantCode(t, err, blueprint.CodeNotFound)
		if list := must(s.ListTriggers(ctx, ann, b.ID))(t); len(list) != 1 {
			t.Errorf("after the deletion %+v", list)
		}
	})
}

func TestBinding(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		member := people["member"]
		b := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
		hook := must(s.CreateTrigger(ctx, member, b.ID, blueprint.TriggerWebhook, map[string]any{"secret": "hidden"}))(t)
		first := must(s.Binding(ctx, hook.ID))(t)
		if !cmp.Equal(first.Trigger, hook) || first.Principal != member || !first.CanManage || first.Definition.Version != "1.0.0" {
			t.Errorf("binding %+v", first)
		}
		if again := must(s.Binding(ctx, hook.ID))(t); again != first {
			t.Error("the binding was read again though nothing had changed")
		}
		title, on, off := "U", true, false
		must(s.UpdateBlueprint(ctx, people["creator"], b.ID, blueprint.BlueprintPatch{Title: &title}))(t)
		if got := must(s.Binding(ctx, hook.ID))(t); got.Definition.Version != "1.0.1" || got.Definition.Title != "U" {
			t.Errorf("after an update: %+v", got.Definition)
		}
		must(s.UpdateTrigger(ctx, member, hook.ID, nil, &off))(t)
		if got := must(s.Binding(ctx, hook.ID))(t); got.Trigger.IsActive {
			t.Error("it is still active")
		}
		must(s.UpdateTrigger(ctx, member, hook.ID, nil, &on))(t)
		check(t, s.RemoveMember(ctx, team, member.UserID))
		if got := must(s.Binding(ctx, hook.ID))(t); got.CanManage || !got.Trigger.IsActive {
			t.Errorf("after its creator left: %+v", got)
		}
		must(s.DeleteBlueprint(ctx, people["creator"], b.ID))(t)
		_, err := s.Binding(ctx, hook.ID)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

func TestSchedules(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}))(t)
		on, off := true, false
		at := func(d time.Duration) blueprint.Time { return blueprint.TimeOf(start.Add(d)) }
		want := func(step string, cursor blueprint.Time) {
			t.Helper()
			if got := cursors(t, s); len(got) != 1 || got[trigger.ID] != cursor {
				t.Errorf("%s: cursors %v, want %s", step, got, cursor)
			}
		}
		merge := func(change map[string]any) func(blueprint.Trigger) (map[string]any, error) {
			return func(present blueprint.Trigger) (map[string]any, error) {
				return blueprint.MergeConfig(present.Config, change), nil
			}
		}
		want("created", at(0))
		ticks := []blueprint.Firing{firing(s, trigger, "tick 1"), firing(s, trigger, "tick 2")}
		check(t, s.RecordFirings(ctx, trigger.ID, ticks, at(2*time.Minute)))
		want("ticks recorded", at(2*time.Minute))
		check(t, s.RecordFirings(ctx, trigger.ID, nil, at(time.Minute)))
		want("a cursor that goes back", at(2*time.Minute))
		check(t, s.RecordFirings(ctx, trigger.ID, nil, at(3*time.Minute)))
		want("a cursor alone", at(3*time.Minute))
		check(t, s.RecordFiring(ctx, firing(s, trigger, "no tick")))
		want("no cursor", at(3*time.Minute))
		advance(t, s, time.Hour)
		must(s.UpdateTrigger(ctx, ann, trigger.ID, merge(map[string]any{"catchUp": "all"}), &on))(t)
		want("other config", at(3*time.Minute))
		must(s.UpdateTrigger(ctx, ann, trigger.ID, merge(map[string]any{"cron": "0 * * * *"}), nil))(t)
		want("new schedule", at(time.Hour))
		advance(t, s, time.Hour)
		must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &off))(t)
		if got := cursors(t, s); len(got) != 0 {
			t.Errorf("inactive: %v", got)
		}
		advance(t, s, time.Hour)
		must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &on))(t)
		want("active again", at(3*time.Hour))
	})
}

func TestFirings(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
		other := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
		check(t, s.RecordFiring(ctx, firing(s, other, "k")))
		var rows []blueprint.Firing
		for _, decision := range []blueprint.Decision{blueprint.DecisionRefused, blueprint.DecisionSkipped, blueprint.DecisionDuplicate, blueprint.DecisionCoalesced} {
			f := firing(s, trigger, "the same key")
			f.Decision, f.DueAt = decision, blueprint.TimeOf(start)
			if decision == blueprint.DecisionDuplicate {
				id := "exec_1_first"
				f.ExecutionID = &id
			}
			check(t, s.RecordFiring(ctx, f))
			rows = append([]blueprint.Firing{f}, rows...)
		}
		list, total, err := s.Firings(ctx, ann, trigger.ID, 20, 0)
		if err != nil || total != 4 || !cmp.Equal(list, rows) {
			t.Errorf("%d, %v: %s", total, err, cmp.Diff(rows, list))
		}
		list, total, err = s.Firings(ctx, ann, trigger.ID, 2, 1)
		if err != nil || total != 4 || !cmp.Equal(list, rows[1:3]) {
			t.Errorf("%d, %v: %s", total, err, cmp.Diff(rows[1:3], list))
		}
		if got := must(s.Firing(ctx, ann, rows[0].ID))(t); !cmp.Equal(got, rows[0]) {
			t.Error(cmp.Diff(rows[0], got))
		}
		_, err = s.Firing(ctx, bob, rows[0].ID)
		wantCode(t, err, blueprint.CodeNotFound)
		_, err = s.Firing(ctx, ann, "unknown")
		wantCode(t, err, blueprint.CodeNotFound)
		check(t, s.DeleteTrigger(ctx, ann, trigger.ID))
		_, err = s.Firing(ctx, ann, rows[0].ID)
		wantCode(t, err, blueprint.CodeNotFound)
		_, _, err = s.Firings(ctx, ann, trigger.ID, 20, 0)
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

// Secrets are nowhere in the files, and sealed text does not move.
func TestSealedAtRest(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	s := open(t, options)
	ann := user(t, s, "ann")
	secret := []any{map[string]any{"name": "token", "secret": true, "default": "canary-one"}}
	var ids []string
	for range 2 {
		made := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), Variables: secret}))(t)
		must(s.CreateTrigger(ctx, ann, made.ID, blueprint.TriggerSlack, map[string]any{"signingSecret": "canary-two"}))(t)
		ids = append(ids, made.ID)
	}
	for _, suffix := range []string{"", "-wal"} {
		if data := must(os.ReadFile(options.Path + suffix))(t); bytes.Contains(data, []byte("canary")) {
			t.Errorf("a secret is in the file %q", suffix)
		}
	}
	check(t, s.write(ctx, func(t *transaction) error {
		_, err := t.exec("UPDATE blueprint_contents SET sealed_variables = (SELECT sealed_variables FROM blueprint_contents WHERE blueprint_id = ?) WHERE blueprint_id = ?", ids[0], ids[1])
		return err
	}))
	must(s.GetBlueprint(ctx, ann, ids[0]))(t)
	_, err := s.GetBlueprint(ctx, ann, ids[1])
	wantCode(t, err, blueprint.CodeInternal)
}

// Who knows the schedules of a generation is told of what has changed since,
// and of nothing else.
func TestSchedulesSince(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b, other := create(t, s, ann, "T"), create(t, s, ann, "other")
		trigger := func(of blueprint.Blueprint) blueprint.Trigger {
			return must(s.CreateTrigger(ctx, ann, of.ID, blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}))(t)
		}
		names := map[string]string{trigger(b).ID: "a"}
		deleted, switched, orphan := trigger(b), trigger(b), trigger(other)
		names[deleted.ID], names[switched.ID], names[orphan.ID] = "deleted", "switched", "orphan"
		var generation int64
		want := func(step, want string) {
			t.Helper()
			list, now, err := s.Schedules(ctx, generation)
			check(t, err)
			got := ""
			for _, one := range list {
				got += " " + names[one.Trigger.ID]
				if !one.Trigger.IsActive {
					got += "-"
				}
			}
			if got != want {
				t.Errorf("%s:%s, want%s", step, got, want)
			}
			generation = now
		}
		want("at first", " a deleted switched orphan")
		want("nothing", "")
		user(t, s, "bob")
		check(t, s.RecordFirings(ctx, switched.ID, nil, blueprint.TimeOf(start.Add(time.Minute))))
		want("a moved cursor", "")
		off := false
		must(s.UpdateTrigger(ctx, ann, switched.ID, nil, &off))(t)
		check(t, s.DeleteTrigger(ctx, ann, deleted.ID))
		want("switched off and deleted", " deleted- switched-")
		must(s.DeleteBlueprint(ctx, ann, other.ID))(t)
		names[trigger(b).ID] = "new"
		want("a blueprint deleted and one made", " orphan- new")
		generation = 0
		want("anew", " a new")
	})
}
