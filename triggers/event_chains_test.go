package triggers

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// A chain of events leads to so many runs and no more, which each ledger says
// once; runs that could not be started do not count.
func TestChains(t *testing.T) {
	m := newMemory()
	ids := []string{m.listener(nil), m.listener(nil)}
	s := newService(m, clock.NewVirtual(begin))
	raise := func(n int, root string) int {
		t.Helper()
		e := paid
		e.Key, e.Root = fmt.Sprint("k", n), root
		delivered, err := s.Emit(t.Context(), e)
		if blueprint.CodeOf(err) == blueprint.CodeInternal {
			t.Fatal(err)
		}
		return delivered
	}
	m.refuseStart = func(*blueprint.StartRequest) error { return unavailable(0) }
	raise(0, "root")
	m.refuseStart = nil
	raise(0, "") // another one
	before := len(m.snapshot())
	for n := range blueprint.MaxEventRuns {
		want := 2
		if n >= blueprint.MaxEventRuns/2 {
			want = 0
		}
		if got := raise(n+1, "root"); got != want {
			t.Fatalf("event %d started %d", n, got)
		}
	}
	rows := m.snapshot()[before:]
	if last := rows[blueprint.MaxEventRuns:]; len(last) != 2 || last[0].TriggerID != ids[0] || last[1].TriggerID != ids[1] || last[0].Decision != blueprint.DecisionRefused ||
		!strings.Contains(last[0].Reason, "root led to 1000 runs") || s.Stats().Unheard != blueprint.MaxEventRuns-2 {
		t.Errorf("rows %+v, %d unheard", last, s.Stats().Unheard)
	}
	if request := m.runs()[0]; request.Trigger.Root != "k0" || request.Trigger.Depth != 1 {
		t.Errorf("the first %+v", request.Trigger)
	}
	if request := m.runs()[2]; request.Trigger.Root != "root" {
		t.Errorf("another %+v", request.Trigger)
	}
	raise(0, "") // twice: it is nobody's run
	if one := s.chains.of("k0"); one.runs != 2 {
		t.Errorf("%d runs", one.runs)
	}
}

// Only so many chains are remembered, those that grew last.
func TestChainsAreBounded(t *testing.T) {
	var c chains
	for range blueprint.MaxEventRuns {
		c.grow("busy", "t")
	}
	for n := range 5 * maxChains {
		c.grow(fmt.Sprint(n), "t")
		if n%1000 == 0 {
			if grows, _ := c.grow("busy", "t"); grows {
				t.Fatalf("forgotten after %d", n)
			}
		}
	}
	if kept := len(c.now) + len(c.before); kept > 2*maxChains {
		t.Errorf("%d are kept", kept)
	}
}
