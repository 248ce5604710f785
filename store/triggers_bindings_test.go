package store

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

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

func TestBinding(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		member := people["member"]
		b := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
		hook := must(s.CreateTrigger(ctx, member, b.ID, blueprint.TriggerWebhook, map[string]any{"secret": "hidden"}))(t)
		first := must(s.Binding(ctx, hook.ID))(t)
		if !cmp.Equal(first.Trigger, hook) || first.Principal != member || !first.CanManage || first.Definition.Version != "1.0.0" {
			t.Errorf("binding %+v, want %v, Principal %v, CanManage and Version 1.0.0", first, hook, member)
		}
		if again := must(s.Binding(ctx, hook.ID))(t); again != first {
			t.Errorf("the binding was read again though nothing had changed: %v, want %v", again, first)
		}
		title, on, off := "U", true, false
		must(s.UpdateBlueprint(ctx, people["creator"], b.ID, blueprint.BlueprintPatch{Title: &title}))(t)
		if got := must(s.Binding(ctx, hook.ID))(t); got.Definition.Version != "1.0.1" || got.Definition.Title != "U" {
			t.Errorf("after an update: %+v, want Version 1.0.1 and Title U", got.Definition)
		}
		must(s.UpdateTrigger(ctx, member, hook.ID, nil, &off))(t)
		if got := must(s.Binding(ctx, hook.ID))(t); got.Trigger.IsActive {
			t.Error("it is still active")
		}
		must(s.UpdateTrigger(ctx, member, hook.ID, nil, &on))(t)
		check(t, s.DropMember(ctx, member, team, member.UserID))
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
		check(t, record(s, firing(s, trigger, "no tick")))
		want("no cursor", at(3*time.Minute))
		advance(t, s, time.Hour)
		must(s.UpdateTrigger(ctx, ann, trigger.ID, merge(map[string]any{"catchUp": "all"}), &on))(t)
		want("other config", at(3*time.Minute))
		must(s.UpdateTrigger(ctx, ann, trigger.ID, merge(map[string]any{"cron": "0 * * * *"}), nil))(t)
		want("new schedule", at(time.Hour))
		advance(t, s, time.Hour)
		must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &off))(t)
		if got := cursors(t, s); len(got) != 0 {
			t.Errorf("inactive: %v, want none", got)
		}
		advance(t, s, time.Hour)
		must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &on))(t)
		want("active again", at(3*time.Hour))
	})
}

// A caller that has the schedules of a generation gets exactly those that changed
// since.
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

func TestSchedulesAfter(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		gone := create(t, s, ann, "gone")
		at := blueprint.TimeOf(s.options.Clock.Now())
		off := false
		var want []string
		for i := range 11 {
			one := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, map[string]any{"cron": fmt.Sprintf("%d * * * *", i)}))(t)
			switch i {
			case 3:
				must(s.UpdateTrigger(ctx, ann, one.ID, nil, &off))(t)
			case 5:
				check(t, s.DeleteTrigger(ctx, ann, one.ID))
			case 7: // what no version of this program wrote
				check(t, s.write(ctx, func(q *transaction) error {
					_, err := q.exec("UPDATE triggers SET config = '[1]' WHERE id = ?", one.ID)
					return err
				}))
				want = append(want, one.ID+" <nil> "+b.OrganizationID)
			default:
				check(t, s.RecordFirings(ctx, one.ID, nil, at+blueprint.Time(i)))
				want = append(want, fmt.Sprint(one.ID, fmt.Sprintf(" %d * * * * ", i), b.OrganizationID))
			}
			must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerManual, nil))(t)
			must(s.CreateTrigger(ctx, ann, gone.ID, blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}))(t)
		}
		must(s.DeleteBlueprint(ctx, ann, gone.ID))(t)
		for _, limit := range []int{1, 2, 3, 9, 10, 100} {
			var got []string
			for last := int64(0); ; {
				page, next, err := s.SchedulesAfter(ctx, last, limit)
				check(t, err)
				if len(page) > limit || len(page) == 0 && next != last {
					t.Errorf("a page of %d, limit %d, from %d to %d", len(page), limit, last, next)
				}
				for _, one := range page {
					got = append(got, fmt.Sprint(one.Trigger.ID, " ", one.Trigger.Config["cron"], " ", one.OrganizationID))
				}
				if last = next; len(page) == 0 {
					break
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("limit %d: %v, want %v", limit, got, want)
			}
		}
		page, _, err := s.SchedulesAfter(ctx, 0, 2)
		check(t, err)
		if page[1].Cursor != at+1 || page[1].Trigger.BlueprintID != b.ID || !page[1].Trigger.IsActive {
			t.Errorf("%+v, want Cursor %v, BlueprintID %v and IsActive", page[1], at+1, b.ID)
		}
	})
}

// A schedule whose config cannot be read, or not be decrypted, keeps no other
// from being fired.
func TestSchedulesUnread(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		add := func(config map[string]any) blueprint.Trigger {
			return must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, config))(t)
		}
		before := must(s.Generation(ctx))(t)
		sealed, strange, fine := add(nil), add(nil), add(map[string]any{"cron": "* * * * *"})
		check(t, s.write(ctx, func(q *transaction) error {
			if _, err := q.exec("UPDATE triggers SET config = NULL, sealed_config = ? WHERE id = ?", []byte("sealed"), sealed.ID); err != nil {
				return err
			}
			_, err := q.exec("UPDATE triggers SET config = '[1]' WHERE id = ?", strange.ID)
			return err
		}))
		for _, since := range []int64{0, before} {
			list, _, err := s.Schedules(ctx, since)
			check(t, err)
			var got []blueprint.Trigger
			for _, one := range list {
				got = append(got, one.Trigger)
			}
			want := []blueprint.Trigger{sealed, strange, fine}
			want[0].Config, want[1].Config = nil, nil
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("since %d (-want +got):\n%s", since, diff)
			}
		}
		page, _, err := s.SchedulesAfter(ctx, 0, 9)
		if err != nil || len(page) != 3 || page[0].Trigger.Config != nil {
			t.Errorf("%v %+v, want length 3 and Config nil", err, page)
		}
	})
}
