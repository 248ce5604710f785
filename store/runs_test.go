package store

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// ListRuns is compared with the plain reading of its rule, over random users,
// organizations, blueprints, runs and filters.
func TestListRuns(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		random := rand.New(rand.NewPCG(5, 6))
		people, team := cast(t, s)
		names := slices.Sorted(maps.Keys(people))
		someone := func() blueprint.Principal { return people[names[random.IntN(len(names))]] }
		var blueprints []blueprint.Blueprint
		var triggers []blueprint.Trigger
		for i := range 12 {
			by, organization := someone(), ""
			if belongs(t, s, by, team) && i%2 == 0 {
				organization = team
			}
			b := must(s.CreateBlueprint(ctx, by, blueprint.NewBlueprint{Title: fmt.Sprint("title ", i), OrganizationID: organization}))(t)
			for range 2 {
				if who := someone(); who.UserID != b.CreatedBy {
					lend(t, s, b, who, "editor")
				}
			}
			blueprints = append(blueprints, b)
			triggers = append(triggers, must(s.CreateTrigger(ctx, by, b.ID, blueprint.TriggerAPI, nil))(t))
		}
		var rows []blueprint.ExecutionRow
		for i := range 80 {
			if i%3 == 0 {
				advance(t, s, time.Second)
			}
			at := random.IntN(len(blueprints))
			c := finished(s, blueprints[at], someone(), []byte("x"))
			switch random.IntN(4) {
			case 0:
				c.Row.Status = blueprint.StatusFailed
			case 1:
				c.Row.Status, c.Row.EndTime, c.Record = blueprint.StatusPaused, 0, nil
			}
			if random.IntN(2) == 0 {
				c.Row.TriggerID = triggers[at].ID
			}
			if len(rows) > 0 && random.IntN(3) == 0 {
				c.Row.ParentExecutionID = rows[random.IntN(min(len(rows), 20))].ID
			}
			if len(rows) > 0 && random.IntN(3) == 0 {
				c.Row.RetryOf = rows[random.IntN(min(len(rows), 20))].ID
			}
			check(t, s.Commit(ctx, c))
			rows = append(rows, c.Row)
		}
		for _, b := range blueprints {
			present := "now " + b.Title
			must(s.UpdateBlueprint(ctx, blueprint.Principal{UserID: b.CreatedBy}, b.ID, blueprint.BlueprintPatch{Title: &present}))(t)
		}
		for _, b := range blueprints[:3] {
			must(s.DeleteBlueprint(ctx, blueprint.Principal{UserID: b.CreatedBy}, b.ID))(t)
		}
		check(t, s.DropMember(ctx, people["member"], team, people["member"].UserID))
		slices.Reverse(rows)
		slices.SortStableFunc(rows, func(a, b blueprint.ExecutionRow) int { return int(b.CreatedAt - a.CreatedAt) })
		fits := func(f *blueprint.RunFilter, r *blueprint.ExecutionRow) bool {
			return (f.BlueprintID == "" || f.BlueprintID == r.BlueprintID) && (f.OrganizationID == "" || f.OrganizationID == r.OrganizationID) &&
				(f.TriggerID == "" || f.TriggerID == r.TriggerID) && (f.Status == "" || f.Status == r.Status) && strings.HasPrefix(r.ID, f.Search) &&
				(f.ParentExecutionID == "" || f.ParentExecutionID == r.ParentExecutionID) && (f.RetryOf == "" || f.RetryOf == r.RetryOf) &&
				r.CreatedAt >= f.From && (f.To == 0 || r.CreatedAt < f.To)
		}
		visible := map[string]map[string]bool{} // ids of runs by user
		titles := map[string]map[string]string{}
		for _, name := range names {
			visible[name], titles[name] = map[string]bool{}, map[string]string{}
			for i := range rows {
				_, _, err := s.Execution(ctx, people[name], rows[i].ID)
				visible[name][rows[i].ID] = err == nil
			}
			for i, b := range blueprints {
				// A user who cannot see it any more sees the title that it had when it ran.
				titles[name][b.ID] = fmt.Sprint("title ", i)
				if now, err := s.GetBlueprint(ctx, people[name], b.ID); err == nil {
					titles[name][b.ID] = now.Title
				}
			}
		}
		searches, full := 150, 0
		if *thorough {
			searches = 500
		}
		for range searches {
			who := names[random.IntN(len(names))]
			f := blueprint.RunFilter{Limit: 1 + random.IntN(20)}
			one := rows[random.IntN(len(rows))]
			for range random.IntN(3) {
				switch random.IntN(9) {
				case 0:
					f.BlueprintID = one.BlueprintID
				case 1:
					f.OrganizationID = one.OrganizationID
				case 2:
					f.TriggerID = triggers[random.IntN(len(triggers))].ID
				case 3:
					f.Status = one.Status
				case 4:
					f.From = one.CreatedAt
				case 5:
					f.To = one.CreatedAt
				case 8:
					f.RetryOf = one.RetryOf
				case 7:
					f.ParentExecutionID = one.ParentExecutionID
				case 6:
					f.Search = one.ID[:random.IntN(len(one.ID)+1)]
				}
			}
			var want, got []string
			for i := range rows {
				if visible[who][rows[i].ID] && fits(&f, &rows[i]) {
					want = append(want, rows[i].ID)
				}
			}
			for {
				page, err := s.ListRuns(ctx, people[who], f)
				if code := blueprint.CodeOf(err); code == blueprint.CodeForbidden || code == blueprint.CodeNotFound {
					want = nil // see TestListRunsAccess
					break
				}
				check(t, err)
				for _, run := range page.Runs {
					if want := titles[who][run.BlueprintID]; run.BlueprintTitle != want {
						t.Errorf("title %q, want %q", run.BlueprintTitle, want)
					}
					if run.Status == blueprint.StatusFailed != (run.Stored.Record != nil && run.Status != blueprint.StatusCompleted) {
						t.Errorf("%s: record %q", run.Status, run.Stored.Record)
					}
					got = append(got, run.ExecutionID)
				}
				if page.Next == (blueprint.RunPosition{}) {
					break
				}
				if len(page.Runs) != f.Limit || page.SearchedUntil != 0 {
					t.Errorf("%d runs, searched until %v; want %v and 0", len(page.Runs), page.SearchedUntil, f.Limit)
				}
				f.After = page.Next
				full++
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s %+v: %s", who, f, cmp.Diff(want, got))
			}
		}
		if full < searches/5 {
			t.Errorf("only %d pages had another one behind them, want at least %d", full, searches/5)
		}
	})
}

// A search without access is refused, and one with few matches stops early and can be
// continued.
func TestListRunsBounds(t *testing.T) {
	t.Parallel()
	s := open(t, testOptions(t))
	ctx := context.Background()
	people, team := cast(t, s)
	ann := people["creator"]
	b := must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", OrganizationID: team}))(t)
	trigger := must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerAPI, nil))(t)
	bulk(t, s, b, ann, mostLooked+100, time.Hour, blueprint.StatusCompleted, []byte("x"))
	rare := ended(s, b, ann, "exec_1_rare", 2*time.Hour, blueprint.StatusFailed)
	rare.Record = make([]byte, largestListed+1)
	check(t, s.Commit(ctx, rare))
	f := blueprint.RunFilter{Status: blueprint.StatusFailed, Limit: 20}
	for looks := 1; ; looks++ {
		page := must(s.ListRuns(ctx, ann, f))(t)
		if looks < 2 {
			if len(page.Runs) > 0 || page.SearchedUntil != blueprint.TimeOf(start.Add(-time.Hour)) {
				t.Errorf("look %d: %+v", looks, page)
			}
			f.After = page.Next
			continue
		}
		if len(page.Runs) != 1 || page.Runs[0].ExecutionID != "exec_1_rare" || page.Runs[0].Stored.Record != nil || page.Next != (blueprint.RunPosition{}) {
			t.Errorf("look %d: %+v", looks, page)
		}
		break
	}
	unknown := s.options.IDs.UUID()
	for _, test := range []struct {
		who    string
		filter blueprint.RunFilter
		want   blueprint.Code
	}{
		{"stranger", blueprint.RunFilter{BlueprintID: b.ID}, blueprint.CodeForbidden},
		{"stranger", blueprint.RunFilter{TriggerID: trigger.ID}, blueprint.CodeForbidden},
		{"stranger", blueprint.RunFilter{OrganizationID: team}, blueprint.CodeForbidden},
		{"owner", blueprint.RunFilter{OrganizationID: unknown}, blueprint.CodeForbidden},
		{"owner", blueprint.RunFilter{BlueprintID: unknown}, blueprint.CodeNotFound},
		{"owner", blueprint.RunFilter{TriggerID: unknown}, blueprint.CodeNotFound},
	} {
		test.filter.Limit = 1
		_, err := s.ListRuns(ctx, people[test.who], test.filter)
		wantCode(t, err, test.want)
	}
}

func TestRunPosition(t *testing.T) {
	for _, text := range []string{"", ".", "0.0", "-0.1", "1", "1.", "01.1", "1.1.1", "zz.Z", "1.1 "} {
		if p, ok := blueprint.ParseRunPosition(text); ok {
			t.Errorf("%q is %+v", text, p)
		}
	}
	for _, p := range []blueprint.RunPosition{{At: 1, Seq: 1}, {At: 1772366400000, Seq: 1 << 40}} {
		t.Run(p.String(), func(t *testing.T) {
			if got, ok := blueprint.ParseRunPosition(p.String()); !ok || got != p {
				t.Errorf("%+v became %+v", p, got)
			}
		})
	}
}
