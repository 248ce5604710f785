package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// listen makes an event trigger.
func listen(t testing.TB, s *Store, by blueprint.Principal, b blueprint.Blueprint, event string) blueprint.Trigger {
	t.Helper()
	return must(s.CreateTrigger(context.Background(), by, b.ID, blueprint.TriggerEvent, map[string]any{"event": event}))(t)
}

// outboxOf lists what is in the outbox, as name and data.
func outboxOf(t testing.TB, s *Store) (list []string) {
	t.Helper()
	for _, e := range must(s.Events(context.Background(), 0, 1000))(t) {
		data := must(blueprint.Encode(e.Data))(t)
		list = append(list, strings.TrimSpace(e.Name+" "+string(data)))
	}
	return list
}

// telling returns the commit of a run that has ended, with an event.
func telling(s *Store, b blueprint.Blueprint, by blueprint.Principal, data any) *blueprint.JournalCommit {
	c := finished(s, b, by, []byte("{}"))
	c.Events = []blueprint.Event{{
		Name: blueprint.EventExecutionCompleted, OrganizationID: c.Row.OrganizationID, BlueprintID: b.ID, ExecutionID: c.Row.ID, Depth: 3, Root: "first", At: c.Row.EndTime, Data: data,
	}}
	return c
}

// lazy counts how often data was worked out.
type lazy struct{ times *int }

func (l lazy) MarshalJSON() ([]byte, error) {
	*l.times++
	return []byte(`{"n":1.50}`), nil
}

func TestOutbox(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann, bob := user(t, s, "ann"), user(t, s, "bob")
		b, other := create(t, s, ann, "T"), create(t, s, bob, "U")
		times, told := 0, 0
		s.options.OnEvents = func() { told++ }
		commit := func(want int) {
			t.Helper()
			before := len(outboxOf(t, s))
			check(t, s.Commit(ctx, telling(s, b, ann, lazy{&times})))
			if got := len(outboxOf(t, s)) - before; got != want {
				t.Errorf("%d events, want %d", got, want)
			}
		}
		commit(0)
		listen(t, s, ann, b, blueprint.EventExecutionFailed)
		listen(t, s, bob, other, blueprint.EventExecutionCompleted)
		commit(0)
		if times != 0 || told != 0 {
			t.Errorf("nobody listened: data was worked out %d times, told %d times; want 0 and 0", times, told)
		}
		hears := listen(t, s, ann, b, blueprint.EventExecutionCompleted)
		commit(1)
		on, off, config := true, false, func(event string) func(blueprint.Trigger) (map[string]any, error) {
			return func(blueprint.Trigger) (map[string]any, error) { return map[string]any{"event": event}, nil }
		}
		for _, step := range []struct {
			merge  func(blueprint.Trigger) (map[string]any, error)
			active *bool
			want   int
		}{{nil, &off, 0}, {nil, &on, 1}, {config("custom.x"), nil, 0}, {config(blueprint.EventExecutionCompleted), nil, 1}} {
			must(s.UpdateTrigger(ctx, ann, hears.ID, step.merge, step.active))(t)
			commit(step.want)
		}
		if ids := must(s.Listeners(ctx, b.OrganizationID, blueprint.EventExecutionCompleted))(t); !cmp.Equal(ids, []string{hears.ID}) {
			t.Errorf("listeners %v, want %v", ids, []string{hears.ID})
		}
		check(t, s.DeleteTrigger(ctx, ann, hears.ID))
		commit(0)
		if ids := must(s.Listeners(ctx, b.OrganizationID, blueprint.EventExecutionCompleted))(t); len(ids) != 0 {
			t.Errorf("listeners %v, want none", ids)
		}
		listen(t, s, ann, b, blueprint.EventExecutionCompleted)
		commit(1)
		if times != 4 || told != 4 {
			t.Errorf("data was worked out %d times, told %d times; want 4 and 4", times, told)
		}
		list := must(s.Events(ctx, 1, 2))(t)
		if len(list) != 2 || len(list[0].Key) != 26 {
			t.Fatalf("read %+v, want two events with keys of 26 characters", list)
		}
		want := list[0]
		want.Seq, want.Depth, want.Root, want.At = 2, 3, "first", blueprint.TimeOf(start)
		want.OrganizationID, want.BlueprintID, want.Data = b.OrganizationID, b.ID, map[string]any{"n": json.Number("1.50")}
		if diff := cmp.Diff(want, list[0]); diff != "" {
			t.Errorf("first event (-want +got):\n%s", diff)
		}
		check(t, s.RemoveEvents(ctx, []string{list[0].Key, list[1].Key, "unknown"}))
		if left := must(s.Events(ctx, 0, 10))(t); len(left) != 2 || left[0].Seq != 1 || left[1].Seq != 4 {
			t.Errorf("left %+v, want length 2, Seq 1 and Seq 4", left)
		}
		must(s.DeleteBlueprint(ctx, ann, b.ID))(t)
		if ids := must(s.Listeners(ctx, b.OrganizationID, blueprint.EventExecutionFailed))(t); len(ids) != 0 {
			t.Errorf("listeners %v, want none", ids)
		}
	})
}

// An event and what made it true are stored together or not at all, and a batch
// sees what its earlier jobs have changed.
func TestOutboxInOneTransaction(t *testing.T) {
	ctx := context.Background()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	batch := func(jobs ...*job) {
		t.Helper()
		for _, j := range jobs {
			j.done = make(chan struct{})
		}
		s.writer.connection.Lock()
		s.process(jobs)
	}
	refused := errors.New("refused")
	tells := func() *job { return s.commitJob(telling(s, b, ann, nil)) }
	hears := func(fails error) *job {
		return &job{run: func(t *transaction) error {
			t.changed()
			const insert = `INSERT INTO triggers (id, blueprint_id, type, config, is_active, created_by, created_at, cursor_at, event, changed)
				VALUES (?, ?, 'event', '{}', 1, ?, 0, 0, ?, 0)`
			if _, err := t.exec(insert, s.options.IDs.UUID(), b.ID, ann.UserID, blueprint.EventExecutionCompleted); err != nil {
				return err
			}
			if err := s.publish(t, telling(s, b, ann, nil).Events); err != nil { // it sees itself
				return err
			}
			return fails
		}}
	}
	expect := func(what string, want int) {
		t.Helper()
		if got := len(outboxOf(t, s)); got != want {
			t.Errorf("%s: %d events, want %d", what, got, want)
		}
	}
	batch(tells(), hears(refused), tells())
	expect("a listener that was not made", 0)
	s.writer.beforeCommit = func() error { return refused }
	batch(hears(nil), tells())
	s.writer.beforeCommit = nil
	expect("a commit that failed", 0)
	batch(tells(), tells())
	expect("after it", 0)
	batch(tells(), hears(nil), tells())
	expect("a listener made just before", 2)

	twice := telling(s, b, ann, nil)
	batch(s.commitJob(twice), s.commitJob(twice), tells())
	expect("a run that exists", 4)
	s.writer.beforeCommit = func() error { return refused }
	batch(tells())
	s.writer.beforeCommit = nil
	expect("alone, and failed", 4)
	if runs, err := s.RecentExecutions(ctx, ann, nil, 100, 0); err != nil || len(runs) != 8 {
		t.Errorf("%d runs, %v; want 8", len(runs), err)
	}
}

// What a tool changes counts at once, and a tool raises events too.
func TestOutboxOfTwoProcesses(t *testing.T) {
	ctx := context.Background()
	server := open(t, testOptions(t))
	run(t, server)
	tool := beside(t, server)
	ann := user(t, server, "ann")
	b := create(t, server, ann, "T")
	check(t, server.Commit(ctx, telling(server, b, ann, nil)))
	trigger := listen(t, tool, ann, b, blueprint.EventExecutionCompleted)
	check(t, server.Commit(ctx, telling(server, b, ann, nil)))
	if got := outboxOf(t, server); len(got) != 1 {
		t.Errorf("after a tool made a trigger: %v, want length 1", got)
	}
	check(t, tool.DeleteTrigger(ctx, ann, trigger.ID))
	check(t, server.Commit(ctx, telling(server, b, ann, nil)))
	if got := outboxOf(t, server); len(got) != 1 {
		t.Errorf("after a tool deleted it: %v, want length 1", got)
	}
	listen(t, server, ann, b, blueprint.EventBlueprintCreated)
	create(t, tool, ann, "U")
	want := []string{"execution.completed null", `blueprint.created {"status":"draft","title":"U","version":"1.0.0"}`}
	if got := outboxOf(t, server); !cmp.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestBlueprintEvents(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		for _, event := range []string{blueprint.EventBlueprintCreated, blueprint.EventBlueprintUpdated, blueprint.EventBlueprintPublished} {
			listen(t, s, ann, b, event)
		}
		title, draft, published := "U", blueprint.StatusDraft, blueprint.StatusPublished
		patch := func(p blueprint.BlueprintPatch) func() {
			return func() { must(s.UpdateBlueprint(ctx, ann, b.ID, p))(t) }
		}
		create := func(status string) func() {
			return func() {
				must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "N", Status: status, Map: oneNode("set")}))(t)
			}
		}
		cases := []struct {
			name string
			do   func()
			want []string
		}{
			{"made", create(""), []string{`blueprint.created {"status":"draft","title":"N","version":"1.0.0"}`}},
			{"made as published", create(published), []string{`blueprint.created {"status":"published","title":"N","version":"1.0.0"}`, `blueprint.published {"status":"published","title":"N","version":"1.0.0"}`}},
			{"changed", patch(blueprint.BlueprintPatch{Title: &title}), []string{`blueprint.updated {"status":"draft","title":"U","version":"1.0.1"}`}},
			{"the same", patch(blueprint.BlueprintPatch{Title: &title}), nil},
			{"published", patch(blueprint.BlueprintPatch{Status: &published}), []string{`blueprint.updated {"status":"published","title":"U","version":"1.0.2"}`, `blueprint.published {"status":"published","title":"U","version":"1.0.2"}`}},
			{"published already", patch(blueprint.BlueprintPatch{Status: &published}), nil},
			{"draft again", patch(blueprint.BlueprintPatch{Status: &draft}), []string{`blueprint.updated {"status":"draft","title":"U","version":"1.0.3"}`}},
		}
		for _, step := range cases {
			step.do()
			if diff := cmp.Diff(step.want, outboxOf(t, s)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
			for _, e := range must(s.Events(ctx, 0, 10))(t) {
				if e.OrganizationID != b.OrganizationID || e.BlueprintID == "" || e.ExecutionID != "" || e.Depth != 0 {
					t.Errorf("%s: %+v, want OrganizationID %v, BlueprintID not empty, ExecutionID nothing and Depth 0", step.name, e, b.OrganizationID)
				}
				check(t, s.RemoveEvents(ctx, []string{e.Key}))
			}
		}
	})
}

// Data that cannot be written does not keep a run from ending, and data that
// cannot be read does not keep the events behind it.
func TestOutboxBadData(t *testing.T) {
	ctx := context.Background()
	s := open(t, testOptions(t))
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	listen(t, s, ann, b, blueprint.EventExecutionCompleted)
	check(t, s.Commit(ctx, telling(s, b, ann, func() {})))
	check(t, s.Commit(ctx, telling(s, b, ann, strings.Repeat("x", 100))))
	deep := any(nil)
	for range 300 {
		deep = []any{deep}
	}
	check(t, s.Commit(ctx, telling(s, b, ann, deep)))
	list := must(s.Events(ctx, 0, 10))(t)
	if len(list) != 3 || list[0].Data != nil || !blueprint.Equal(list[2].Data, deep) {
		t.Errorf("read %+v, want length 3, Data nil and %v", list, deep)
	}
}

// Organizations take turns in the outbox, whatever is in it of others.
func TestNextEvents(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		after := map[string]int64{}
		for i, name := range []string{"ann", "bob", "cid"} {
			by := user(t, s, name)
			b := create(t, s, by, name)
			listen(t, s, by, b, blueprint.EventExecutionCompleted)
			for range []int{6, 1, 3}[i] {
				check(t, s.Commit(ctx, telling(s, b, by, nil)))
			}
			if name == "cid" {
				after[b.OrganizationID] = 8
			}
		}
		for _, c := range []struct {
			limit int
			want  []int64
		}{{1, []int64{1}}, {2, []int64{1, 7}}, {3, []int64{1, 7, 9}}, {6, []int64{1, 2, 7, 9, 10}}, {9, []int64{1, 2, 3, 7, 9, 10}}, {100, []int64{1, 2, 3, 4, 5, 6, 7, 9, 10}}} {
			t.Run(fmt.Sprint(c.limit), func(t *testing.T) {
				var got []int64
				for _, e := range must(s.NextEvents(ctx, after, c.limit))(t) {
					got = append(got, e.Seq)
				}
				if !cmp.Equal(got, c.want) {
					t.Errorf("%v, want %v", got, c.want)
				}
			})
		}
	})
}

// The rows of triggers that skip or refuse an event are stored in the transaction that
// deletes it, or neither is done.
func TestEventsToldWithRows(t *testing.T) {
	everywhere(t, func(t *testing.T, s *Store) {
		ctx := context.Background()
		ann := user(t, s, "ann")
		b := create(t, s, ann, "T")
		one, two := listen(t, s, ann, b, blueprint.EventExecutionCompleted), listen(t, s, ann, b, blueprint.EventExecutionFailed)
		check(t, s.Commit(ctx, telling(s, b, ann, nil)))
		keys := []string{must(s.Events(ctx, 0, 1))(t)[0].Key}
		var rows []blueprint.Firing
		for _, trigger := range []blueprint.Trigger{one, two, two} {
			row := firing(s, trigger, "k")
			row.Decision, row.ExecutionID = blueprint.DecisionSkipped, nil
			rows = append(rows, row)
		}
		bad := rows[2]
		bad.ID = "short"
		rowsOf := func(trigger blueprint.Trigger) int {
			_, total, err := s.Firings(ctx, ann, trigger.ID, 10, 0)
			check(t, err)
			return total
		}
		if err := s.RemoveEvents(ctx, keys, rows[0], bad); err == nil || len(outboxOf(t, s)) != 1 || rowsOf(one) != 0 {
			t.Errorf("a row that is not valid: %v, %d events, %d rows; want an error, 1 and 0", err, len(outboxOf(t, s)), rowsOf(one))
		}
		check(t, s.RemoveEvents(ctx, keys, rows...))
		if len(outboxOf(t, s)) != 0 || rowsOf(one) != 1 || rowsOf(two) != 2 {
			t.Errorf("%d events, %d and %d rows; want 0, 1 and 2", len(outboxOf(t, s)), rowsOf(one), rowsOf(two))
		}
	})
}

// Looking for who listens does not read triggers that listen to nothing.
func TestListeningUsesIndex(t *testing.T) {
	s := open(t, testOptions(t))
	var plan []string
	check(t, s.writer.session.each("EXPLAIN QUERY PLAN "+subscriptionQuery, nil, func(scan func(...any) error) error {
		var a, b, c int
		var line string
		err := scan(&a, &b, &c, &line)
		plan = append(plan, line)
		return err
	}))
	if text := strings.Join(plan, "\n"); !strings.Contains(text, "t USING INDEX triggers_event") {
		t.Errorf("%v, want \"t USING INDEX triggers_event\" in it", text)
	}
}
