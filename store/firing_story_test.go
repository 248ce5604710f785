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
		if !cmp.Equal(story.Trigger, trigger) || story.BlueprintTitle != "T" || story.Owner.UserID != who.UserID || !story.CanManage || story.Firings != 20 || story.Oldest != all[0].ReceivedAt || story.CreatedAt != blueprint.TimeOf(start) {
			t.Errorf("story %+v", story)
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
