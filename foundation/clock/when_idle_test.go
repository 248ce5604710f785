package clock

import (
	"context"
	"sync"
	"testing"
	"time"
)

func TestTurns(t *testing.T) {
	v := NewVirtual(time.UnixMilli(0))
	release := v.Hold()
	var mu sync.Mutex
	var order []int
	for i := range 20 {
		v.WhenIdle(func() {
			inner := v.Hold() // what it began ends later
			go func() {
				defer inner()
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			}()
		})
	}
	if len(order) > 0 {
		t.Errorf("a callback ran while the clock was held: %v, want none", order)
	}
	release()
	if err := v.Advance(t.Context(), time.UnixMilli(1)); err != nil {
		t.Fatal(err)
	}
	for i, n := range order {
		if i != n {
			t.Fatalf("order %v, want %v", order, n)
		}
	}
	if len(order) != 20 {
		t.Errorf("%d callbacks ran, want 20", len(order))
	}
}

// After WaitIdle has run out of patience and until done is called, WhenIdle runs its
// callback at once although the clock is held.
func TestWhenIdleDuringWaitIdle(t *testing.T) {
	v := NewVirtual(time.UnixMilli(0))
	v.WaitIdle(t.Context(), time.Hour)()
	release := v.Hold()
	done := v.WaitIdle(t.Context(), time.Millisecond)
	ran := make(chan struct{})
	v.WhenIdle(func() { close(ran) })
	<-ran
	done()
	late := make(chan struct{})
	v.WhenIdle(func() { close(late) })
	select {
	case <-late:
		t.Error("the callback ran after done, while the clock was held")
	default:
	}
	release()
	<-late
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	hold := v.Hold()
	v.WaitIdle(gone, time.Hour)()
	hold()
}

func TestNext(t *testing.T) {
	v := NewVirtual(time.UnixMilli(0))
	if _, ok := v.Next(); ok {
		t.Error("something is due")
	}
	tidied := make(chan struct{})
	v.Upkeep(time.UnixMilli(2), func() { close(tidied) })
	if at, ok := v.Next(); ok {
		t.Errorf("what a server does for itself is due at %s", at)
	}
	v.At(time.UnixMilli(9), func() {})
	v.At(time.UnixMilli(5), func() {})
	if at, ok := v.Next(); !ok || at.UnixMilli() != 5 {
		t.Errorf("next %s, want UnixMilli 5", at)
	}
	if err := v.Advance(t.Context(), time.UnixMilli(2)); err != nil {
		t.Fatal(err)
	}
	<-tidied // all the same
}
