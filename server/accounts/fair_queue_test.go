package accounts

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"blueprintd/blueprint"
)

// One network can take no more than its share of the line, so that others have
// their turns, and who has waited for long is refused.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line := newFairQueue()
		line.works = make(chan struct{}, 2)
		var done []func()
		for i := range cap(line.works) {
			leave, err := line.take(t.Context(), fmt.Sprint("working ", i))
			if err != nil {
				t.Fatal(err)
			}
			done = append(done, leave)
		}
		ctx, cancel := context.WithCancel(t.Context())
		flood, others := make(chan error), make(chan error)
		wait := func(from string, outcome chan error) {
			leave, err := line.take(ctx, from)
			if err == nil {
				defer leave()
			}
			outcome <- err
		}
		for range networkWaiting {
			go wait("flood", flood)
		}
		synctest.Wait()
		if _, err := line.take(ctx, "flood"); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
			t.Errorf("one more of a flood: %v", err)
		}
		go wait("other", others)
		synctest.Wait()
		// Only the places of its network are before who comes from another one.
		done[0]()
		for range networkPlaces {
			if err := <-flood; err != nil {
				t.Fatal(err)
			}
		}
		if err := <-others; err != nil {
			t.Errorf("who comes from elsewhere: %v", err)
		}
		for range networkWaiting - networkPlaces {
			if err := <-flood; err != nil {
				t.Errorf("who has a place of the flood: %v", err)
			}
		}

		again, err := line.take(ctx, "other")
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			go wait("slow", others)
		}
		for range 3 { // nobody makes room, until patience has an end
			if err := <-others; blueprint.CodeOf(err) != blueprint.CodeUnavailable {
				t.Errorf("who waited for long: %v", err)
			}
		}
		go wait("gone", others)
		synctest.Wait()
		cancel()
		if err := <-others; err == nil {
			t.Error("who left had a turn")
		}
		again()
		done[1]()
		if line.all != 0 || len(line.networks) != 0 || len(line.works) != 0 {
			t.Errorf("%d of %d networks are still there, %d turns are taken", line.all, len(line.networks), len(line.works))
		}
	})
}

// However many networks there are, only so many wait.
func TestTurnsAreBounded(t *testing.T) {
	line := newFairQueue()
	line.all = maxWaiting
	if _, err := line.take(t.Context(), "new"); blueprint.CodeOf(err) != blueprint.CodeUnavailable {
		t.Errorf("one more: %v", err)
	}
}
