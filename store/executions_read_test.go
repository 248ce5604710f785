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

func TestExecutionReaders(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		b := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
		lend(t, s, b, people["editor"], "editor")
		lend(t, s, b, people["collaborator admin"], "admin")
		public := blueprint.VisibilityPublic
		must(s.UpdateBlueprint(ctx, people["creator"], b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		commit := finished(s, b, people["stranger"], []byte("record"))
		commit.State = []byte("{}")
		check(t, s.Commit(ctx, commit))
		id := commit.Row.ID
		for name, who := range people {
			manages := name != "stranger" && name != "former member"
			stored, canManage, err := s.Execution(ctx, who, id)
			if !manages && name != "stranger" {
				wantCode(t, err, blueprint.CodeNotFound)
				continue
			}
			check(t, err)
			if diff := cmp.Diff([]any{commit.Row, "record", []byte(nil), manages}, []any{stored.Row, string(stored.Record), stored.State, canManage}); diff != "" {
				t.Errorf("%s reads (-want +got):\n%s", name, diff)
			}
		}
		for _, wrong := range []string{"", "unknown", "exec_1_x", "'\x00"} {
			_, _, err := s.Execution(ctx, people["creator"], wrong)
			wantCode(t, err, blueprint.CodeNotFound)
		}
		must(s.DeleteBlueprint(ctx, people["creator"], b.ID))(t)
		for name, who := range people {
			_, canManage, err := s.Execution(ctx, who, id)
			if name != "stranger" {
				wantCode(t, err, blueprint.CodeNotFound)
			} else if err != nil || canManage {
				t.Errorf("the starter reads %v, %v", canManage, err)
			}
		}
	})
}

func TestExecutionLogs(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b, other := create(t, s, ann, "T"), create(t, s, ann, "other")
		public := blueprint.VisibilityPublic
		must(s.UpdateBlueprint(ctx, ann, b.ID, blueprint.BlueprintPatch{Visibility: &public}))(t)
		check(t, s.Commit(ctx, finished(s, other, ann, []byte("x"))))
		var all, bobs []string
		for i := range 6 {
			if i%2 == 0 {
				advance(t, s, time.Second)
			}
			by := []blueprint.Principal{ann, bob, bob}[i%3]
			r := row(s, b, by)
			commit := &blueprint.JournalCommit{Row: r, New: true}
			if i > 0 {
				commit = finished(s, b, by, []byte("record"))
			}
			check(t, s.Commit(ctx, commit))
			all = append(all, commit.Row.ID)
			if by == bob {
				bobs = append(bobs, commit.Row.ID)
			}
		}
		newest := func(ids []string) []string { // the id begins with the time
			sorted := slices.Clone(ids)
			slices.Sort(sorted)
			slices.Reverse(sorted)
			return sorted
		}
		for _, test := range []struct {
			who           blueprint.Principal
			limit, offset int
			want          []string
		}{
			{ann, 20, 0, newest(all)},
			{ann, 2, 0, newest(all)[:2]},
			{ann, 2, 3, newest(all)[3:5]},
			{ann, 20, 6, nil},
			{bob, 20, 0, newest(bobs)},
			{bob, 2, 1, newest(bobs)[1:3]},
		} {
			t.Run(fmt.Sprintf("%d from %d", test.limit, test.offset), func(t *testing.T) {
				list, err := s.ExecutionLogs(ctx, test.who, b.ID, test.limit, test.offset)
				if got := executionIDs(list); err != nil || !slices.Equal(got, test.want) || list == nil {
					t.Errorf("limit %d, offset %d: %v, want %v: %v", test.limit, test.offset, got, test.want, err)
				}
				for _, stored := range list {
					if (stored.Record != nil) != stored.Row.Status.Terminal() {
						t.Errorf("record %q of a run that is %s", stored.Record, stored.Row.Status)
					}
				}
			})
		}
		_, err := s.ExecutionLogs(ctx, bob, other.ID, 20, 0)
		wantCode(t, err, blueprint.CodeForbidden)
	})
}

func executionIDs(list []*blueprint.StoredExecution) (ids []string) {
	for _, stored := range list {
		ids = append(ids, stored.Row.ID)
	}
	return ids
}

// RecentExecutions is compared with the plain reading of its rule, over random
// users, organizations, blueprints and runs.
func TestRecentExecutions(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		random := rand.New(rand.NewPCG(1, 2))
		people, team := cast(t, s)
		names := slices.Sorted(maps.Keys(people))
		someone := func() blueprint.Principal { return people[names[random.IntN(len(names))]] }
		var blueprints []blueprint.Blueprint
		for i := range 12 {
			by, organization := someone(), ""
			if belongs(t, s, by, team) && i%2 == 0 {
				organization = team
			}
			b := must(s.CreateBlueprint(ctx, by, blueprint.NewBlueprint{Title: "T", OrganizationID: organization}))(t)
			for range 2 {
				if who := someone(); who.UserID != b.CreatedBy {
					lend(t, s, b, who, "editor")
				}
			}
			blueprints = append(blueprints, b)
		}
		var rows []blueprint.ExecutionRow
		for i := range 60 {
			if i%3 == 0 {
				advance(t, s, time.Second)
			}
			commit := finished(s, blueprints[random.IntN(len(blueprints))], someone(), []byte("x"))
			check(t, s.Commit(ctx, commit))
			rows = append(rows, commit.Row)
		}
		for _, b := range blueprints[:3] {
			must(s.DeleteBlueprint(ctx, blueprint.Principal{UserID: b.CreatedBy}, b.ID))(t)
		}
		check(t, s.DropMember(ctx, people["member"], team, people["member"].UserID))
		slices.SortFunc(rows, func(a, b blueprint.ExecutionRow) int { return strings.Compare(b.ID, a.ID) })
		for _, name := range names {
			who := people[name]
			for _, organization := range []*string{nil, &team} {
				var want []string
				for _, r := range rows {
					_, _, err := s.Execution(ctx, who, r.ID)
					if err == nil && (organization == nil || r.OrganizationID == *organization) {
						want = append(want, r.ID)
					}
				}
				var got []string
				for offset := 0; ; offset += 7 {
					list, err := s.RecentExecutions(ctx, who, organization, 7, offset)
					if organization != nil && !belongs(t, s, who, team) {
						wantCode(t, err, blueprint.CodeForbidden)
						want = nil
					} else if err != nil {
						t.Fatal(err)
					}
					got = append(got, executionIDs(list)...)
					if len(list) < 7 {
						break
					}
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s: %s", name, cmp.Diff(want, got))
				}
			}
		}
		unknown := s.options.IDs.UUID()
		_, err := s.RecentExecutions(ctx, people["owner"], &unknown, 7, 0)
		wantCode(t, err, blueprint.CodeForbidden)
	})
}

// The listings read from the end of an index, however many runs there are.
func TestListingPlans(t *testing.T) {
	s := open(t, testOptions(t))
	for name, test := range map[string]struct {
		query string
		args  []any
	}{
		"recent":       {pageWithRecords(mine(false)), []any{"x", 1, 0}},
		"recent some":  {recentRuns, []any{`["x"]`, 10}},
		"recent own":   {recentOwnRuns, []any{"x", 500}},
		"logs":         {onPage("WHERE e.blueprint_seq = (SELECT seq FROM blueprints WHERE id = ?1)"), []any{"x", 1, 0}},
		"own":          {"SELECT b.id FROM blueprints b WHERE b.deleted_at IS NULL AND " + listed[blueprint.ScopeOwn] + " ORDER BY b.created_at DESC, b.id DESC", []any{"x"}},
		"own runs":     {runsOfUser, []any{"x", 0, 9, 9, 5}},
		"its runs":     {runsOfOrganization, []any{"x", 0, 9, 9, 5}},
		"of blueprint": {runsOfBlueprint, []any{"x", 0, 9, 9, 5}},
		"unfinished":   {unfinishedRuns, []any{"", 0, 9, 9, 5}},
		"old hours":    {oldHours, []any{0, "", 5, 9, 5}},
		"firings":      {"SELECT f.id FROM firings f WHERE f.trigger_seq = (SELECT seq FROM triggers WHERE id = ?) ORDER BY f.seq DESC", []any{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			var plan []string
			check(t, s.read(context.Background(), func(q *session) error {
				return q.each("EXPLAIN QUERY PLAN "+test.query, test.args, func(scan func(...any) error) error {
					var id, parent, unused int
					var detail string
					err := scan(&id, &parent, &unused, &detail)
					plan = append(plan, detail)
					return err
				})
			}))
			for _, line := range plan {
				table, scanned := strings.CutPrefix(line, "SCAN ")
				if scanned && slices.Contains([]string{"e", "x", "y", "b", "f", "h", "blueprints"}, table) || line == "USE TEMP B-TREE FOR ORDER BY" && !slices.Contains([]string{"recent", "recent some"}, name) {
					t.Errorf("%q in\n%s", line, strings.Join(plan, "\n"))
				}
			}
			t.Logf("%s:\n%s", name, strings.Join(plan, "\n"))
		})
	}
}
