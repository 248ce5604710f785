package script

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// line is a fairQueue with scripts that are asked for one after the other.
type line struct {
	t *testing.T
	*fairQueue
	scripts map[string]*lined
	order   []string
}

// lined is a script of a line: it waits, runs (release is there), or is gone.
type lined struct {
	tenant  string
	leave   context.CancelFunc
	release chan func()
	runs    func()
}

func (l *line) ask(name, tenant string, size int64) {
	ctx, cancel := context.WithCancel(context.Background())
	script := &lined{tenant: tenant, leave: cancel, release: make(chan func(), 1)}
	before := l.waiters(tenant)
	go func() {
		release, _ := l.acquire(ctx, tenant, size)
		script.release <- release
	}()
	// It runs at once or waits, and the next one asks only then.
	for script.runs == nil && l.waiters(tenant) == before {
		select {
		case script.runs = <-script.release:
		default:
		}
	}
	l.scripts[name], l.order = script, append(l.order, name)
}

func (l *line) waiters(tenant string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if who := l.tenants[tenant]; who != nil {
		return len(who.waiting)
	}
	return 0
}

// running returns the names of those that run, once no more can begin.
func (l *line) running() string {
	l.mu.Lock()
	waiting := 0
	for _, who := range l.tenants {
		waiting += len(who.waiting)
	}
	l.mu.Unlock()
	begun := 0
	for _, s := range l.scripts {
		if s.runs != nil {
			begun++
		}
	}
	for begun+waiting < len(l.scripts) { // some have their slots and are on their way
		for _, s := range l.scripts {
			if s.runs == nil {
				select {
				case s.runs = <-s.release:
					begun++
				default:
				}
			}
		}
	}
	var names []string
	for _, name := range l.order {
		if s := l.scripts[name]; s != nil && s.runs != nil {
			names = append(names, name)
		}
	}
	return strings.Join(names, " ")
}

// do follows orders: "a1:4" asks for four slots for the first script of tenant
// a, "-a1" ends it or its waiting.
func (l *line) do(orders string) {
	for order := range strings.FieldsSeq(orders) {
		if name, ends := strings.CutPrefix(order, "-"); ends {
			l.running()
			s := l.scripts[name]
			delete(l.scripts, name)
			if s.leave(); s.runs != nil {
				s.runs()
			} else if release := <-s.release; release != nil {
				l.t.Errorf("%s got slots when it left", name)
			}
			continue
		}
		var size int64
		name, number, _ := strings.Cut(order, ":")
		fmt.Sscan(number, &size)
		l.ask(name, name[:1], size)
	}
}

func newLine(t *testing.T, slots int) *line {
	return &line{t: t, fairQueue: newFairQueue(slots), scripts: map[string]*lined{}}
}

func (l *line) end() {
	for _, name := range l.order {
		if l.scripts[name] != nil {
			l.do("-" + name)
		}
	}
	if len(l.tenants) != 0 || len(l.waiting) != 0 {
		l.t.Errorf("%d tenants, %d of them waiting, when none is left", len(l.tenants), len(l.waiting))
	}
}

func TestTurns(t *testing.T) {
	passing := ""
	for i := range maxOvertaken {
		passing += fmt.Sprintf(" c%d:1 -c%d", i, i)
	}
	for _, test := range []struct {
		name   string
		slots  int
		orders string
		want   string // what runs
	}{
		{"half for one", 8, "a1:1 a2:1 a3:1 a4:1 a5:1", "a1 a2 a3 a4"},
		{"the other half for others", 8, "a1:4 a2:1 b1:4 c1:1", "a1 b1"},
		{"the largest is half", 8, "a1:8 b1:8 c1:1", "a1 b1"},
		{"at least one", 1, "a1:8 b1:1", "a1"},
		{"half of an odd number", 9, "a1:8 b1:8 c1:1 c2:1", "a1 b1 c1"},
		{"three that are large leave half", 8, "a1:8 a2:8 a3:8 b1:1 b2:1 b3:1 b4:1", "a1 b1 b2 b3 b4"},
		{"a small one passes a large one of another", 8, "a1:4 b1:2 c1:4 d1:1 d2:1", "a1 b1 d1 d2"},
		{"a small one overtakes a large one of its tenant", 8, "a1:2 a2:4 a3:2 a4:1", "a1 a3"},
		{"in turn", 8, "x1:4 y1:4 a1:1 a2:1 a3:1 b1:1 c1:1 -x1", "y1 a1 a2 b1 c1"},
		{"in turn again", 8, "x1:4 y1:4 a1:2 a2:2 b1:2 b2:2 -x1", "y1 a1 b1"},
		{"the order of one tenant", 8, "a1:4 a2:1 a3:1 -a1 -a2", "a3"},
		{"one that left", 8, "a1:4 a2:4 a3:1 -a2 b1:4 -a1", "a3 b1"},
		{"a freed slot goes to one that did not fit", 8, "a1:4 b1:1 c1:4 -b1", "a1 c1"},
		{"not passed for ever", 8, "a1:4 b1:1 d1:4" + passing + " e1:1", "a1 b1"},
		{"then it is next", 8, "a1:4 b1:1 d1:4" + passing + " e1:1 -b1", "a1 d1"},
		{"and then the others", 8, "a1:4 b1:1 d1:4" + passing + " e1:1 -b1 -a1", "d1 e1"},
		{"or it leaves", 8, "a1:4 b1:1 d1:4" + passing + " e1:1 -d1", "a1 b1 e1"},
		{"not passed by its own for ever", 8, "c:1 c1000:4" + passing + " c2000:1", "c"},
		{"one that waits for its own tenant blocks no other", 8, "c:1 c1000:4" + passing + " c2000:1 d1:4", "c d1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newLine(t, test.slots)
			l.do(test.orders)
			if got := l.running(); got != test.want {
				t.Errorf("%s run, want %s", got, test.want)
			}
			l.end()
		})
	}
}

// No slot is lost or granted twice, whichever waiters give up.
func TestSlotsAreConserved(t *testing.T) {
	const slots = 9
	queue := newFairQueue(slots)
	var mu sync.Mutex
	held := map[string]int64{}
	var everybody sync.WaitGroup
	for i := range 64 {
		everybody.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			name := string(rune('a' + i%5))
			for range 300 {
				ctx, cancel := context.WithCancelCause(context.Background())
				left := errors.New("left")
				if random.IntN(3) == 0 {
					go cancel(left)
				}
				size := int64(1) << random.IntN(4)
				release, err := queue.acquire(ctx, name, size)
				cancel(nil)
				if err != nil {
					if !errors.Is(err, left) {
						t.Errorf("%v, want %v", err, left)
					}
					continue
				}
				size = min(size, slots/2)
				mu.Lock()
				held[name] += size
				held[""] += size
				if held[name] > slots/2 || held[""] > slots {
					t.Errorf("%d slots of %s, %d of all; want at most %v and at most %v", held[name], name, held[""], slots/2, slots)
				}
				mu.Unlock()
				mu.Lock()
				held[name] -= size
				held[""] -= size
				mu.Unlock()
				release()
			}
		})
	}
	everybody.Wait()
	if queue.free != slots || len(queue.tenants) != 0 || len(queue.waiting) != 0 {
		t.Errorf("%d slots are free, %d tenants are left; want %v, 0 and none", queue.free, len(queue.tenants), slots)
	}
}
