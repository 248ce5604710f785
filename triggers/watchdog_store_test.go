package triggers

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/store"
)

// openDisk opens a store over a file, with a user and a blueprint of theirs.
func openDisk(t testing.TB, c clock.Clock) (*store.Store, *blueprint.Blueprint, blueprint.Principal) {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	sealer, err := secret.NewSealer(make([]byte, secret.KeySize))
	if err != nil {
		t.Fatal(err)
	}
	disk, err := store.Open(t.Context(), store.Options{
		Path: filepath.Join(t.TempDir(), "watched.db"), Server: true, Schema: string(schema), Sealer: sealer, Clock: c, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	working, cancel := context.WithCancel(context.Background())
	var rooms sync.WaitGroup
	rooms.Go(func() { _ = disk.Run(working) })
	t.Cleanup(func() {
		cancel()
		rooms.Wait()
		if err := disk.Close(); err != nil {
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
	return disk, &made, ada
}

// TestWatchdogOverTheStore looks at a database beside which no scheduler works.
func TestWatchdogOverTheStore(t *testing.T) {
	v := clock.NewVirtual(begin)
	disk, made, ada := openDisk(t, v)
	create := func(kind blueprint.TriggerType, config map[string]any) blueprint.Trigger {
		t.Helper()
		trigger, err := disk.CreateTrigger(t.Context(), ada, made.ID, kind, config)
		if err != nil {
			t.Fatal(err)
		}
		return trigger
	}
	create(blueprint.TriggerEvent, map[string]any{"event": blueprint.EventTriggerMissed})
	minutely := create(blueprint.TriggerScheduled, schedule("* * * * *"))
	create(blueprint.TriggerScheduled, schedule("0 12 * * *"))
	unread := create(blueprint.TriggerScheduled, schedule("* * * *"))
	s := New(Options{Store: disk, Clock: v, IDs: ids.New(nil), Logger: slog.New(slog.DiscardHandler)})
	w := &watchdog{Service: s}
	real := time.Now()
	look := func(at time.Duration) string {
		mover(t, v)(begin.Add(at))
		real = real.Add(watchInterval)
		w.watch(t.Context(), real)
		w.alarm.work.Wait()
		text := ""
		for _, one := range s.Overdue(9) {
			text += fmt.Sprint(map[string]string{minutely.ID: "minutely", unread.ID: "unread"}[one.TriggerID], " ", int64(one.Since), ", ")
		}
		events, err := disk.Events(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s%d events", text, len(events))
	}
	due := begin.Add(time.Minute)
	both := fmt.Sprintf("unread 0, minutely %d, 2 events", due.UnixMilli())
	for _, step := range []struct {
		at   time.Duration
		want string
	}{
		{time.Minute, "unread 0, 1 events"},
		{150 * time.Second, "unread 0, 1 events"}, // late, and no more than a suspect
		{3*time.Minute + time.Second, both},
		{9 * time.Minute, both},
	} {
		if got := look(step.at); got != step.want {
			t.Errorf("after %v: %q, want %q", step.at, got, step.want)
		}
	}
	events, err := disk.Events(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"triggerId": minutely.ID, "missed": 1, "firstDueAt": instant(due), "lastDueAt": instant(due), "decision": "overdue",
		"reason": "the tick of " + instant(due) + " was due and is not decided",
	}
	if e := events[1]; !blueprint.Equal(e.Data, want) || e.OrganizationID != made.OrganizationID || e.BlueprintID != made.ID || e.At != blueprint.TimeOf(due.Add(121*time.Second)) {
		t.Errorf("%+v, want %v", e, want)
	}
	// Deciding the tick strikes it out at once.
	if s.overdue.decided(minutely.ID, due) != 1 {
		t.Error("the overdue tick was not counted as missed")
	}
	if stats := s.Stats(); stats.Overdue != 1 || stats.Missed != 1 {
		t.Errorf("%+v, want Overdue 1 and Missed 1", stats)
	}
}
