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
