package triggers

import (
	"fmt"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// What is kept for triggers does not grow with all triggers that ever were.
func TestWhatIsKeptForTriggersIsBounded(t *testing.T) {
	watch := clock.NewVirtual(begin)
	s := newService(newMemory(), watch)
	refuse := func(trigger string) bool {
		return s.mayRecord(&blueprint.Firing{TriggerID: trigger, Source: "webhook"}, blueprint.Because(blueprint.ReasonOff))
	}
	for range rowBurst + 1 {
		refuse("attacked")
	}
	for i := range 5 * minSweep {
		if i%minSweep == 0 { // the others have all rows to spare again
			if err := watch.Advance(t.Context(), watch.Now().Add(countDelay/rowRate+time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		refuse(fmt.Sprint("trigger ", i))
	}
	if got := len(s.brake.buckets); got > 3*minSweep {
		t.Errorf("%d buckets", got)
	}
	if b := s.brake.buckets["attacked"]; b == nil || b.rows > rowBurst/2 {
		t.Error("a trigger without rows to spare was forgotten")
	}

	for i := range 2*maxSchemas + 10 {
		trigger := blueprint.Trigger{ID: fmt.Sprint(i), Config: map[string]any{"inputSchema": map[string]any{"type": "object"}}}
		if err := s.schemas.check(&blueprint.Binding{Trigger: trigger}, map[string]any{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(s.schemas.compiled); got > maxSchemas {
		t.Errorf("%d compiled schemas", got)
	}
}
