package trpc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// levels is a Shared whose levels do not fall.
type levels struct {
	nodes int
	err   error

	mu    sync.Mutex
	of    map[string]float64
	asked int
}

func (s *levels) LiveNodes() int { return s.nodes }

func (s *levels) ShareRate(_ context.Context, _ float64, calls map[string]float64) (map[string]float64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if s.err != nil {
		return nil, s.err
	}
	out := map[string]float64{}
	for key, n := range calls {
		s.of[key] = max(0, s.of[key]+n)
		out[key] = s.of[key]
	}
	return out, nil
}

// processes returns a limiter for each process, with a clock that stands.
func processes(n int, burst int) (*levels, []*Limiter) {
	shared := &levels{nodes: n, of: map[string]float64{}}
	var list []*Limiter
	now := newYear()
	for range n {
		limiter := NewLimiter(now, 50, burst)
		limiter.Shared = shared
		list = append(list, limiter)
	}
	return shared, list
}

// settle waits until a limiter has reported what it took back.
func settle(l *Limiter) {
	for busy := true; busy; runtime.Gosched() {
		l.mutex.Lock()
		busy = l.sharing
		l.mutex.Unlock()
	}
}

// Calls of all processes at once exceed the limit by four for each process at most.
func TestSharedLimit(t *testing.T) {
	for _, n := range []int{2, 3, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			const burst = 100
			_, list := processes(n, burst)
			var admitted atomic.Int64
			var group sync.WaitGroup
			for i := range 200 * n {
				group.Go(func() {
					if list[i%n].Take("k", 1) == nil {
						admitted.Add(1)
					}
				})
			}
			group.Wait()
			if got := int(admitted.Load()); got < burst || got > burst+n*ahead {
				t.Errorf("%d calls were admitted, want %d to %d", got, burst, burst+n*ahead)
			}
			for _, limiter := range list {
				settle(limiter)
			}
			for i, limiter := range list {
				_ = limiter.Take("k", 1) // the level may be out of date
				limiter.tick()
				var refused *blueprint.Error
				if err := limiter.Take("k", 1); !errors.As(err, &refused) || refused.Code != blueprint.CodeTooManyRequests || refused.RetryAfter > time.Second {
					t.Errorf("process %d: %v, want %v within a second", i, err, blueprint.CodeTooManyRequests)
				}
			}
		})
	}
}

// A batch is admitted by one of two processes that get one each.
func TestSharedLimitOfBatches(t *testing.T) {
	shared, list := processes(2, 100)
	var admitted atomic.Int64
	var group sync.WaitGroup
	for _, limiter := range list {
		group.Go(func() {
			if limiter.Take("k", 60) == nil {
				admitted.Add(1)
			}
		})
	}
	group.Wait()
	if admitted.Load() != 1 {
		t.Errorf("%d batches were admitted, want 1", admitted.Load())
	}
	for _, limiter := range list {
		settle(limiter)
	}
	if shared.of["k"] != 60 {
		t.Errorf("the level is %v, want 60: a refused batch takes nothing", shared.of["k"])
	}
}

// A few calls wait for nothing; the other processes know of them later.
func TestSharedLimitOfFewCalls(t *testing.T) {
	shared, list := processes(2, 6)
	take := func(i int, want bool) {
		t.Helper()
		if err := list[i].Take("k", 1); (err == nil) != want {
			t.Errorf("process %d: %v, want admitted %v", i, err, want)
		}
	}
	for range ahead {
		take(0, true)
	}
	if shared.asked != 0 {
		t.Errorf("the other processes were asked %d times, want 0", shared.asked)
	}
	list[0].tick()
	take(1, true)
	list[1].tick()
	take(1, true)
	take(1, false)
	take(0, true) // does not know the others' calls yet
	list[1].tick()
	list[0].tick()
	take(0, false)
	list[0].tick() // after a refusal it asks again
	list[0].tick() // has nothing to report
	list[1].tick()
	if shared.of["k"] != 7 || shared.asked != 5 {
		t.Errorf("level %v after %d questions, want 7 after 5", shared.of["k"], shared.asked)
	}
}

// Without the database each process limits by itself, and reports its calls afterwards.
func TestSharedLimitWithoutDatabase(t *testing.T) {
	shared, list := processes(2, 10)
	shared.err = errors.New("away")
	for range 10 {
		if err := list[0].Take("k", 1); err != nil {
			t.Fatal(err)
		}
	}
	if list[0].Take("k", 1) == nil {
		t.Error("the process does not limit by itself")
	}
	shared.err = nil
	list[0].tick()
	if shared.of["k"] != 10 {
		t.Errorf("the level is %v, want 10", shared.of["k"])
	}
	if list[1].Take("k", 5) == nil {
		t.Error("the other process does not know")
	}
}

// A process that is alone asks nothing, and reports its latest calls once there is a second one.
func TestSharedLimitOfOne(t *testing.T) {
	shared, list := processes(2, 100)
	shared.nodes = 1
	for _, calls := range []int{100, 1} {
		if err := list[0].Take(fmt.Sprint(calls), calls); err != nil {
			t.Fatal(err)
		}
	}
	list[0].tick()
	advance(t, list[0].clock.(*clock.Virtual), time.Second)
	list[0].tick()
	if shared.asked != 0 || len(list[0].unreported) != 1 {
		t.Errorf("asked %d times about %d keys, want 0 and 1", shared.asked, len(list[0].unreported))
	}
	shared.nodes = 2
	list[0].tick()
	if shared.of["100"] != 50 || len(shared.of) != 1 {
		t.Errorf("levels %v, want 50 of the first key", shared.of)
	}
}

func TestLimiterRuns(t *testing.T) {
	_, list := processes(2, 100)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	list[0].Run(ctx)
	(&Limiter{}).Run(t.Context()) // has nothing to do
}

// Only buckets that equal new ones are removed. Those with calls that wait, or that other
// processes do not know yet, stay.
func TestLimiterSweep(t *testing.T) {
	shared, list := processes(2, 100)
	l := list[0]
	shared.err = errors.New("no database")
	if err := l.Take("known", 1); err != nil {
		t.Fatal(err)
	}
	l.buckets["known"].unreported = 0
	for key, set := range map[string]func(*bucket){
		"unreported":  func(b *bucket) { b.unreported = 1 },
		"taken back":  func(b *bucket) { b.unreported = -1 },
		"reporting":   func(b *bucket) { b.reporting = 1 },
		"waiting":     func(b *bucket) { b.waiting = []*waitingCall{nil} },
		"not drained": func(b *bucket) { b.level = 51 },
	} {
		b := &bucket{at: l.clock.Now()}
		set(b)
		l.buckets[key] = b
	}
	advance(t, l.clock.(*clock.Virtual), time.Second)
	l.sweep(l.clock.Now(), false)
	if len(l.buckets) != 6 {
		t.Errorf("%d buckets are held below the threshold, want all 6", len(l.buckets))
	}
	l.sweepAt = 6
	l.sweep(l.clock.Now(), false)
	if _, held := l.buckets["known"]; held || len(l.buckets) != 5 {
		t.Errorf("the buckets %v are held, want all but the idle one", slices.Collect(maps.Keys(l.buckets)))
	}
	for i := range sweepFrom {
		l.buckets[fmt.Sprint(i)] = &bucket{at: l.clock.Now(), level: 100}
	}
	l.sweepAt = sweepFrom
	l.sweep(l.clock.Now(), false)
	if want := 2 * (sweepFrom + 5); l.sweepAt != want {
		t.Errorf("the next sweep is at %d buckets, want twice what is held: %d", l.sweepAt, want)
	}
}
