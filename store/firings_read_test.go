package store

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// ledger fills a trigger's ledger with rows of every decision and source, some
// of them of runs, among those of another trigger. The clock is set back once.
func ledger(t testing.TB, s *Store, rows int) (who blueprint.Principal, trigger blueprint.Trigger, all []blueprint.LedgerRow) {
	ctx := context.Background()
	who = user(t, s, "ann")
	b := create(t, s, who, "T")
	trigger = must(s.CreateTrigger(ctx, who, b.ID, blueprint.TriggerWebhook, nil))(t)
	other := must(s.CreateTrigger(ctx, who, b.ID, blueprint.TriggerWebhook, nil))(t)
	decisions := []blueprint.Decision{"started", "refused", "skipped", "duplicate", "started", "coalesced", "started"}
	statuses := []blueprint.Status{blueprint.StatusCompleted, blueprint.StatusFailed, blueprint.StatusRunning, blueprint.StatusPaused}
	at := start.Add(-240 * time.Hour)
	check(t, s.write(ctx, func(w *transaction) error {
		for i := range rows {
			if at = at.Add(time.Duration(rand.IntN(3)) * time.Hour); i == rows/2 {
				at = at.Add(-20 * time.Hour)
			}
			f := firing(s, trigger, fmt.Sprint("key ", i))
			f.ReceivedAt, f.Decision, f.Source = blueprint.TimeOf(at), decisions[i%len(decisions)], []blueprint.Source{"webhook", "manual", "api"}[i%3]
			f.DueAt = f.ReceivedAt // what is neither a tick nor came cannot be run again
			elsewhere := f
			elsewhere.ID, elsewhere.TriggerID, elsewhere.Decision = s.options.IDs.ULID(at), other.ID, "refused"
			if err := s.insertFiring(w, &elsewhere); err != nil {
				return err
			}
			row := blueprint.LedgerRow{Firing: f}
			if f.Decision != "started" {
				if err := s.insertFiring(w, &f); err != nil {
					return err
				}
				all = append(all, row)
				continue
			}
			c := finished(s, b, who, []byte("a record"))
			c.Row.Status = statuses[i%len(statuses)]
			if !c.Row.Status.Terminal() {
				c.Row.EndTime, c.Record = 0, nil
			}
			f.ExecutionID, c.Firing, c.Row.FiringID, c.Row.TriggerID = &c.Row.ID, &f, f.ID, trigger.ID
			if err := s.beginWithFiring(w, c); err != nil {
				return err
			}
			row.Firing, row.Run = f, &blueprint.FiringRun{ExecutionID: c.Row.ID, Status: c.Row.Status}
			all = append(all, row)
		}
		return nil
	}))
	return who, trigger, all
}

// lets reports whether a filter lets a row through, by its definition.
func lets(f *blueprint.FiringFilter, row *blueprint.LedgerRow) bool {
	return (len(f.Decisions) == 0 || slices.Contains(f.Decisions, row.Decision)) && (len(f.Sources) == 0 || slices.Contains(f.Sources, row.Source)) &&
		(f.From == 0 || row.ReceivedAt >= f.From) && (f.To == 0 || row.ReceivedAt < f.To) && (f.Key == "" || row.Key == f.Key) &&
		(f.Status == "" || row.Decision == "started" && row.Run.Status == f.Status)
}

// What the ledger finds is what a look at each of its rows finds.
func TestFindFirings(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		who, trigger, all := ledger(t, s, 200)
		pick := func() blueprint.Time { return all[rand.IntN(len(all))].ReceivedAt + blueprint.Time(rand.IntN(3)-1) }
		for range 60 {
			var f blueprint.FiringFilter
			if rand.IntN(2) == 0 {
				f.Decisions = [][]blueprint.Decision{{"refused"}, {"started"}, {"duplicate", "skipped"}, {"coalesced"}, {"started", "refused"}}[rand.IntN(5)]
			}
			if rand.IntN(3) == 0 {
				f.Sources = [][]blueprint.Source{{"webhook"}, {"api", "manual"}, {"email"}}[rand.IntN(3)]
			}
			if rand.IntN(2) == 0 {
				f.From = pick()
			}
			if rand.IntN(2) == 0 {
				f.To = pick()
			}
			if rand.IntN(4) == 0 {
				f.Status = []blueprint.Status{"completed", "failed", "running", "paused"}[rand.IntN(4)]
			}
			if rand.IntN(8) == 0 {
				f.Key = fmt.Sprint("key ", rand.IntN(len(all)))
			}
			want := []blueprint.LedgerRow{}
			for i := range slices.Backward(all) {
				if lets(&f, &all[i]) {
					want = append(want, all[i])
				}
			}
			limit, offset := 1+rand.IntN(50), rand.IntN(20)
			page := want[min(offset, len(want)):min(offset+limit, len(want))]
			list, total, err := s.FindFirings(ctx, who, trigger.ID, f, limit, offset)
			if err != nil || total != len(want) || len(list) != len(page) {
				t.Fatalf("%+v: %v, %d of %d, want %d of %d", f, err, len(list), total, len(page), len(want))
			}
			for i := range page {
				if !cmp.Equal(list[i], page[i].Firing) {
					t.Fatalf("%+v: %s", f, cmp.Diff(page[i].Firing, list[i]))
				}
			}
			if rows := must(s.Ledger(ctx, who, trigger.ID, f, 10))(t); !cmp.Equal(rows, want[:min(10, len(want))]) && len(want) > 0 {
				t.Fatalf("%+v: %s", f, cmp.Diff(want[:min(10, len(want))], rows))
			}
			again, matched, err := s.FiringsToRedeliver(ctx, who, &blueprint.RedeliverRequest{TriggerID: trigger.ID, Filter: f, Limit: 10})
			if err != nil || matched != len(want) || len(again) != min(10, len(want)) || len(want) > 0 && again[0].ID != want[len(want)-1].ID {
				t.Fatalf("%+v: %v, %d and %d to run again, want %d", f, err, len(again), matched, len(want))
			}
		}
	})
}

// A firing that was run again is left out, unless the run that came of it failed.
func TestFiringsToRedeliver(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b := create(t, s, ann, "T")
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, nil))(t)
		var ids []string
		for i := range 4 {
			f := firing(s, trigger, fmt.Sprint(i))
			f.Delivery = &blueprint.Delivery{}
			check(t, record(s, f))
			ids = append(ids, f.ID)
		}
		check(t, record(s, firing(s, trigger, "a remark of the server's own, with which nothing came")))
		again := func(of string, status blueprint.Status) {
			f := firing(s, trigger, s.options.IDs.ULID(start))
			f.Source, f.Delivery = blueprint.SourceRedelivery, &blueprint.Delivery{Facts: map[string]any{blueprint.FactRedeliveryOf: of}}
			if status == "" {
				check(t, record(s, f))
				return
			}
			c := finished(s, b, ann, []byte("a record"))
			c.Row.Status, f.Decision, f.ExecutionID = status, blueprint.DecisionStarted, &c.Row.ID
			c.Row.FiringID, c.Row.TriggerID, c.Firing = f.ID, trigger.ID, &f
			check(t, s.Commit(ctx, c))
		}
		again(ids[0], blueprint.StatusCompleted)
		again(ids[1], blueprint.StatusFailed)
		again(ids[2], "")
		filter := blueprint.FiringFilter{Decisions: []blueprint.Decision{blueprint.DecisionRefused}}
		for _, c := range []struct {
			again bool
			want  []string
		}{{false, ids[1:]}, {true, ids}} {
			t.Run(fmt.Sprint(c.again), func(t *testing.T) {
				list, matched, err := s.FiringsToRedeliver(ctx, ann, &blueprint.RedeliverRequest{TriggerID: trigger.ID, Filter: filter, Again: c.again, Limit: 100})
				var got []string
				for _, f := range list {
					got = append(got, f.ID)
					if (f.Failed == 1) != (f.ID == ids[1]) {
						t.Errorf("%s failed %d times", f.ID, f.Failed)
					}
				}
				if err != nil || matched != len(c.want) || !slices.Equal(got, c.want) {
					t.Errorf("again %v: %v, %d: %v, want %v", c.again, err, matched, got, c.want)
				}
			})
		}
		_, _, err := s.FiringsToRedeliver(ctx, bob, &blueprint.RedeliverRequest{TriggerID: trigger.ID, Filter: filter, Limit: 1})
		wantCode(t, err, blueprint.CodeForbidden)

		for i, status := range []blueprint.Status{blueprint.StatusCompleted, blueprint.StatusFailed, ""} {
			if told := must(s.FiringStory(ctx, ann, ids[i]))(t).Redeliveries; told[0].Status != status && !(status == "" && told[0].Status == blueprint.StatusRunning) {
				t.Errorf("run again as %+v, want %q", told, status)
			}
		}
		story := must(s.FiringStory(ctx, ann, ids[1]))(t)
		if len(story.Redeliveries) != 1 || story.Redeliveries[0].ExecutionID == nil || story.Trigger.ID != trigger.ID || story.Run != nil {
			t.Errorf("story %+v", story)
		}
		second := must(s.FiringStory(ctx, ann, story.Redeliveries[0].FiringID))(t)
		if second.Run == nil || second.Run.Status != blueprint.StatusFailed || second.Firing.Delivery.Facts["of"] != ids[1] || len(second.Redeliveries) != 0 {
			t.Errorf("story %+v", second)
		}
		for _, id := range []string{ids[1], "unknown"} {
			_, err = s.FiringStory(ctx, bob, id)
			wantCode(t, err, blueprint.CodeNotFound)
			_, err = s.FiringWithDelivery(ctx, bob, id)
			wantCode(t, err, blueprint.CodeNotFound)
		}
	})
}

func TestTickRows(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerScheduled, map[string]any{"cron": "* * * * *"}))(t)
		record := func(minute int, decision blueprint.Decision) {
			f := firing(s, trigger, fmt.Sprint(minute))
			f.Source, f.Decision, f.DueAt = blueprint.SourceSchedule, decision, blueprint.TimeOf(start.Add(time.Duration(minute)*time.Minute))
			f.ReceivedAt = max(f.DueAt, f.ReceivedAt)
			check(t, record(s, f))
		}
		record(1, "refused")
		record(2, "refused")
		record(5, "coalesced")
		record(6, "refused")
		for minute, want := range map[int]string{1: "1 5", 2: "2 5", 3: "5", 5: "5", 6: "6", 7: ""} {
			t.Run(fmt.Sprint(minute), func(t *testing.T) {
				got := ""
				for _, row := range must(s.TickRows(ctx, ann, trigger.ID, blueprint.TimeOf(start.Add(time.Duration(minute)*time.Minute))))(t) {
					got += " " + row.Key
				}
				if got != "" {
					got = got[1:]
				}
				if got != want {
					t.Errorf("minute %d: %q, want %q", minute, got, want)
				}
			})
		}
	})
}

var findRows = flag.Int("find-rows", 2000, "how many rows the ledger of TestFindFiringsCost has")

// TestFindFiringsCost tells what filters cost; with -v and -find-rows 1000000 for
// a busy trigger.
func TestFindFiringsCost(t *testing.T) {
	t.Parallel()
	s := open(t, testOptions(t))
	ctx := context.Background()
	who := user(t, s, "ann")
	b := create(t, s, who, "T")
	trigger := must(s.CreateTrigger(ctx, who, b.ID, blueprint.TriggerWebhook, nil))(t)
	body := make([]byte, 500)
	for done := 0; done < *findRows; done += 2000 {
		check(t, s.write(ctx, func(w *transaction) error {
			for i := done; i < min(done+2000, *findRows); i++ {
				c := finished(s, b, who, []byte("a record of a run"))
				if i%50 == 0 {
					c.Row.Status = blueprint.StatusFailed
				}
				f := firing(s, trigger, fmt.Sprint("delivery ", i))
				f.ReceivedAt = blueprint.TimeOf(start.Add(-30*day + time.Duration(i)*(30*day/time.Duration(*findRows))))
				f.Delivery = &blueprint.Delivery{Header: map[string][]string{"content-type": {"application/json"}, "user-agent": {"somebody's webhook sender 1.0"}}, Body: body, Size: 500}
				if i%20 == 0 {
					if err := s.insertFiring(w, &f); err != nil {
						return err
					}
					continue
				}
				f.Decision, f.ExecutionID = blueprint.DecisionStarted, &c.Row.ID
				c.Firing, c.Row.FiringID, c.Row.TriggerID = &f, f.ID, f.TriggerID
				if err := s.beginWithFiring(w, c); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	check(t, s.emptyLog())
	hour := blueprint.FiringFilter{From: blueprint.TimeOf(start.Add(-10 * day)), To: blueprint.TimeOf(start.Add(-10*day + time.Hour))}
	failedDay := blueprint.FiringFilter{From: blueprint.TimeOf(start.Add(-day)), Status: blueprint.StatusFailed}
	for _, c := range []struct {
		name   string
		filter blueprint.FiringFilter
	}{
		{"nothing", blueprint.FiringFilter{}},
		{"an hour", hour},
		{"failed within a day", failedDay},
		{"refused", blueprint.FiringFilter{Decisions: []blueprint.Decision{"refused"}}},
		{"started", blueprint.FiringFilter{Decisions: []blueprint.Decision{"started"}}},
		{"a key", blueprint.FiringFilter{Key: "delivery 7"}},
		{"failed", blueprint.FiringFilter{Status: blueprint.StatusFailed}},
	} {
		var total int
		took := timed(t, func() (err error) {
			_, total, err = s.FindFirings(ctx, who, trigger.ID, c.filter, 20, 0)
			return err
		})
		again := timed(t, func() error {
			_, _, err := s.FiringsToRedeliver(ctx, who, &blueprint.RedeliverRequest{TriggerID: trigger.ID, Filter: c.filter, Limit: 100})
			return err
		})
		t.Logf("%-20s %7d of %d: %v; to run again %v", c.name, total, *findRows, took.Round(time.Microsecond), again.Round(time.Microsecond))
	}
}

// Who looks for a trigger's failed runs does not look at those of others.
func TestFailedFiringsPlan(t *testing.T) {
	s := open(t, testOptions(t))
	filter := blueprint.FiringFilter{Status: blueprint.StatusFailed}
	args, plan := []any{"trigger", 0, 9, 0, 9, "", "", "", "failed"}, ""
	check(t, s.writer.session.each("EXPLAIN QUERY PLAN SELECT count(*)"+along(&filter), args, func(scan func(...any) error) error {
		var id, parent, rest any
		var detail string
		err := scan(&id, &parent, &rest, &detail)
		plan += detail + "\n"
		return err
	}))
	if !strings.Contains(plan, "SEARCH e USING INDEX executions_trigger (trigger_seq=? AND end_time>?)") || strings.Contains(plan, "SCAN f") {
		t.Errorf("it goes by\n%s", plan)
	}
}
