package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestCommit(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		r := row(s, b, ann)
		r.ParentExecutionID = "exec_1_parent"
		entry := func(n int) []byte { return fmt.Appendf(nil, "entry %d", n) }
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r, New: true, Entries: [][]byte{entry(1), entry(2)}}))
		wantCode(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r, New: true}), blueprint.CodeConflict)

		advance(t, s, time.Second)
		r.Status, r.UpdatedAt = blueprint.StatusPaused, blueprint.TimeOf(s.options.Clock.Now())
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r, Entries: [][]byte{entry(3)}}))
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r}))
		got := must(s.Load(ctx, r.ID))(t)
		if want := (&blueprint.StoredExecution{Row: r, Entries: [][]byte{entry(1), entry(2), entry(3)}}); !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		if list := must(s.Unfinished(ctx))(t); !cmp.Equal(list, []blueprint.ExecutionRow{r}) {
			t.Errorf("unfinished %+v, want %v", list, []blueprint.ExecutionRow{r})
		}

		r.Status, r.EndTime = blueprint.StatusFailed, r.UpdatedAt
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r, Entries: [][]byte{entry(4)}, Record: []byte("record"), State: []byte("{}")}))
		got = must(s.Load(ctx, r.ID))(t)
		if want := (&blueprint.StoredExecution{Row: r, Record: []byte("record"), State: []byte("{}")}); !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		if list := must(s.Unfinished(ctx))(t); len(list) != 0 {
			t.Errorf("unfinished %+v, want none", list)
		}
		for _, status := range []blueprint.Status{blueprint.StatusRunning, blueprint.StatusCompleted, blueprint.StatusFailed} {
			again := r
			again.Status = status
			if !status.Terminal() {
				again.EndTime = 0
			}
			wantCode(t, s.Commit(ctx, &blueprint.JournalCommit{Row: again, Record: map[bool][]byte{true: {}}[status.Terminal()]}), blueprint.CodeConflict)
		}
		wantCode(t, s.Commit(ctx, &blueprint.JournalCommit{Row: row(s, b, ann)}), blueprint.CodeNotFound)
		_, err := s.Load(ctx, "unknown")
		wantCode(t, err, blueprint.CodeNotFound)

		stray := row(s, blueprint.Blueprint{ID: "unknown"}, ann)
		wantCode(t, s.Commit(ctx, &blueprint.JournalCommit{Row: stray, New: true}), blueprint.CodeNotFound)
		once := finished(s, b, ann, []byte{})
		check(t, s.Commit(ctx, once))
		if got := must(s.Load(ctx, once.Row.ID))(t); len(got.Record) != 0 || !cmp.Equal(got.Row, once.Row) {
			t.Errorf("stored %+v, want none and %v", got, once.Row)
		}
	})
}

// A run that was in progress when its blueprint was deleted can end; none begins.
func TestCommitAfterDeletion(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b, other := create(t, s, ann, "T"), create(t, s, ann, "other")
		for _, blueprintOf := range []blueprint.Blueprint{b, other} {
			check(t, s.Commit(ctx, finished(s, blueprintOf, ann, []byte("{}"))))
		}
		running, paused := row(s, b, ann), row(s, b, ann)
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: running, New: true}))
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: row(s, other, ann), New: true}))
		paused.Status = blueprint.StatusPaused
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: paused, New: true}))
		unfinished := must(s.DeleteBlueprint(ctx, ann, b.ID))(t)
		if !cmp.Equal(unfinished, []string{running.ID, paused.ID}) {
			t.Errorf("unfinished %v, want %v", unfinished, []string{running.ID, paused.ID})
		}
		wantCode(t, s.Commit(ctx, &blueprint.JournalCommit{Row: row(s, b, ann), New: true}), blueprint.CodeNotFound)
		wantCode(t, s.Commit(ctx, finished(s, b, ann, []byte("{}"))), blueprint.CodeNotFound)
		running.Status, running.EndTime = blueprint.StatusFailed, running.StartTime
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: running, Record: []byte("{}")}))
	})
}

func TestDuplicateFiring(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}))(t)
		other := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}))(t)
		fire := func(trigger blueprint.Trigger, key string, cursor time.Duration) (*blueprint.JournalCommit, error) {
			commit := finished(s, b, ann, []byte("x"))
			if len(key)%2 == 0 {
				commit = &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte("begin")}}
			}
			firing := firing(s, trigger, key)
			firing.Decision, firing.ExecutionID = blueprint.DecisionStarted, &commit.Row.ID
			commit.Row.TriggerID, commit.Row.FiringID = trigger.ID, firing.ID
			commit.Firing, commit.Cursor = &firing, blueprint.TimeOf(start.Add(cursor))
			return commit, s.Commit(ctx, commit)
		}
		for _, key := range []string{"odd", "even"} {
			first, err := fire(trigger, key, time.Minute)
			check(t, err)
			second, err := fire(trigger, key, time.Hour)
			var duplicate *blueprint.DuplicateFiringError
			if !errors.As(err, &duplicate) || duplicate.ExecutionID != first.Row.ID || duplicate.FiringID != first.Firing.ID {
				t.Errorf("the same key again: %v, want ExecutionID %v and FiringID %v", err, first.Row.ID, first.Firing.ID)
			}
			if _, err := s.Load(ctx, second.Row.ID); blueprint.CodeOf(err) != blueprint.CodeNotFound {
				t.Errorf("the second run: %v, want %v", err, blueprint.CodeNotFound)
			}
			started := must(s.StartedFiring(ctx, trigger.ID, key))(t)
			if !cmp.Equal(started, first.Firing) {
				t.Error(cmp.Diff(first.Firing, started))
			}
			if _, err := fire(other, key, 0); err != nil {
				t.Errorf("the same key at another trigger: %v", err)
			}
		}
		_, err := s.StartedFiring(ctx, trigger.ID, "unknown")
		wantCode(t, err, blueprint.CodeNotFound)
		if got := cursors(t, s)[trigger.ID]; got != blueprint.TimeOf(start.Add(time.Minute)) {
			t.Errorf("the cursor is at %s", got)
		}
		// A run that cannot begin leaves no firing behind.
		must(s.DeleteBlueprint(ctx, ann, b.ID))(t)
		_, err = fire(trigger, "late", 0)
		wantCode(t, err, blueprint.CodeNotFound)
		_, err = s.StartedFiring(ctx, trigger.ID, "late")
		wantCode(t, err, blueprint.CodeNotFound)
	})
}

// A run that was created from outdated rows is not stored, whether an earlier call, the
// same transaction or another process changed them.
func TestStaleRun(t *testing.T) {
	options := testOptions(t)
	s := open(t, options)
	ctx := context.Background()
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, map[string]any{}))(t)
	stop := run(t, s)
	recent := func() int64 {
		t.Helper()
		must(s.Binding(ctx, trigger.ID))(t)
		_, generation, err := s.RecentBinding(ctx, trigger.ID)
		check(t, err)
		if generation == 0 {
			t.Fatalf("nothing is known: %v, want other than 0", generation)
		}
		return generation
	}
	made := func(generation int64) *blueprint.JournalCommit {
		commit := finished(s, b, ann, []byte("x"))
		firing := firing(s, trigger, commit.Row.ID)
		firing.Decision, firing.ExecutionID = blueprint.DecisionStarted, &commit.Row.ID
		commit.Row.TriggerID, commit.Row.FiringID = trigger.ID, firing.ID
		commit.Firing, commit.Generation = &firing, generation
		return commit
	}
	wantStale := func(what string, commit *blueprint.JournalCommit, err error) {
		t.Helper()
		var stale *blueprint.StaleError
		if !errors.As(err, &stale) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err := s.Load(ctx, commit.Row.ID); blueprint.CodeOf(err) != blueprint.CodeNotFound {
			t.Errorf("%s: the run is there (%v), want %v", what, err, blueprint.CodeNotFound)
		}
		_, err = s.StartedFiring(ctx, trigger.ID, commit.Firing.Key)
		wantCode(t, err, blueprint.CodeNotFound)
	}
	change := func(s *Store) error {
		_, err := s.UpdateTrigger(ctx, ann, trigger.ID, func(blueprint.Trigger) (map[string]any, error) { return map[string]any{"respond": "wait"}, nil }, nil)
		return err
	}
	for range 3 { // the first by the goroutine that writes, later ones by their callers
		check(t, s.Commit(ctx, made(recent())))
	}

	stale := made(recent())
	check(t, change(s))
	if binding, generation, err := s.RecentBinding(ctx, trigger.ID); err != nil || generation != 0 || binding.Trigger.Config["respond"] != "wait" {
		t.Errorf("what this process has changed is not in %+v of generation %d (%v), want 0 and respond wait", binding, generation, err)
	}
	wantStale("a call before it", stale, s.Commit(ctx, stale))

	stale = made(recent())
	tool := options
	tool.Server = false
	other := open(t, tool)
	check(t, change(other))
	check(t, other.Close())
	wantStale("another process", stale, s.Commit(ctx, stale))

	stale, fresh := made(recent()), made(recent())
	errs := together(t, s, s.commitJob(fresh), &job{run: func(t *transaction) error { t.changed(); return nil }}, s.commitJob(stale))
	check(t, errs[0])
	wantStale("the same transaction", stale, errs[2])
	check(t, s.Commit(ctx, made(recent())))
	check(t, stop())
}

// Unfinished returns the runs of a trigger with a limit that have not ended, oldest first,
// and of no other trigger.
func TestUnfinished(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		var triggers []string
		for _, config := range []map[string]any{{"concurrency": map[string]any{"limit": json.Number("1")}}, nil} {
			triggers = append(triggers, must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerManual, config))(t).ID)
		}
		var want []string
		var last string
		for i := range 6 {
			c := &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte("{}")}}
			c.Row.TriggerID = triggers[0]
			switch {
			case i == 1:
				c.Row.Status = blueprint.StatusPaused
			case i == 2:
				c.Row.TriggerID = triggers[1]
			case i == 3:
				c.Row.ParentExecutionID = want[0]
			case i == 4:
				c = finished(s, b, ann, []byte("a record"))
				c.Row.TriggerID = triggers[0]
			}
			trigger := must(s.GetTrigger(ctx, ann, c.Row.TriggerID))(t)
			if c.Row.ParentExecutionID == "" {
				f := firing(s, trigger, fmt.Sprint(i))
				f.Decision, f.ExecutionID, c.Firing, c.Row.FiringID, last = blueprint.DecisionStarted, &c.Row.ID, &f, f.ID, f.ID
			}
			check(t, s.Commit(ctx, c))
			if i == 0 || i == 1 || i == 5 {
				want = append(want, c.Row.ID)
			}
		}
		for _, list := range [][]blueprint.UnfinishedRun{must(s.TriggerStory(ctx, triggers[0]))(t).Unfinished, must(s.FiringStory(ctx, ann, last))(t).Unfinished} {
			var got []string
			for _, run := range list {
				got = append(got, run.ExecutionID)
			}
			if !slices.Equal(got, want) || list[1].Status != blueprint.StatusPaused || list[1].UpdatedAt == 0 {
				t.Errorf("%+v, want %v", list, want)
			}
		}
		if list := must(s.TriggerStory(ctx, triggers[1]))(t).Unfinished; list != nil {
			t.Errorf("without a limit: %v, want nil", list)
		}
	})
}
