package triggers

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
)

// TestOutageIsToldOnce: of all ticks of an outage one event tells, whatever
// becomes of each, and also when the disk has no room for some time in between.
func TestOutageIsToldOnce(t *testing.T) {
	for name, c := range map[string]struct {
		fails    func(n int) error // the n-th of the first five starts, counted from 0
		decision string
		started  int64
	}{
		"all run":        {func(int) error { return nil }, missedLate, 5},
		"none runs":      {func(int) error { return &blueprint.LaneFullError{Limit: 1, Running: 1} }, missedSkipped, 0},
		"all refused":    {func(int) error { return blueprint.Errorf(blueprint.CodeBadRequest, "it has no nodes") }, "refused", 0},
		"the third not":  {func(n int) error { return map[int]error{2: &blueprint.LaneFullError{Limit: 1}}[n] }, missedLate, 4},
		"no room within": {func(n int) error { return map[int]error{2: unavailable(time.Second)}[n] }, missedLate, 5},
		"no room first":  {func(n int) error { return map[int]error{0: unavailable(time.Second)}[n] }, missedLate, 5},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				disk, m := newMemory(), newMachine(begin.Add(5*time.Hour+30*time.Minute))
				id := disk.trigger(blueprint.TriggerScheduled, schedule("0 * * * *", "catchUp", "all"), begin)
				n := 0
				disk.refuseStart = func(*blueprint.StartRequest) error {
					if n++; n > 5 {
						return nil
					}
					return c.fails(n - 1)
				}
				s := newService(disk, m)
				stop := bring(t, s)
				pass(time.Minute)
				if s.Stats().Missed != 5 || s.Started() != c.started {
					t.Errorf("%d missed, %d started", s.Stats().Missed, s.Started())
				}
				pass(time.Hour)
				stop()
				if len(disk.events) != 1 {
					t.Fatalf("%d events: %+v", len(disk.events), disk.events)
				}
				data := disk.events[0].Data.(map[string]any)
				if data["triggerId"] != id || data["missed"] != json.Number("5") || data["decision"] != c.decision ||
					data["firstDueAt"] != instant(begin.Add(time.Hour)) || data["lastDueAt"] != instant(begin.Add(5*time.Hour)) {
					t.Errorf("%v", data)
				}
			})
		})
	}
}
