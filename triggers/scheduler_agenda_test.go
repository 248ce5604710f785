package triggers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// The agenda finds what a look at every schedule would find.
func TestAgenda(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var a agenda
	for range 20_000 {
		id := fmt.Sprint(random.IntN(50))
		switch random.IntN(4) {
		case 0:
			a.remove(id)
		case 1:
			now := begin.Add(time.Duration(random.IntN(60)) * time.Second)
			var want []*scheduled
			for _, one := range a.byID {
				if at := one.nextDue(); !at.IsZero() && !at.After(now) {
					want = append(want, one)
				}
			}
			slices.SortFunc(want, func(x, y *scheduled) int {
				if order := x.nextDue().Compare(y.nextDue()); order != 0 {
					return order
				}
				return x.order - y.order
			})
			got := a.due(now)
			if !slices.Equal(got, want) {
				t.Fatalf("due: %d, want %d", len(got), len(want))
			}
			for _, one := range got {
				one.next = one.next.Add(time.Duration(random.IntN(60)) * time.Second)
				a.enqueue(one)
			}
		default:
			one := a.byID[id]
			if one == nil || random.IntN(2) == 0 {
				one = &scheduled{trigger: blueprint.Trigger{ID: id}}
			}
			one.next, one.retry = time.Time{}, time.Time{}
			if random.IntN(5) > 0 {
				one.next = begin.Add(time.Duration(random.IntN(60)) * time.Second)
			}
			if random.IntN(5) == 0 {
				one.retry = begin.Add(time.Duration(random.IntN(60)) * time.Second)
			}
			a.add(one)
		}
	}
}

// A change costs a reading of what has changed, not of all schedules.
func TestChangesAreReadSinceTheLast(t *testing.T) {
	m := newMemory()
	v := clock.NewVirtual(begin)
	move := mover(t, v)
	m.trigger(blueprint.TriggerScheduled, schedule("0 * * * *"), begin)
	s := newService(m, v)
	start(t, s, move)
	for range 3 {
		s.Changed()
		move(v.Now())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// Reports of changes may be taken together.
	for i, since := range m.readings {
		if since != int64(i) {
			t.Fatalf("read since %v, want %v", m.readings, int64(i))
		}
	}
	if len(m.readings) < 3 {
		t.Errorf("read since %v, want length at least 3", m.readings)
	}
}
