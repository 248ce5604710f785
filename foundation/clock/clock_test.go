package clock_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"blueprintd/foundation/clock"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// record collects what happened, in order.
type record struct {
	mu    sync.Mutex
	lines []string
}

func (r *record) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, line)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.lines, " ")
}

func advance(t testing.TB, v *clock.Virtual, by time.Duration) {
	t.Helper()
	if err := v.Advance(t.Context(), v.Now().Add(by)); err != nil {
		t.Fatal(err)
	}
}

func TestVirtualCallsInOrder(t *testing.T) {
	v := clock.NewVirtual(start.Add(999 * time.Nanosecond))
	if !v.Now().Equal(start) {
		t.Fatalf("the clock is at %v, want %v", v.Now(), start)
	}
	var got record
	at := func(seconds int, name string) {
		due := start.Add(time.Duration(seconds) * time.Second)
		v.At(due, func() {
			if !v.Now().Equal(due) {
				t.Errorf("%s is called at %v, want %v", name, v.Now(), due)
			}
			got.add(name)
		})
	}
	at(3, "c")
	at(1, "a")
	at(3, "d")
	at(2, "b")
	at(5, "e")
	advance(t, v, 3*time.Second)
	if got.String() != "a b c d" {
		t.Errorf("got %s, want a b c d", &got)
	}
	if !v.Now().Equal(start.Add(3 * time.Second)) {
		t.Errorf("the clock is at %v", v.Now())
	}
	advance(t, v, time.Hour)
	if got.String() != "a b c d e" {
		t.Errorf("got %s, want a b c d e", &got)
	}
}

// What a call plans within the span is called too, at its own instant.
func TestVirtualGoesThroughWhatIsPlannedOnTheWay(t *testing.T) {
	v := clock.NewVirtual(start)
	var got record
	var again func()
	again = func() {
		got.add(v.Now().Format("04:05"))
		v.At(v.Now().Add(20*time.Second), again)
	}
	v.At(start.Add(20*time.Second), again)
	advance(t, v, time.Minute)
	if got.String() != "00:20 00:40 01:00" {
		t.Errorf("got %s, want 00:20 00:40 01:00", &got)
	}
}

func TestVirtualCallsAtOnceWhatIsDue(t *testing.T) {
	v := clock.NewVirtual(start)
	done := make(chan struct{})
	timer := v.At(start, func() { close(done) })
	<-done
	if timer.Stop() {
		t.Error("a call that was made can be stopped")
	}
}

func TestVirtualStop(t *testing.T) {
	v := clock.NewVirtual(start)
	var got record
	first := v.At(start.Add(time.Second), func() { got.add("first") })
	second := v.At(start.Add(2*time.Second), func() { got.add("second") })
	if !first.Stop() || first.Stop() {
		t.Error("a call can be stopped once")
	}
	advance(t, v, time.Minute)
	if second.Stop() || got.String() != "second" {
		t.Errorf("got %s", &got)
	}
	if (*clock.Timer)(nil).Stop() {
		t.Error("a nil timer is stopped")
	}
}

// The clock does not advance while it is held, nor while a callback runs.
func TestVirtualWaitsForHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual(start)
		var got record
		inside := make(chan struct{})
		v.At(start.Add(time.Second), func() { <-inside; got.add("call") })
		v.At(start.Add(2*time.Second), func() { got.add("next") })
		release := v.Hold()
		other := v.Hold()
		go func() { got.add(fmt.Sprint(v.Advance(t.Context(), start.Add(time.Minute)))) }()
		synctest.Wait()
		if !v.Now().Equal(start) {
			t.Error("a held clock moves")
		}
		release()
		release() // counts once
		synctest.Wait()
		if !v.Now().Equal(start) {
			t.Error("a clock moves that is still held")
		}
		other()
		synctest.Wait()
		if !v.Now().Equal(start.Add(time.Second)) {
			t.Errorf("during a call the clock is at %v", v.Now())
		}
		close(inside)
		synctest.Wait()
		if got.String() != "call next <nil>" || !v.Now().Equal(start.Add(time.Minute)) {
			t.Errorf("got %s at %v", &got, v.Now())
		}
	})
}

func TestVirtualRefusesToGoBack(t *testing.T) {
	v := clock.NewVirtual(start)
	if err := v.Advance(t.Context(), start.Add(-time.Second)); !errors.Is(err, clock.ErrBackwards) {
		t.Errorf("got %v, want %v", err, clock.ErrBackwards)
	}
	if err := v.Advance(t.Context(), start); err != nil {
		t.Errorf("standing still: %v", err)
	}
}

func TestVirtualAdvanceEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := clock.NewVirtual(start)
		release := v.Hold()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- v.Advance(ctx, start.Add(time.Hour)) }()
		synctest.Wait()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
		release()
		if err := v.Advance(ctx, start.Add(time.Hour)); !errors.Is(err, context.Canceled) || !v.Now().Equal(start) {
			t.Errorf("got %v at %v, want %v and %v", err, v.Now(), context.Canceled, start)
		}
	})
}

// Two that move the clock at the same time take turns; one may find that the
// other has passed its goal.
func TestVirtualConcurrentUse(t *testing.T) {
	v := clock.NewVirtual(start)
	var calls record
	for i := range 50 {
		v.At(start.Add(time.Duration(i)*time.Second), func() { calls.add("x") })
	}
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			if err := v.Advance(t.Context(), start.Add(time.Duration(i)*time.Minute)); err != nil && !errors.Is(err, clock.ErrBackwards) {
				t.Error(err)
			}
		})
		group.Go(func() { v.Hold()() })
		group.Go(func() { v.At(start.Add(time.Hour), func() {}).Stop() })
	}
	group.Wait()
	if n := strings.Count(calls.String(), "x"); n != 50 || !v.Now().Equal(start.Add(3*time.Minute)) {
		t.Errorf("%d calls, the clock is at %v", n, v.Now())
	}
}

// Whatever is planned and stopped, calls come in the order of their instants,
// and of one instant in the order in which they were planned.
func TestVirtualOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := clock.NewVirtual(start)
		var got, want record
		due := rapid.SliceOfN(rapid.IntRange(1, 9), 0, 30).Draw(t, "due")
		stopped := rapid.SliceOfN(rapid.Bool(), len(due), len(due)).Draw(t, "stopped")
		timers := make([]*clock.Timer, len(due))
		for i, seconds := range due {
			timers[i] = v.At(start.Add(time.Duration(seconds)*time.Second), func() { got.add(fmt.Sprint(i)) })
		}
		var order []int
		for i := range due {
			if stopped[i] {
				timers[i].Stop()
			} else {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return due[a] - due[b] })
		for _, i := range order {
			want.add(fmt.Sprint(i))
		}
		for range 10 {
			if err := v.Advance(context.Background(), v.Now().Add(time.Second)); err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != want.String() {
			t.Fatalf("got %s, want %s", &got, &want)
		}
	})
}

func TestReal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock.Clock = clock.Real{}
		begin := c.Now()
		if begin.Location() != time.UTC {
			t.Error("the time is not in UTC")
		}
		c.Hold()()
		done := make(chan time.Duration, 1)
		c.At(begin.Add(time.Hour), func() { done <- c.Now().Sub(begin) })
		if took := <-done; took != time.Hour {
			t.Errorf("called after %v, want %v", took, time.Hour)
		}
		c.At(begin, func() { done <- c.Now().Sub(begin) })
		if took := <-done; took != time.Hour {
			t.Errorf("what is due is called after %v, want %v", took, time.Hour)
		}
	})
}

func TestRealStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c clock.Clock = clock.Real{}
		called := make(chan struct{})
		timer := c.At(c.Now().Add(10*time.Minute), func() { close(called) })
		stop := c.At(c.Now().Add(5*time.Minute), func() {
			if !timer.Stop() || timer.Stop() {
				t.Error("a call can be stopped once")
			}
		})
		wait := make(chan struct{})
		c.At(c.Now().Add(time.Hour), func() { close(wait) })
		<-wait
		select {
		case <-called:
			t.Error("called anyway")
		default:
		}
		if stop.Stop() {
			t.Error("a call that was made can be stopped")
		}
	})
}
