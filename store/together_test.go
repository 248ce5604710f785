package store

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"blueprintd/blueprint"
)

// shortRun returns the commit of a run that has ended, started by a firing of a trigger with a
// key unless that is empty.
func shortRun(s *Store, of blueprint.Blueprint, by blueprint.Principal, hook blueprint.Trigger, key string) *blueprint.JournalCommit {
	r := row(s, of, by)
	r.Status, r.EndTime = blueprint.StatusCompleted, r.UpdatedAt
	c := &blueprint.JournalCommit{Row: r, New: true, Record: []byte("{}")}
	if key != "" {
		f := firing(s, hook, key)
		f.Decision, f.ExecutionID = blueprint.DecisionStarted, &c.Row.ID
		c.Row.TriggerID, c.Row.FiringID, c.Firing = hook.ID, f.ID, &f
	}
	return c
}

// storeTogether stores commits in one transaction.
func storeTogether(t *testing.T, s *Store, commits ...*blueprint.JournalCommit) (errs []error) {
	t.Helper()
	var jobs []*job
	for _, c := range commits {
		if c.Firing != nil {
			check(t, s.sealFiring(c.Firing))
		}
		j := s.commitJob(c)
		j.done = make(chan struct{})
		jobs = append(jobs, j)
	}
	s.writer.connection.Lock()
	s.process(jobs)
	for _, j := range jobs {
		errs = append(errs, j.err)
	}
	return errs
}

// TestShortRuns stores many short runs in one transaction, with and without one among them
// that cannot be stored: that one fails alone.
func TestShortRuns(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		definition, deleted := create(t, s, ann, "T"), create(t, s, ann, "D")
		hook := must(s.CreateTrigger(ctx, ann, definition.ID, blueprint.TriggerWebhook, nil))(t)
		_, err := s.DeleteBlueprint(ctx, ann, deleted.ID)
		check(t, err)
		run := func(of blueprint.Blueprint, key string) *blueprint.JournalCommit {
			return shortRun(s, of, ann, hook, key)
		}
		stored := func() (runs, firings int) {
			check(t, s.readRow(ctx, "SELECT (SELECT count(*) FROM executions), (SELECT count(*) FROM firings)", nil, &runs, &firings))
			return runs, firings
		}
		var good []*blueprint.JournalCommit
		for i := range 5 {
			good = append(good, run(definition, fmt.Sprintf("key %d\x00\xff", i)))
		}
		good = append(good, run(definition, ""))
		for i, err := range storeTogether(t, s, good...) {
			if err != nil {
				t.Errorf("run %d: %v, want none", i, err)
			}
		}
		if runs, firings := stored(); runs != 6 || firings != 5 {
			t.Errorf("%d runs and %d firings, want 6 and 5", runs, firings)
		}
		if first := must(s.StartedFiring(ctx, hook.ID, "key 3\x00\xff"))(t); *first.ExecutionID != good[3].Row.ID {
			t.Errorf("the key started %s, want %s", *first.ExecutionID, good[3].Row.ID)
		}
		errs := storeTogether(t, s, run(definition, "new"), run(definition, "key 1\x00\xff"), run(deleted, ""), run(definition, "newer"))
		if duplicate, ok := errors.AsType[*blueprint.DuplicateFiringError](errs[1]); !ok || duplicate.ExecutionID != good[1].Row.ID {
			t.Errorf("a repeated key: %v, want the run %s", errs[1], good[1].Row.ID)
		}
		if errs[0] != nil || !isNotNull(errs[2]) || errs[3] != nil {
			t.Errorf("beside a repeated key and a deleted blueprint: %v, want an error of the third alone", errs)
		}
		if runs, firings := stored(); runs != 8 || firings != 7 {
			t.Errorf("%d runs and %d firings, want 8 and 7", runs, firings)
		}
		var completed, counted int
		check(t, s.readRow(ctx, "SELECT (SELECT sum(completed) FROM run_hours WHERE scope = ?), (SELECT sum(firings) FROM firing_counts)", []any{definition.ID}, &completed, &counted))
		if completed != 8 || counted != 7 {
			t.Errorf("%d runs and %d firings are counted, want 8 and 7", completed, counted)
		}
		if read := must(s.Load(ctx, good[0].Row.ID))(t); string(read.Record) != "{}" || read.Row != good[0].Row {
			t.Errorf("read %+v, want %+v", read, good[0].Row)
		}
	})
}
