package memory

import (
	"testing"
	"testing/synctest"
	"time"
)

// Memory is full only if its live objects are too many, and then until an eighth is free again.
func TestFull(t *testing.T) {
	for _, c := range []struct {
		name                   string
		size, live             uint64 // before and after a collection
		before, want, collects bool
	}{
		{name: "little", size: 100, live: 100},
		{name: "garbage", size: 101, live: 20, collects: true},
		{name: "live objects", size: 101, live: 101, want: true, collects: true},
		{name: "too little is free", size: 101, live: 90, before: true, want: true, collects: true},
		{name: "enough is free", size: 101, live: 87, before: true, collects: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			size, collected := c.size, false
			g := gauge{most: 60, ignored: 40, full: c.before, read: func() uint64 { return size }, collect: func() { size, collected = c.live, true }}
			if got := g.isFull(); got != c.want || collected != c.collects {
				t.Errorf("full %v, collected %v; want %v and %v", got, collected, c.want, c.collects)
			}
		})
	}
}

// Without a limit memory is never full. It is reported once.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if Full() || !Free(t.Context(), 0) {
			t.Error("full without a limit")
		}
		time.Sleep(time.Hour)
		reports := 0
		OnFull(func() { reports++ })
		defer OnFull(nil)
		SetLimit(1)
		defer SetLimit(0)
		for range 3 {
			if Free(t.Context(), time.Second) {
				t.Error("memory is free, want full")
			}
			synctest.Wait()
		}
		if reports != 1 {
			t.Errorf("reported %d times, want once", reports)
		}
		SetLimit(0)
		if !Free(t.Context(), time.Second) {
			t.Error("memory is full without a limit again")
		}
	})
}
