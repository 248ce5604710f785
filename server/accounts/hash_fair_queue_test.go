package accounts

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"blueprintd/blueprint"
)

// A network cannot take more than its share of the queue, and a caller that waited too long
// is refused.
func TestFairQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := newFairQueue()
		queue.hashing = make(chan struct{}, 2)
		var done []func()
		for i := range cap(queue.hashing) {
			leave, err := queue.take(t.Context(), fmt.Sprint("working ", i))
			if err != nil {
				t.Fatal(err)
			}
			done = append(done, leave)
		}
		ctx, cancel := context.WithCancel(t.Context())
		flood, others := make(chan error), make(chan error)
		wait := func(from string, outcome chan error) {
			leave, err := queue.take(ctx, from)
			if err == nil {
				defer leave()
			}
			outcome <- err
		}
		for range networkWaiting {
			go wait("flood", flood)
		}
		synctest.Wait()
		if _, err := queue.take(ctx, "flood"); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			t.Errorf("one more of a flood: %v, want %v", err, blueprint.CodeUnavailable)
		}
		go wait("other", others)
		synctest.Wait()
		// A caller of another network waits only for the slots of the first network.
		done[0]()
		for range networkSlots {
			if err := <-flood; err != nil {
				t.Fatal(err)
			}
		}
		if err := <-others; err != nil {
			t.Errorf("a caller of another network: %v", err)
		}
		for range networkWaiting - networkSlots {
			if err := <-flood; err != nil {
				t.Errorf("a waiting caller of the flood: %v", err)
			}
		}

		again, err := queue.take(ctx, "other")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			go wait("slow", others)
		}
		for range 3 { // no slot is released within maxWait
			if err := <-others; blueprint.CodeOf(err) != blueprint.CodeUnavailable {
				t.Errorf("a caller that waited too long: %v, want %v", err, blueprint.CodeUnavailable)
			}
		}
		go wait("gone", others)
		synctest.Wait()
		cancel()
		if err := <-others; err == nil {
			t.Error("a cancelled caller acquired a slot, want an error")
		}
		again()
		done[1]()
		if queue.all != 0 || len(queue.networks) != 0 || len(queue.hashing) != 0 {
			t.Errorf("%d callers of %d networks are left, %d are hashing; want 0, 0 and 0", queue.all, len(queue.networks), len(queue.hashing))
		}
	})
}

// The number of waiting callers is limited over all networks.
func TestFairQueueIsBounded(t *testing.T) {
	queue := newFairQueue()
	queue.all = maxWaiting
	if _, err := queue.take(t.Context(), "new"); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
		t.Errorf("one more: %v, want %v", err, blueprint.CodeUnavailable)
	}
}
