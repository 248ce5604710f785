package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
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
	if source == "" { // a retry
		c.Firing, c.Row.FiringID = nil, ""
	}
	if split {
		first := *c
		first.Row.Status, first.Row.EndTime, first.Record, first.Cancelled = blueprint.StatusRunning, 0, nil, false
		check(t, s.Commit(ctx, &first))
		c.New, c.Firing = false, nil
	}
	check(t, s.Commit(ctx, c))
}

// breakerOf returns how many runs of a trigger in a row have failed, and why the
// breaker paused it, "" if it did not.
func breakerOf(s *Store, triggerID string) (failures int, paused string, err error) {
	ctx := context.Background()
	binding, err := s.Binding(ctx, triggerID)
	if err != nil {
		return 0, "", err
	}
	err = s.read(ctx, func(q *session) error {
		return q.row("SELECT failures FROM triggers WHERE id = ?", []any{triggerID}, &failures)
	})
	return failures, binding.Tripped.String(), err
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
		{"retried", nil, []end{{19, failed, hook, false}, {5, failed, "", false}}, false, 19},
		{"a retry that works", nil, []end{{19, failed, hook, false}, {1, done, "", false}}, false, 0},
		{"cancelled", nil, []end{{19, failed, hook, false}, {5, failed, hook, true}}, false, 19},
		{"cancelled between", nil, []end{{19, failed, hook, false}, {5, failed, hook, true}, {1, failed, hook, false}}, true, 20},
		{"without", map[string]any{"breaker": false}, []end{{25, failed, hook, false}}, false, 25},
		{"with, and a secret", map[string]any{"breaker": true, "secret": "hidden"}, []end{{20, failed, hook, false}}, true, 20},
		{"without, and a secret", map[string]any{"breaker": false, "secret": "hidden"}, []end{{20, failed, hook, false}}, false, 20},
	}
	for _, split := range []bool{false, true} {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
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
				failures, paused, err := breakerOf(s, trigger.ID)
				binding := must(s.Binding(ctx, trigger.ID))(t)
				rows, _, _ := s.Firings(ctx, ann, trigger.ID, 100, 0)
				var said []blueprint.Firing
				for _, row := range rows {
					if row.Decision == blueprint.DecisionRefused {
						said = append(said, row)
					}
				}
				check(t, err)
				if failures != c.left {
					t.Errorf("%d failures, want %d", failures, c.left)
				}
				want := map[string]bool{"reason": c.trips, "inactive": c.trips, "new generation": c.trips, "counted": c.trips, "warning": c.trips}
				got := map[string]bool{
					"reason": paused != "", "inactive": !binding.Trigger.IsActive, "new generation": must(s.Generation(ctx))(t) > before,
					"counted": s.Stats().Tripped == 1, "warning": strings.Contains(log.String(), "level=WARN"),
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("signs of a trip (-want +got):\n%s\npaused %q, log %s", diff, paused, log.String())
				}
				if !c.trips {
					if len(said) > 0 {
						t.Errorf("the ledger has %+v, want none", said)
					}
					return
				}
				if at := must(s.TriggerStory(ctx, trigger.ID))(t).TrippedAt; at != blueprint.TimeOf(start) {
					t.Errorf("tripped at %s, want %s", at, blueprint.TimeOf(start))
				}
				if len(said) != 1 || said[0].Source != hook || said[0].Key != said[0].ID {
					t.Fatalf("the ledger has %+v, want one refused firing from %s with its id as the key", said, hook)
				}
				if reason := said[0].Reason; !strings.Contains(reason, paused) || !strings.Contains(reason, "isActive") || len(reason) > 300 {
					t.Errorf("the reason is %q, want at most 300 bytes with %q and isActive", reason, paused)
				}
				if !strings.Contains(paused, "20 runs in a row failed, the last of them exec_") || !strings.Contains(log.String(), "hint=") {
					t.Errorf("paused %q, log %s; want \"20 runs in a row failed, the last of them exec_\" in it and \"hint=\" in it", paused, log.String())
				}
				on, off := true, false
				must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &off))(t)
				if _, paused, _ := breakerOf(s, trigger.ID); paused == "" {
					t.Error("switched off by hand it was forgotten why it was off")
				}
				must(s.UpdateTrigger(ctx, ann, trigger.ID, nil, &on))(t)
				failures, paused, err = breakerOf(s, trigger.ID)
				if binding = must(s.Binding(ctx, trigger.ID))(t); failures != 0 || paused != "" || err != nil || !binding.Trigger.IsActive {
					t.Errorf("switched on again: %d failures, paused %q, %v; want 0, nothing and IsActive", failures, paused, err)
				}
				for range 19 {
					ends(t, s, b, trigger, hook, failed, false, split)
				}
				if binding = must(s.Binding(ctx, trigger.ID))(t); !binding.Trigger.IsActive {
					t.Error("it was switched off too early again")
				}
			})
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
		if failures, _, err := breakerOf(s, trigger.ID); failures != want || err != nil {
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
		t.Error("the commit did not fail, want an error")
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
}

// A trigger that strangers can trip is switched on again by the next delivery after a
// while; any other only by a user.
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
		t.Run(c.name, func(t *testing.T) {
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
				n, paused, err := breakerOf(s, trigger.ID)
				binding := must(s.Binding(ctx, trigger.ID))(t)
				if n != failures || binding.Trigger.IsActive != active || (paused == "") != active || err != nil {
					t.Errorf("%s: %d failures, active %v, paused %q, %v; want %v, %v and %v", what, n, binding.Trigger.IsActive, paused, err, failures, active, active)
				}
				return binding
			}
			end := func(n int, how blueprint.Status) {
				t.Helper()
				for range n {
					run := finished(s, b, ann, []byte("{}"))
					f := firing(s, trigger, s.options.IDs.ULID(v.Now()))
					f.Source, f.Decision, f.ExecutionID = blueprint.KindOf(c.kind).Source, blueprint.DecisionStarted, &run.Row.ID
					run.Firing, run.Row.Status, run.Row.TriggerID, run.Row.FiringID = &f, how, trigger.ID, f.ID
					run.Row.CreatedAt = blueprint.TimeOf(v.Now())
					run.Row.UpdatedAt, run.Row.StartTime, run.Row.EndTime = run.Row.CreatedAt, run.Row.CreatedAt, run.Row.CreatedAt
					check(t, s.Commit(ctx, run))
				}
			}
			letIn := func(want bool) {
				t.Helper()
				if done, err := s.Reactivate(ctx, trigger.ID); done != want || err != nil {
					t.Errorf("let in %v, %v; want %v", done, err, want)
				}
			}
			pass(time.Second)
			letIn(false)
			end(20, blueprint.StatusFailed)
			binding := expect("twenty", 20, false)
			rows, _, _ := s.Firings(ctx, ann, trigger.ID, 1, 0)
			if len(rows) != 1 || !strings.Contains(rows[0].Reason, "isActive") || len(rows[0].Reason) > 300 || strings.Contains(rows[0].Reason, "15 minutes") != c.open {
				t.Errorf("%d bytes, rows %+v; want length 1, \"isActive\" in it, at most 300 and %v", len(rows[0].Reason), rows, c.open)
			}
			if !c.open {
				if binding.RetryAt != 0 {
					t.Errorf("it may be tried again at %v, want never", binding.RetryAt)
				}
				pass(time.Hour)
				letIn(false)
				return
			}
			if want := blueprint.TimeOf(at.Add(15 * time.Minute)); binding.RetryAt != want {
				t.Errorf("it may be tried again at %v, want %v", binding.RetryAt, want)
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
			letIn(false) // a user switched it off
			if binding = expect("switched off", 20, false); binding.RetryAt != 0 || strings.Contains(binding.Tripped.String(), "15 minutes") {
				t.Errorf("switched off by hand: %+v, want RetryAt 0 and no \"15 minutes\"", binding)
			}
		})
	}
}

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
		n, _, err := breakerOf(s, trigger.ID)
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

// A trigger that the server switched off is listed until a user switches it on again or
// deletes it, and the change of a schedule is reported to OnEvents once.
func TestPausedTriggers(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Ephemeral = true
	s := open(t, options)
	ann := user(t, s, "ann")
	b, gone := create(t, s, ann, "T"), create(t, s, ann, "gone")
	must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerEvent, map[string]any{"event": blueprint.EventTriggerMissed}))(t)
	trip := func(of blueprint.Blueprint, kind blueprint.TriggerType) blueprint.Trigger {
		trigger := must(s.CreateTrigger(ctx, ann, of.ID, kind, map[string]any{"cron": "* * * * *", "secret": "s"}))(t)
		for range maxFailures + 1 {
			ends(t, s, of, trigger, blueprint.KindOf(kind).Source, blueprint.StatusFailed, false, true)
		}
		return trigger
	}
	expect := func(want ...blueprint.Trigger) {
		t.Helper()
		list, total, err := s.PausedTriggers(ctx, 2)
		ids := map[string]bool{}
		for _, one := range want {
			ids[one.ID] = true
		}
		if total != len(want) || len(list) != min(2, total) || err != nil {
			t.Fatalf("%+v of %d, want %d: %v", list, total, len(want), err)
		}
		for _, one := range list {
			if !ids[one.ID] || !strings.Contains(one.Trip.String(), "20 runs in a row failed") {
				t.Errorf("%+v", one)
			}
		}
	}
	expect()
	hook, tick, mail, other := trip(b, blueprint.TriggerWebhook), trip(b, blueprint.TriggerScheduled), trip(b, blueprint.TriggerEmail), trip(gone, blueprint.TriggerAPI)
	expect(hook, tick, mail, other)
	on := true
	must(s.UpdateTrigger(ctx, ann, hook.ID, nil, &on))(t)
	expect(tick, mail, other)
	check(t, s.DeleteTrigger(ctx, ann, mail.ID))
	expect(tick, other)
	must(s.DeleteBlueprint(ctx, ann, gone.ID))(t)
	expect(tick)

	events := must(s.Events(ctx, 0, 10))(t)
	if len(events) != 1 {
		t.Fatalf("%+v, want length 1", events)
	}
	data, _ := events[0].Data.(map[string]any)
	reason, _ := data["reason"].(string)
	if diff := cmp.Diff([]any{tick.ID, "paused", b.ID, b.OrganizationID}, []any{data["triggerId"], data["decision"], events[0].BlueprintID, events[0].OrganizationID}); diff != "" {
		t.Errorf("trigger, decision, blueprint and organization (-want +got):\n%s", diff)
	}
	if want := "20 runs in a row failed, the last of them exec_"; !strings.Contains(reason, want) {
		t.Errorf("the reason is %q, want %q in it", reason, want)
	}
}
