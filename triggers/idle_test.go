//go:build unix

package triggers_test

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/store"
	"blueprintd/triggers"
)

var (
	idleSchedules = flag.Int("schedules", 200, "how many active schedules an idle server has")
	idleFor       = flag.Duration("idle", 100*time.Millisecond, "how long it is watched between due minutes")
)

// watched tells when the schedules have been read.
type watched struct {
	*store.Store
	read chan int
}

func (w watched) Schedules(ctx context.Context, since int64) ([]blueprint.Schedule, int64, error) {
	list, generation, err := w.Store.Schedules(ctx, since)
	w.read <- len(list)
	return list, generation, err
}

// processor returns how much processor time this process has used.
func processor(t testing.TB) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestIdleSchedules measures what many active schedules cost while none is due,
// and what one change costs beside them. With the flags' defaults it only shows
// that it works; make bench-history asks for a hundred thousand.
func TestIdleSchedules(t *testing.T) {
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	source, logger := ids.New(nil), slog.New(slog.DiscardHandler)
	disk, err := store.Open(t.Context(), store.Options{
		Path: filepath.Join(t.TempDir(), "idle.db"), Server: true, Schema: string(schema), Clock: clock.Real{}, IDs: source, Logger: logger,
	})
	if err != nil {
		t.Fatal(err)
	}
	working, cancel := context.WithCancel(context.Background())
	var rooms sync.WaitGroup
	rooms.Go(func() {
		if err := disk.Run(working); err != nil {
			t.Error(err)
		}
	})
	user, err := disk.CreateUser(t.Context(), "ada@example.org", "Ada")
	if err != nil {
		t.Fatal(err)
	}
	ada := blueprint.Principal{UserID: user.ID}
	made, err := disk.CreateBlueprint(t.Context(), ada, blueprint.NewBlueprint{Title: "T", Map: map[string]any{"nodes": []any{}}})
	if err != nil {
		t.Fatal(err)
	}
	// Half an hour from now, so that none is due meanwhile.
	config := map[string]any{"cron": fmt.Sprintf("%d * * * *", time.Now().Add(30*time.Minute).Minute()), "catchUp": "none"}
	create := func() {
		if _, err := disk.CreateTrigger(t.Context(), ada, made.ID, blueprint.TriggerScheduled, config); err != nil {
			t.Error(err)
		}
	}
	begun := time.Now()
	var creating sync.WaitGroup
	for i := range 100 {
		creating.Go(func() {
			for n := i; n < *idleSchedules; n += 100 {
				create()
			}
		})
	}
	creating.Wait()
	t.Logf("%d schedules made in %v", *idleSchedules, time.Since(begun).Round(time.Millisecond))

	look := watched{disk, make(chan int)}
	service := triggers.New(triggers.Options{Store: look, Clock: clock.Real{}, IDs: source, Logger: logger})
	ended := make(chan error, 1)
	used, begun := processor(t), time.Now()
	go func() { ended <- service.Run(working) }()
	if n := <-look.read; n != *idleSchedules {
		t.Errorf("read %d schedules, want %v", n, *idleSchedules)
	}
	service.Changed()
	n := <-look.read // the first are in the agenda by now
	t.Logf("start: %v, of the processor %v", time.Since(begun).Round(time.Millisecond), (processor(t) - used).Round(time.Millisecond))
	if n != 0 {
		t.Errorf("read %d schedules again, though none had changed; want 0", n)
	}
	go func() {
		for range look.read { // the looks for changes of other processes
		}
	}()

	used, begun = processor(t), time.Now()
	alarm := time.NewTimer(*idleFor)
	<-alarm.C
	used, took := processor(t)-used, time.Since(begun)
	t.Logf("idle: %.3f %% of a core in %v (%v)", 100*used.Seconds()/took.Seconds(), took.Round(time.Millisecond), used)

	const changes = 50
	used, begun = processor(t), time.Now()
	for range changes {
		create()
		service.Changed()
	}
	t.Logf("a change: %v, of the processor %v", time.Since(begun)/changes, (processor(t)-used)/changes)
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	close(look.read)
	rooms.Wait()
	if err := disk.Close(); err != nil {
		t.Error(err)
	}
}
