package engine

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// load is a fairQueue with runs that take and release slots.
type load struct {
	fairQueue
	working []*run
	came    map[string]int // runs of each flow that requested a slot
	served  map[string]int // runs of each flow that got a slot
}

func newLoad(slots, places int) *load {
	return &load{fairQueue: fairQueue{slots: slots, places: places, groups: map[string]*group{}}, came: map[string]int{}, served: map[string]int{}}
}

// request requests a slot for a run of a flow, as takeSlot does.
func (l *load) request(group, name string) {
	r := &run{fold: fold{id: fmt.Sprint(l.came[group+name])}}
	l.came[group+name]++
	r.flow = l.flow(group, name)
	r.element.value = r
	if l.hasSlotFor(r.flow) {
		l.addTaken(r.flow, 1)
		l.serve(r)
	} else {
		l.push(r.flow, &r.element)
	}
}

func (l *load) serve(r *run) string {
	name := r.flow.group.name + r.flow.name
	if r.id != fmt.Sprint(l.served[name]) {
		panic("run " + r.id + " of " + name + " is out of order")
	}
	l.served[name]++
	l.working = append(l.working, r)
	return name
}

// end releases the slot of a run, as releaseSlot does, and returns the flows that get
// slots.
func (l *load) end(i int) (next []string) {
	r := l.working[i]
	l.working = append(l.working[:i], l.working[i+1:]...)
	l.addTaken(r.flow, -1)
	for r := l.pop(); r != nil; r = l.pop() {
		next = append(next, l.serve(r))
	}
	return next
}

// Bounds hold at all times, no flow waits that may have a slot, and nothing is left at
// the end.
func TestFlowsKeepTheirBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots := rapid.IntRange(1, 20).Draw(t, "slots")
		l := newLoad(slots, 1000)
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			if len(l.working) > 0 && rapid.Bool().Draw(t, "ends") {
				l.end(rapid.IntRange(0, len(l.working)-1).Draw(t, "which"))
			} else {
				l.request(rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "group"), rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "flow"))
			}
			l.check(t)
		}
		for len(l.working) > 0 {
			l.end(0)
			l.check(t)
		}
		if l.taken != 0 || l.queued != 0 || len(l.groups) != 0 {
			t.Fatalf("%d slots and %d runs are left, %d groups; want 0, 0 and 0", l.taken, l.queued, len(l.groups))
		}
	})
}

func (l *load) check(t *rapid.T) {
	taken, queued := 0, 0
	for _, g := range l.groups {
		inGroup, waiting := 0, 0
		for _, f := range g.flows {
			inGroup += f.taken
			waiting += f.waiting.length
			if f.taken > 0 && f.taken > mostOf(l.slotCount(), flowShare) {
				t.Fatalf("%s%s has %d of %d slots", g.name, f.name, f.taken, l.slotCount())
			}
			if f.waiting.length > 0 && l.hasSlotFor(f) {
				t.Fatalf("%s%s waits with %d slots although %d are free", g.name, f.name, f.taken, l.free())
			}
			if f.taken+f.waiting.length == 0 {
				t.Fatalf("%s%s is not removed, want other than 0", g.name, f.name)
			}
		}
		if inGroup != g.taken || waiting != g.queued || inGroup > mostOf(l.slotCount(), groupShare) {
			t.Fatalf("group %s: %d slots, counted %d; %d runs, counted %d", g.name, inGroup, g.taken, waiting, g.queued)
		}
		taken += inGroup
		queued += waiting
	}
	if taken != l.taken || queued != l.queued || taken != len(l.working) || taken > l.slotCount() {
		t.Fatalf("%d slots, counted %d, %d work; %d runs, counted %d", taken, l.taken, len(l.working), queued, l.queued)
	}
}

func (l *load) slotCount() int { return l.fairQueue.slots }

// mostOf returns how many slots a lone flow or group may have.
func mostOf(all, share int) int {
	taken := 0
	for taken/share+1 <= all-taken {
		taken++
	}
	return taken
}

// One slot goes round-robin to the organizations, and within each to its flows, however
// many runs wait.
func TestFlowsRoundRobin(t *testing.T) {
	l := newLoad(1, 1000)
	for range 50 {
		l.request("noisy", "1")
	}
	for range 10 {
		l.request("calm", "1")
		l.request("calm", "2")
		l.request("other", "1")
	}
	for round := range 20 {
		seen := map[string]int{}
		for range 6 {
			seen[l.end(0)[0]]++
			l.request("noisy", "1") // does not move the flow back
		}
		if round < 5 && (seen["noisy1"] != 2 || seen["calm1"] != 1 || seen["calm2"] != 1 || seen["other1"] != 2) {
			t.Errorf("round %d: %v", round, seen)
		}
	}
	if l.served["noisy1"] < 60 || l.served["calm1"] != 10 || l.served["calm2"] != 10 || l.served["other1"] != 10 {
		t.Errorf("served %v, want noisy1 at least 60, calm1 10, calm2 10 and other1 10", l.served)
	}
}

// A lone flow leaves a ninth of many slots and places free, a lone organization a
// seventeenth; of a few they leave none.
func TestFlowsLeaveCapacity(t *testing.T) {
	for _, test := range []struct{ most, alone, group int }{{1, 1, 1}, {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {10, 9, 10}, {1000, 889, 942}} {
		t.Run(fmt.Sprint(test.most), func(t *testing.T) {
			alone, group := newLoad(test.most, test.most), newLoad(test.most, test.most)
			queue := newLoad(test.most, test.most)
			queued := func(l *load, name string) bool {
				f := l.flow("A", name)
				defer l.update(f)
				if may, _ := l.hasPlaceFor(f); !may {
					return false
				}
				l.push(f, &element[*run]{})
				return true
			}
			waiting := 0
			for i := range 2 * test.most {
				alone.request("A", "1")
				group.request("A", fmt.Sprint(i%7))
				if queued(queue, "1") {
					waiting++
				}
			}
			if len(alone.working) != test.alone || waiting != test.alone || len(group.working) > test.group || len(group.working) < test.group-1 {
				t.Errorf("of %d a flow alone has %d slots and %d places, a group %d slots; want %v, %v, at most %v and at least %v", test.most, len(alone.working), waiting, len(group.working), test.alone, test.alone, test.group, test.group-1)
			}
		})
	}
}

// However many flows there are, all get equal shares.
func TestFlowsAreEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		slots, flows := rapid.IntRange(1, 30).Draw(t, "slots"), rapid.IntRange(2, 12).Draw(t, "flows")
		l := newLoad(slots, 100_000)
		for range 400 {
			for i := range flows {
				l.request(fmt.Sprint("org", i), "x")
			}
		}
		for range 20 * flows {
			l.end(rapid.IntRange(0, len(l.working)-1).Draw(t, "which"))
		}
		least, most := 1<<30, 0
		for i := range flows {
			n := l.served[fmt.Sprintf("org%dx", i)]
			least, most = min(least, n), max(most, n)
		}
		if least < 5 {
			t.Fatalf("of %d slots, %d flows had from %d to %d; want at least 5", slots, flows, least, most)
		}
	})
}

// A start and an end cost the same however many runs wait.
func BenchmarkFairQueue(b *testing.B) {
	for _, flows := range []int{1, 10, 1000} {
		b.Run(fmt.Sprint(flows), func(b *testing.B) {
			l := newLoad(1000, 100_000)
			group, name := make([]string, flows), make([]string, flows)
			for i := range flows {
				group[i], name[i] = fmt.Sprint("org", i/3), fmt.Sprint("flow", i)
			}
			for i := range 20_000 {
				l.request(group[i%flows], name[i%flows])
			}
			b.ReportAllocs()
			for at := 0; b.Loop(); at++ {
				i := at % len(l.working)
				r := l.working[i]
				l.working[i] = l.working[len(l.working)-1]
				l.working = l.working[:len(l.working)-1]
				l.addTaken(r.flow, -1)
				for next := l.pop(); next != nil; next = l.pop() {
					l.working = append(l.working, next)
				}
				r.flow = l.flow(group[at%flows], name[at%flows])
				if l.hasSlotFor(r.flow) {
					l.addTaken(r.flow, 1)
					l.working = append(l.working, r)
				} else {
					l.push(r.flow, &r.element)
				}
			}
		})
	}
}
