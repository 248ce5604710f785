package store

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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
			t.Errorf("unfinished %+v", list)
		}

		r.Status, r.EndTime = blueprint.StatusFailed, r.UpdatedAt
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: r, Entries: [][]byte{entry(4)}, Record: []byte("record"), State: []byte("{}")}))
		got = must(s.Load(ctx, r.ID))(t)
		if want := (&blueprint.StoredExecution{Row: r, Record: []byte("record"), State: []byte("{}")}); !cmp.Equal(got, want) {
			t.Error(cmp.Diff(want, got))
		}
		if list := must(s.Unfinished(ctx))(t); len(list) != 0 {
			t.Errorf("unfinished %+v", list)
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
			t.Errorf("stored %+v", got)
		}
	})
}

// A run that was under way when its blueprint was deleted can end; none begins.
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

func TestExecutionReaders(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		people, team := cast(t, s)
		b := must(s.CreateBlueprint(ctx, people["creator"], blueprint.NewBlueprint{Title: "T", Map: oneNode("set"), OrganizationID: team}))(t)
		check(t, s.SetCollaborator(ctx, b.ID, people["editor"].UserID, "editor"))
		check(t, s.SetCollaborator(ctx, b.ID, people["collaborator admin"].UserID, "admin"))
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
			if err != nil || canManage != manages || string(stored.Record) != "record" || stored.State != nil || stored.Row != commit.Row {
				t.Errorf("%s reads %+v, %v, %v", name, stored, canManage, err)
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
				t.Errorf("who triggered it reads %v, %v", canManage, err)
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
			list, err := s.ExecutionLogs(ctx, test.who, b.ID, test.limit, test.offset)
			if got := executionIDs(list); err != nil || !slices.Equal(got, test.want) || list == nil {
				t.Errorf("limit %d, offset %d: %v, want %v: %v", test.limit, test.offset, got, test.want, err)
			}
			for _, stored := range list {
				if (stored.Record != nil) != stored.Row.Status.Terminal() {
					t.Errorf("record %q of a run that is %s", stored.Record, stored.Row.Status)
				}
			}
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
		var names []string
		for name := range people {
			names = append(names, name)
		}
		slices.Sort(names)
		someone := func() blueprint.Principal { return people[names[random.IntN(len(names))]] }
		var blueprints []blueprint.Blueprint
		for i := range 12 {
			by, organization := someone(), ""
			if must(s.IsMember(ctx, by, team))(t) && i%2 == 0 {
				organization = team
			}
			b := must(s.CreateBlueprint(ctx, by, blueprint.NewBlueprint{Title: "T", OrganizationID: organization}))(t)
			for range 2 {
				check(t, s.SetCollaborator(ctx, b.ID, someone().UserID, "editor"))
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
		check(t, s.RemoveMember(ctx, team, people["member"].UserID))
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
					if organization != nil && !must(s.IsMember(ctx, who, team))(t) {
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
		"recent":       {pageWithRecords(mine), []any{"x", 1, 0}},
		"logs":         {onPage("WHERE e.blueprint_id = ?1"), []any{"x", 1, 0}},
		"own":          {"SELECT b.id FROM blueprints b WHERE b.deleted_at IS NULL AND " + listed[blueprint.ScopeOwn] + " ORDER BY b.created_at DESC, b.id DESC", []any{"x"}},
		"own runs":     {runsOfUser, []any{"x", 0, 9, 9, 5}},
		"its runs":     {runsOfOrganization, []any{"x", 0, 9, 9, 5}},
		"of blueprint": {runsOfBlueprint, []any{"x", 0, 9, 9, 5}},
		"unfinished":   {unfinishedRuns, []any{"", 0, 9, 9, 5}},
		"old hours":    {oldHours, []any{0, "", 5, 9, 5}},
		"firings":      {"SELECT f.id FROM firings f WHERE f.trigger_id = ? ORDER BY f.seq DESC", []any{"x"}},
	} {
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
			if scanned && slices.Contains([]string{"e", "x", "y", "b", "f", "h", "blueprints"}, table) || line == "USE TEMP B-TREE FOR ORDER BY" && name != "recent" {
				t.Errorf("%s: %q in\n%s", name, line, strings.Join(plan, "\n"))
			}
		}
		t.Logf("%s:\n%s", name, strings.Join(plan, "\n"))
	}
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
				t.Errorf("the same key again: %v", err)
			}
			if _, err := s.Load(ctx, second.Row.ID); blueprint.CodeOf(err) != blueprint.CodeNotFound {
				t.Errorf("the second run: %v", err)
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

// A run that was made of what has changed is not stored, whoever changed it: a
// call before it, one in the same transaction, or another process.
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
			t.Fatal("nothing is known")
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
			t.Errorf("%s: the run is there (%v)", what, err)
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
		t.Errorf("what this process has changed is not in %+v of generation %d (%v)", binding, generation, err)
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
