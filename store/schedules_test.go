package store

import (
	"context"
	"fmt"
	"testing"

	"blueprintd/blueprint"
)

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
			t.Errorf("%+v", page[1])
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
			if _, err := q.exec("UPDATE triggers SET config = NULL, sealed_config = x'00112233' WHERE id = ?", sealed.ID); err != nil {
				return err
			}
			_, err := q.exec("UPDATE triggers SET config = '[1]' WHERE id = ?", strange.ID)
			return err
		}))
		for _, since := range []int64{0, before} {
			list, _, err := s.Schedules(ctx, since)
			if err != nil || len(list) != 3 || list[0].Trigger.ID != sealed.ID || list[0].Trigger.Config != nil || !list[1].Trigger.IsActive || list[1].Trigger.Config != nil || list[2].Trigger.ID != fine.ID || list[2].Trigger.Config["cron"] == nil {
				t.Errorf("since %d: %v %+v", since, err, list)
			}
		}
		page, _, err := s.SchedulesAfter(ctx, 0, 9)
		if err != nil || len(page) != 3 || page[0].Trigger.Config != nil {
			t.Errorf("%v %+v", err, page)
		}
	})
}
