package project

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"blueprintd/foundation/clock"
)

// The system reports what happens in a folder, also in one that is new: the watcher
// looks at once, while its clock stands. What it is about shows as without reports.
func TestWatchFollowsTheSystem(t *testing.T) {
	folder := t.TempDir()
	write(t, folder, "a.blueprint.yaml", "a")
	looks := make(chan struct{})
	still := clock.NewVirtual(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC))
	w := NewWatcher(still, scan(t, folder), func() (Listing, error) {
		found, err := Scan(folder)
		looks <- struct{}{}
		return found, err
	})
	w.Follow(func() []string { return Folders(folder) })
	if w.notifications == nil {
		t.Fatalf("the system reports nothing of %s", folder)
	}
	ctx, stop := context.WithCancel(t.Context())
	events := make(chan []Event)
	defer func() {
		for stop(); ; {
			select {
			case <-looks:
			case _, goesOn := <-events:
				if !goesOn {
					return
				}
			}
		}
	}()
	go func() {
		defer close(events)
		defer w.Close()
		for {
			all, err := w.Next(ctx)
			if err != nil {
				return
			}
			events <- all
		}
	}()
	advance := func() {
		t.Helper()
		if err := still.Advance(t.Context(), still.Now().Add(scanInterval)); err != nil {
			t.Fatal(err)
		}
	}
	// until advances the clock until an event is reported.
	until := func(want Event) {
		t.Helper()
		for {
			select {
			case got := <-events:
				if !slices.Equal(got, []Event{want}) {
					t.Fatalf("%v, want %v", got, want)
				}
				return
			case <-looks:
			default:
				advance()
			}
		}
	}
	write(t, folder, "b.blueprint.yaml", "b")
	until(Event{"b.blueprint.yaml", KindBlueprint, Created})
	advance()
	write(t, folder, "a.blueprint.yaml", "other")
	<-looks // while the clock stands
	until(Event{"a.blueprint.yaml", KindBlueprint, Changed})
	advance()
	if err := os.Mkdir(filepath.Join(folder, "new"), 0o700); err != nil {
		t.Fatal(err)
	}
	<-looks
	advance()
	write(t, folder, "new/c.test.yaml", "c")
	<-looks
	until(Event{"new/c.test.yaml", KindTest, Created})
}

// Where a folder cannot be followed, the watcher looks again and again.
func TestWatchWithoutReports(t *testing.T) {
	w := NewWatcher(clock.Real{}, nil, func() (Listing, error) { return Listing{}, nil })
	w.Follow(func() []string { return []string{"/proc"} }) // of which nothing is reported
	if w.notifications != nil {
		t.Errorf("a folder of processes is followed: %v, want notifications nil", w.notifications)
	}
	w.Close()
}
