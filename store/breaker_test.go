package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// ends fires a trigger, and ends the run at once or, when it is split, in a
// commit of its own.
func ends(t testing.TB, s *Store, b blueprint.Blueprint, trigger blueprint.Trigger, source blueprint.Source, how blueprint.Status, cancelled, split bool) {
	t.Helper()
	ctx := context.Background()
	c := finished(s, b, blueprint.Principal{UserID: b.CreatedBy}, []byte("{}"))
	f := firing(s, trigger, s.options.IDs.ULID(start))
	f.Source, f.Decision, f.ExecutionID = source, blueprint.DecisionStarted, &c.Row.ID
	c.Firing, c.Cancelled, c.Row.Status, c.Row.TriggerID, c.Row.FiringID = &f, cancelled, how, trigger.ID, f.ID
	if split {
		first := *c
		first.Row.Status, first.Row.EndTime, first.Record, first.Cancelled = blueprint.StatusRunning, 0, nil, false
		check(t, s.Commit(ctx, &first))
		c.New, c.Firing = false, nil
	}
	check(t, s.Commit(ctx, c))
}

func TestBreaker(t *testing.T) {
	const done, failed = blueprint.StatusCompleted, blueprint.StatusFailed
	hook, hand, again := blueprint.SourceWebhook, blueprint.SourceManual, blueprint.SourceRedelivery
	type end struct {
		count     int
		how       blueprint.Status
		source    blueprint.Source
		cancelled bool
	}
	cases := []struct {
		name   string
		config map[string]any
		ends   []end
		trips  bool
		left   int // failures
	}{
		{"nineteen", nil, []end{{19, failed, hook, false}}, false, 19},
		{"twenty", nil, []end{{20, failed, hook, false}}, true, 20},
		{"some that run yet", nil, []end{{25, failed, hook, false}}, true, 20},
		{"one that works", nil, []end{{19, failed, hook, false}, {1, done, hook, false}, {19, failed, hook, false}}, false, 19},
		{"one by hand that works", nil, []end{{19, failed, hook, false}, {1, done, hand, false}}, false, 0},
		{"by hand", nil, []end{{19, failed, hook, false}, {5, failed, hand, false}}, false, 19},
		{"delivered again", nil, []end{{19, failed, hook, false}, {5, failed, again, false}}, false, 19},
		{"cancelled", nil, []end{{19, failed, hook, false}, {5, failed, hook, true}}, false, 19},
		{"cancelled between", nil, []end{{19, failed, hook, false}, {5, failed, hook, true}, {1, failed, hook, false}}, true, 20},
		{"without", map[string]any{"breaker": false}, []end{{25, failed, hook, false}}, false, 25},
		{"with, and a secret", map[string]any{"breaker": true, "secret": "hidden"}, []end{{20, failed, hook, false}}, true, 20},
		{"without, and a secret", map[string]any{"breaker": false, "secret": "hidden"}, []end{{20, failed, hook, false}}, false, 20},
	}
	for _, split := range []bool{false, true} {
		for _, c := range cases {
			ctx := context.Background()
			options := testOptions(t)
			options.Ephemeral = true
			var log strings.Builder
			options.Logger = slog.New(slog.NewTextHandler(&log, nil))
			s := open(t, options)
			ann := user(t, s, "ann")
			b := create(t, s, ann, "T")
			trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, c.config))(t)
			before := must(s.Generation(ctx))(t)
			for _, e := range c.ends {
				for range e.count {
					ends(t, s, b, trigger, e.source, e.how, e.cancelled, split)
				}
			}
			failures, paused, err := s.TriggerFailures(ctx, trigger.ID)
			binding := must(s.Binding(ctx, trigger.ID))(t)
			rows, _, _ := s.Firings(ctx, ann, trigger.ID, 100, 0)
			var said []blueprint.Firing
			for _, row := range rows {
				if row.Decision == blueprint.DecisionRefused {
					said = append(said, row)
				}
			}
			if err != nil || failures != c.left || (paused != "") != c.trips || binding.Trigger.IsActive == c.trips || binding.Tripped.String() != paused ||
				(must(s.Generation(ctx))(t) > before) != c.trips || (s.Stats().Tripped == 1) != c.trips || strings.Contains(log.String(), "level=WARN") != c.trips {
				t.Errorf("%s: %d failures, paused %q, active %v, %v, log %s", c.name, failures, paused, binding.Trigger.IsActive, err, log.String())
			}
			if !c.trips {
				if len(said) > 0 {
					t.Errorf("%s: the ledger has %+v", c.name, said)
				}
				continue
			}
			if len(said) != 1 || said[0].Source != hook || said[0].Key != said[0].ID || !strings.Contains(said[0].Reason, paused) || !strings.Contains(said[0].Reason, "isActive") || len(said[0].Reason) > 300 {
				t.Errorf("%s: the ledger has %+v", c.name, said)
			}
			if !strings.Contains(paused, "20 runs in a row failed, the last of them exec_") || !strings.Contains(log.String(), "hint=") {
				t.Errorf("%s: paused %q, log %s", c.name, paused, log.String())
			}
			on, off := true, false
			must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &off))(t)
			if _, paused, _ := s.TriggerFailures(ctx, trigger.ID); paused == "" {
				t.Errorf("%s: switched off by hand it was forgotten why it was off", c.name)
			}
			must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &on))(t)
			failures, paused, err = s.TriggerFailures(ctx, trigger.ID)
			if binding = must(s.Binding(ctx, trigger.ID))(t); failures != 0 || paused != "" || err != nil || !binding.Trigger.IsActive || binding.Tripped.String() != "" {
				t.Errorf("%s: switched on again: %d failures, paused %q, %v", c.name, failures, paused, err)
			}
			for range 19 {
				ends(t, s, b, trigger, hook, failed, false, split)
			}
			if binding = must(s.Binding(ctx, trigger.ID))(t); !binding.Trigger.IsActive {
				t.Errorf("%s: it was switched off too early again", c.name)
			}
		}
	}
}

// What a failed commit would have said of a trigger is not remembered, and a
// server knows after a start which triggers fail.
func TestBreakerRemembers(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
	expect := func(s *Store, want int) {
		t.Helper()
		if failures, _, err := s.TriggerFailures(ctx, trigger.ID); failures != want || err != nil {
			t.Errorf("%d failures, want %d: %v", failures, want, err)
		}
	}
	for range 3 {
		ends(t, s, b, trigger, blueprint.SourceWebhook, blueprint.StatusFailed, false, false)
	}
	c := finished(s, b, ann, []byte("{}"))
	f := firing(s, trigger, "k")
	f.Decision, f.ExecutionID, c.Row.TriggerID, c.Row.FiringID, c.Firing = blueprint.DecisionStarted, &c.Row.ID, trigger.ID, f.ID, &f
	s.writer.beforeCommit = func() error { return errors.New("the commit failed") }
	if err := s.Commit(ctx, c); err == nil {
		t.Error("the commit did not fail")
	}
	s.writer.beforeCommit = nil
	expect(s, 3)
	check(t, s.Commit(ctx, c))
	expect(s, 0)
	ends(t, s, b, trigger, blueprint.SourceWebhook, blueprint.StatusFailed, false, true)
	check(t, s.Close())

	s = open(t, options)
	expect(s, 1)
	ends(t, s, b, trigger, blueprint.SourceWebhook, blueprint.StatusCompleted, false, true)
	expect(s, 0)
	check(t, s.DeleteTrigger(ctx, ann, trigger.ID))
	_, _, err := s.TriggerFailures(ctx, trigger.ID)
	wantCode(t, err, blueprint.CodeNotFound)
}
