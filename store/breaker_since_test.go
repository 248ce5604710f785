package store

import (
	"context"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/clock"
)

// Runs from before a trigger was switched on again say nothing about it, however
// they end.
func TestBreakerSince(t *testing.T) {
	ctx := context.Background()
	v := clock.NewVirtual(start)
	options := testOptions(t)
	options.Ephemeral, options.Clock = true, v
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
	begin := func() *blueprint.JournalCommit {
		c := finished(s, b, ann, []byte("{}"))
		f := firing(s, trigger, s.options.IDs.ULID(start))
		f.Source, f.Decision, f.ExecutionID = blueprint.SourceWebhook, blueprint.DecisionStarted, &c.Row.ID
		c.Firing, c.Row.Status, c.Row.TriggerID, c.Row.FiringID = &f, blueprint.StatusFailed, trigger.ID, f.ID
		c.Row.CreatedAt = blueprint.TimeOf(v.Now())
		c.Row.UpdatedAt, c.Row.StartTime, c.Row.EndTime = c.Row.CreatedAt, c.Row.CreatedAt, c.Row.CreatedAt
		first := *c
		first.Row.Status, first.Row.EndTime, first.Record = blueprint.StatusRunning, 0, nil
		check(t, s.Commit(ctx, &first))
		c.New, c.Firing = false, nil
		return c
	}
	expect := func(what string, failures int, active bool) {
		t.Helper()
		n, _, err := s.TriggerFailures(ctx, trigger.ID)
		if is := must(s.Binding(ctx, trigger.ID))(t).Trigger.IsActive; n != failures || is != active || err != nil {
			t.Errorf("%s: %d failures, active %v, %v; want %d, %v", what, n, is, err, failures, active)
		}
	}
	var old []*blueprint.JournalCommit
	for range 45 {
		old = append(old, begin())
	}
	for _, c := range old[:20] {
		check(t, s.Commit(ctx, c))
	}
	expect("twenty", 20, false)
	check(t, v.Advance(ctx, start.Add(time.Minute)))
	on := true
	must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &on))(t)
	for _, c := range old[20:44] {
		check(t, s.Commit(ctx, c))
	}
	expect("those from before", 0, true)
	check(t, v.Advance(ctx, start.Add(2*time.Minute)))
	check(t, s.Commit(ctx, begin()))
	old[44].Row.Status = blueprint.StatusCompleted
	check(t, s.Commit(ctx, old[44]))
	expect("one since", 1, true)
	for range 19 {
		check(t, s.Commit(ctx, begin()))
	}
	expect("twenty since", 20, false)
}
