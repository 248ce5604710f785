package store

import (
	"context"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/clock"
)

// What strangers can switch off, the next delivery after a while switches on
// again; anything else only somebody can.
func TestBreakerLetsIn(t *testing.T) {
	const hook, mail = blueprint.TriggerWebhook, blueprint.TriggerEmail
	for _, c := range []struct {
		name   string
		kind   blueprint.TriggerType
		config map[string]any
		open   bool
	}{
		{"webhook", hook, nil, true},
		{"webhook with a secret", hook, map[string]any{"secret": "hidden"}, false},
		{"mail", mail, nil, true},
		{"mail with a list", mail, map[string]any{"allowFrom": []any{"@example.org"}}, true},
		{"mail that proves any sender", mail, map[string]any{"requireAuth": true}, true},
		{"mail that proves its sender", mail, map[string]any{"requireAuth": true, "allowFrom": []any{"@example.org"}}, false},
		{"schedule", blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}, false},
	} {
		ctx := context.Background()
		v := clock.NewVirtual(start)
		options := testOptions(t)
		options.Ephemeral, options.Clock = true, v
		s := open(t, options)
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, c.kind, c.config))(t)
		at := start
		pass := func(d time.Duration) {
			at = at.Add(d)
			check(t, v.Advance(ctx, at))
		}
		expect := func(what string, failures int, active bool) *blueprint.Binding {
			t.Helper()
			n, paused, err := s.TriggerFailures(ctx, trigger.ID)
			binding := must(s.Binding(ctx, trigger.ID))(t)
			if n != failures || binding.Trigger.IsActive != active || (paused == "") != active || binding.Tripped.String() != paused || err != nil {
				t.Errorf("%s: %s: %d failures, active %v, paused %q, %v", c.name, what, n, binding.Trigger.IsActive, paused, err)
			}
			return binding
		}
		end := func(n int, how blueprint.Status) {
			t.Helper()
			for range n {
				run := finished(s, b, ann, []byte("{}"))
				f := firing(s, trigger, s.options.IDs.ULID(v.Now()))
				f.Source, f.Decision, f.ExecutionID = sourceOf[c.kind], blueprint.DecisionStarted, &run.Row.ID
				run.Firing, run.Row.Status, run.Row.TriggerID, run.Row.FiringID = &f, how, trigger.ID, f.ID
				run.Row.CreatedAt = blueprint.TimeOf(v.Now())
				run.Row.UpdatedAt, run.Row.StartTime, run.Row.EndTime = run.Row.CreatedAt, run.Row.CreatedAt, run.Row.CreatedAt
				check(t, s.Commit(ctx, run))
			}
		}
		letIn := func(want bool) {
			t.Helper()
			if done, err := s.LetIn(ctx, trigger.ID); done != want || err != nil {
				t.Errorf("%s: let in %v, %v; want %v", c.name, done, err, want)
			}
		}
		pass(time.Second)
		letIn(false)
		end(20, blueprint.StatusFailed)
		binding := expect("twenty", 20, false)
		rows, _, _ := s.Firings(ctx, ann, trigger.ID, 1, 0)
		if len(rows) != 1 || !strings.Contains(rows[0].Reason, "isActive") || len(rows[0].Reason) > 300 || strings.Contains(rows[0].Reason, "15 minutes") != c.open {
			t.Errorf("%s: %d bytes, rows %+v", c.name, len(rows[0].Reason), rows)
		}
		if !c.open {
			if binding.RetryAt != 0 {
				t.Errorf("%s: it may be tried again at %v", c.name, binding.RetryAt)
			}
			pass(time.Hour)
			letIn(false)
			continue
		}
		if want := blueprint.TimeOf(at.Add(15 * time.Minute)); binding.RetryAt != want {
			t.Errorf("%s: it may be tried again at %v, want %v", c.name, binding.RetryAt, want)
		}
		pass(15*time.Minute - time.Millisecond)
		letIn(false)
		pass(time.Millisecond)
		letIn(true)
		letIn(false)
		expect("let in", 19, true)
		end(1, blueprint.StatusFailed) // created in the millisecond in which it was switched on
		expect("failed again", 20, false)
		pass(15 * time.Minute)
		letIn(true)
		end(1, blueprint.StatusCompleted)
		expect("works again", 0, true)
		end(20, blueprint.StatusFailed)
		pass(15 * time.Minute)
		off := false
		must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &off))(t)
		letIn(false) // somebody wants it off
		if binding = expect("switched off", 20, false); binding.RetryAt != 0 || strings.Contains(binding.Tripped.String(), "15 minutes") {
			t.Errorf("%s: switched off by hand: %+v", c.name, binding)
		}
	}
}
