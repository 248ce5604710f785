package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// countedHours and endedHours are the same sums, as they were counted and from
// the runs themselves.
const (
	countedHours = `SELECT scope || ' ' || hour || ' ' || completed || ' ' || failed || ' ' || duration_ms || ' ' || slowest_ms FROM run_hours ORDER BY scope, hour`
	endedHours   = `SELECT scope || ' ' || (end_time / 3600000) || ' ' || count(CASE WHEN status = 'completed' THEN 1 END) || ' ' || count(CASE WHEN status = 'failed' THEN 1 END) || ' ' || sum(end_time - start_time) || ' ' || max(end_time - start_time)
		FROM (SELECT b.id AS scope, e.status, start_time, end_time FROM executions e JOIN blueprints b ON b.seq = e.blueprint_seq WHERE end_time IS NOT NULL
			UNION ALL SELECT o.id, status, start_time, end_time FROM executions e JOIN organizations o ON o.seq = e.organization_seq WHERE end_time IS NOT NULL) ended
		GROUP BY scope, end_time / 3600000 ORDER BY scope, end_time / 3600000`
)

// What is counted by the hour is what the runs say, whatever shares a
// transaction, fails in one, or has to be tried again.
func TestRunHours(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		random := rand.New(rand.NewPCG(3, 4))
		ann, ben := user(t, s, "ann"), user(t, s, "ben")
		blueprints := []blueprint.Blueprint{create(t, s, ann, "A"), create(t, s, ann, "B"), create(t, s, ben, "C")}
		trigger := must(s.CreateTrigger(ctx, ann, blueprints[0].ID, blueprint.TriggerWebhook, nil))(t)
		var open []blueprint.ExecutionRow
		for range 200 {
			if random.IntN(4) == 0 {
				advance(t, s, time.Duration(random.IntN(3600))*time.Second)
			}
			b := blueprints[random.IntN(len(blueprints))]
			c := finished(s, b, ann, []byte("record"))
			now := c.Row.EndTime
			if random.IntN(5) == 0 {
				c.Row.Status = blueprint.StatusFailed
			}
			c.Row.StartTime -= blueprint.Time(random.IntN(1000))
			var jobs []*job
			switch random.IntN(6) {
			case 0: // it lasts
				c.Row.Status, c.Row.EndTime, c.Record = blueprint.StatusRunning, 0, nil
				open = append(open, c.Row)
			case 1: // its key has started a run already, from the second time on
				f := firing(s, trigger, "the only one")
				f.Decision, f.ExecutionID = blueprint.DecisionStarted, &c.Row.ID
				c.Firing, c.Row.TriggerID, c.Row.FiringID = &f, trigger.ID, f.ID
				c.Row.BlueprintID, c.Row.OrganizationID = blueprints[0].ID, blueprints[0].OrganizationID
			case 2: // another one ends
				if len(open) > 0 {
					last := &blueprint.JournalCommit{Row: open[0], Record: []byte("record")}
					last.Row.Status, last.Row.EndTime = blueprint.StatusCompleted, now
					jobs, open = append(jobs, s.commitJob(last)), open[1:]
				}
			case 3: // it is undone together with what it shares a transaction with
				failure := errors.New("the disk is full")
				s.writer.beforeCommit = func() error { return failure }
				if err := s.submit(ctx, s.commitJob(c)); err == nil {
					t.Fatal("no failure")
				}
				s.writer.beforeCommit = nil
			case 4: // something else fails beside it
				jobs = append(jobs, &job{run: func(w *transaction) error {
					w.ended = &c.Row
					return errors.New("no")
				}})
			}
			jobs = append(jobs, s.commitJob(c))
			if s.writer.running {
				together(t, s, jobs...)
			} else {
				for _, j := range jobs {
					_ = s.submit(ctx, j)
				}
			}
		}
		if want, got := stored(t, s, endedHours), stored(t, s, countedHours); got != want || got == "" {
			t.Error(cmp.Diff(want, got))
		}
	})
}

// Hours go at their age, those of organizations later; runs that are pruned stay
// counted.
func TestPruneHours(t *testing.T) {
	options := testOptions(t)
	options.KeepExecutions = Keep{Age: time.Hour}
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	now := hourOf(blueprint.TimeOf(start))
	check(t, s.write(context.Background(), func(w *transaction) error {
		for _, scope := range []string{b.ID, b.OrganizationID, "deleted long ago"} {
			for _, age := range []int64{0, blueprintHours, blueprintHours + 1, organizationHours, organizationHours + 1} {
				if _, err := w.exec(addRunHour, scope, now-age, 1, 0, 5, 5); err != nil {
					return err
				}
			}
			for i := range int64(3 * pruneRows) { // more than one step
				if _, err := w.exec(addRunHour, scope, now-organizationHours-10-i, 1, 0, 5, 5); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	check(t, s.Commit(context.Background(), ended(s, b, ann, "old", day, blueprint.StatusCompleted)))
	check(t, s.Commit(context.Background(), ended(s, b, ann, "new", 0, blueprint.StatusCompleted)))
	run(t, s)
	kept := func() string {
		return stored(t, s, fmt.Sprintf("SELECT replace(replace(scope, '%s', 'b'), '%s', 'o') || (%d - hour) FROM run_hours ORDER BY 1", b.ID, b.OrganizationID, now))
	}
	advance(t, s, 0)
	if got := kept(); got != "b0 b2160 b24 deleted long ago0 deleted long ago2160 o0 o2160 o2161 o24 o9600" || stored(t, s, storedRuns) != "new" {
		t.Errorf("%.500s; runs %s", got, stored(t, s, storedRuns))
	}
	advance(t, s, 3*time.Hour)
	if got := kept(); got != "b0 b24 deleted long ago0 o0 o2160 o2161 o24" {
		t.Errorf("later: %.500s", got)
	}
}

func TestRunHoursAccess(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		public := blueprint.VisibilityPublic
		b := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", OrganizationID: team}))(t)
		lend(t, s, b, people["editor"], "editor")
		must(s.UpdateBlueprint(ctx, people["creator"], b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		check(t, s.Commit(ctx, finished(s, b, people["stranger"], []byte("x"))))
		for _, status := range []blueprint.Status{blueprint.StatusRunning, blueprint.StatusPaused, blueprint.StatusPaused} {
			r := row(s, b, people["stranger"])
			r.Status = status
			check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r, New: true}))
		}
		now := hourOf(blueprint.TimeOf(start))
		for who, want := range map[string]string{ // of the blueprint, the organization, everything: how many ended, run, wait
			"member": "1 1 2, 1 1 2, 1 1 2", "editor": "1 1 2, FORBIDDEN, 0 0 0", "creator": "1 1 2, 1 1 2, 1 1 2",
			"stranger": "FORBIDDEN, FORBIDDEN, 0 0 0", "former member": "FORBIDDEN, FORBIDDEN, 0 0 0",
		} {
			t.Run(who, func(t *testing.T) {
				var got []string
				for _, filter := range []blueprint.HoursFilter{{BlueprintID: b.ID}, {OrganizationID: team}, {}} {
					filter.From, filter.To = now, now+1
					found, err := s.RunHours(ctx, people[who], filter)
					var all blueprint.RunSums
					for _, hour := range found.Hours {
						all.Add(hour.RunSums)
					}
					text := fmt.Sprint(all.Completed, found.Running, found.Paused)
					if err != nil {
						text = string(blueprint.CodeOf(err))
					}
					got = append(got, text)
				}
				if got := strings.Join(got, ", "); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			})
		}
		_, err := s.RunHours(ctx, people["member"], blueprint.HoursFilter{BlueprintID: s.options.IDs.UUID()})
		wantCode(t, err, blueprint.CodeNotFound)
	})
}
