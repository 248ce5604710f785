//go:build postgres

package store

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blueprintd/blueprint"
)

// twoNodes opens one database for two processes of a server, which have beaten.
func twoNodes(t *testing.T) (a, b *Store) {
	t.Helper()
	options := testOptions(t)
	options.Database, options.Node = remoteDatabase(t), "a"
	a = open(t, options)
	options.Node = "b"
	b = open(t, options)
	beat(t, a)
	beat(t, b)
	beat(t, a)
	return a, b
}

func beat(t *testing.T, s *Store) Pulse {
	t.Helper()
	s.nodes.began = false // a beat is due
	return must(s.Beat(context.Background()))(t)
}

// unfinishedRun stores a run that goes on, and returns it.
func unfinishedRun(t *testing.T, s *Store) blueprint.ExecutionRow {
	t.Helper()
	ann := user(t, s, "ann")
	r := row(s, create(t, s, ann, "T"), ann)
	check(t, s.Commit(context.Background(), &blueprint.JournalCommit{Row: r, New: true, Entries: [][]byte{[]byte("begin")}}))
	return r
}

// silenceOf returns what s saw of the only other node, as if it had been silent.
func silenceOf(t *testing.T, s *Store) silence {
	t.Helper()
	for _, n := range s.Nodes() {
		if !n.Self && n.State != nodeDead {
			return silence{n.ID, n.Name, s.nodes.seen[n.ID].beats}
		}
	}
	t.Fatal("there is no other node")
	return silence{}
}

// TestNodes follows two processes: one has the duties; when it is declared dead it writes
// nothing more, and the other takes over its duties and its runs.
func TestNodes(t *testing.T) {
	ctx := context.Background()
	a, b := twoNodes(t)
	want := []Node{{Name: "a", State: nodeLive, Duties: true, Self: true}, {Name: "b", State: nodeLive}}
	if diff := cmp.Diff(want, a.Nodes(), cmpopts.IgnoreFields(Node{}, "ID", "Lease")); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
	if a.LiveNodes() != 2 {
		t.Errorf("%d live nodes, want 2", a.LiveNodes())
	}
	r := unfinishedRun(t, a)
	if list := must(b.Unfinished(ctx))(t); len(list) != 0 {
		t.Errorf("the runs of the other process count as own: %v", list)
	}
	if stored := must(b.Load(ctx, r.ID))(t); !stored.Elsewhere {
		t.Error("a run of the other process counts as own")
	}
	if stored := must(a.Load(ctx, r.ID))(t); stored.Elsewhere {
		t.Error("an own run counts as that of another process")
	}

	silent := silenceOf(t, b)
	beat(t, a)
	check(t, b.declareDead(ctx, silent))
	beat(t, a) // it is alive: it has sent a beat since
	silent = silenceOf(t, b)
	silent.beats = must(beatsOf(b, silent.node))(t)
	check(t, b.declareDead(ctx, silent))
	if pulse := beat(t, b); !pulse.Orphans || !pulse.Duties {
		t.Errorf("after a process died: %+v, want orphans and the duties", pulse)
	}
	rows := must(b.TakeOver(ctx))(t)
	if diff := cmp.Diff([]blueprint.ExecutionRow{r}, rows); diff != "" {
		t.Errorf("taken over (-want +got):\n%s", diff)
	}
	if stored := must(b.Load(ctx, r.ID))(t); stored.Elsewhere {
		t.Error("a run that was taken over counts as that of another process")
	}
	r.Status = blueprint.StatusPaused
	wantCode(t, a.Commit(ctx, &blueprint.JournalCommit{Row: r}), blueprint.CodeUnavailable)
	if a.usable() == nil {
		t.Error("a process that was declared dead goes on")
	}
	check(t, b.Commit(ctx, &blueprint.JournalCommit{Row: r}))
}

// TestSameName starts a process with the name of another one, which may have died: the new
// one has its runs at once, and the old one writes nothing more.
func TestSameName(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database, options.Node = remoteDatabase(t), "a"
	old := open(t, options)
	r := unfinishedRun(t, old)
	again := open(t, options)
	if diff := cmp.Diff([]blueprint.ExecutionRow{r}, must(again.Unfinished(ctx))(t)); diff != "" {
		t.Errorf("runs of the new process (-want +got):\n%s", diff)
	}
	wantCode(t, old.write(ctx, func(*transaction) error { return nil }), blueprint.CodeUnavailable)
	_, err := old.Beat(ctx)
	wantCode(t, err, blueprint.CodeUnavailable)
}

// TestDatabaseWentBack takes confirmed beats away, as a failover to a standby that was behind
// does: what this process has in memory may be lost as well, so it ends.
func TestDatabaseWentBack(t *testing.T) {
	a, b := twoNodes(t)
	check(t, b.write(context.Background(), func(t *transaction) error {
		_, err := t.exec("UPDATE beats SET beats = beats - 1 WHERE node = ?", a.nodes.id)
		return err
	}))
	a.nodes.began = false
	_, err := a.Beat(context.Background())
	wantCode(t, err, blueprint.CodeUnavailable)
	if !errors.Is(err, errWentBack) {
		t.Errorf("the beat failed with %v, want %v", err, errWentBack)
	}
	beat(t, b)
}

// TestLeave hands over the duties of a process that stops, then its runs, while it still
// answers requests.
func TestLeave(t *testing.T) {
	ctx := context.Background()
	a, b := twoNodes(t)
	r := unfinishedRun(t, a)
	check(t, a.Leave(ctx))
	if pulse := beat(t, b); !pulse.Duties || pulse.Orphans {
		t.Errorf("beside a process that leaves: %+v, want the duties and no orphans", pulse)
	}
	if pulse := beat(t, a); pulse.Duties {
		t.Error("a process that leaves took the duties again")
	}
	check(t, a.HandOver(ctx))
	if pulse := beat(t, b); !pulse.Orphans {
		t.Errorf("beside a process that has drained: %+v, want orphans", pulse)
	}
	if unowned, _, err := b.Unowned(ctx); unowned != 1 || err != nil {
		t.Errorf("%d runs belong to nobody (%v), want 1", unowned, err)
	}
	if rows := must(b.TakeOver(ctx))(t); len(rows) != 1 || rows[0].ID != r.ID {
		t.Errorf("taken over %v, want %s", rows, r.ID)
	}
	if unowned, _, err := b.Unowned(ctx); unowned != 0 || err != nil {
		t.Errorf("%d runs belong to nobody (%v), want 0", unowned, err)
	}
	if pulse := beat(t, b); pulse.Orphans {
		t.Errorf("after the take-over: %+v, want no orphans", pulse)
	}
	user(t, a, "bob") // it may still write
	check(t, a.depart())
	beat(t, b)
	must(b.TakeOver(ctx))(t)
	if diff := cmp.Diff([]Node{{Name: "b", State: nodeLive, Duties: true, Self: true}}, nodesOf(t, b), cmpopts.IgnoreFields(Node{}, "ID", "Lease")); diff != "" {
		t.Errorf("nodes afterwards (-want +got):\n%s", diff)
	}
}

// nodesOf returns what a process sees at its next beat.
func nodesOf(t *testing.T, s *Store) []Node {
	t.Helper()
	beat(t, s)
	return s.Nodes()
}

// TestLease waits for a beat before the process may act.
func TestLease(t *testing.T) {
	a, _ := twoNodes(t)
	check(t, a.Lease(context.Background()))
	a.nodes.beaten = lease{}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := a.Lease(ended); err == nil {
		t.Error("a process without a beat may act")
	}
	waits := make(chan error)
	go func() { waits <- a.Lease(context.Background()) }()
	beat(t, a)
	check(t, <-waits)
}

// TestTakeOverInOutage takes over runs and commands while the database does not answer: both
// are returned once it does, since they are taken then.
func TestTakeOverInOutage(t *testing.T) {
	ctx := context.Background()
	a, b := twoNodes(t)
	run(t, b)
	r := unfinishedRun(t, a)
	check(t, a.depart())
	beat(t, b)
	b.writer.connection.Lock() // as a commit that gets no answer
	type taken struct {
		rows []blueprint.ExecutionRow
		err  error
	}
	result := make(chan taken)
	go func() {
		rows, err := b.TakeOver(ctx)
		result <- taken{rows, err}
	}()
	eventually(t, "the job is queued", func() bool { return b.writer.queued() == 1 })
	o := &b.remote.outage
	o.mu.Lock()
	o.away = true
	o.mu.Unlock()
	b.watchOutage(ctx)
	b.writer.connection.Unlock()
	got := <-result
	check(t, got.err)
	if len(got.rows) != 1 || got.rows[0].ID != r.ID {
		t.Errorf("taken over %v, want %s", got.rows, r.ID)
	}
}

// TestCommands sends commands to the process that has a run.
func TestCommands(t *testing.T) {
	ctx := context.Background()
	a, b := twoNodes(t)
	r := unfinishedRun(t, a)
	if answer := must(a.Ask(ctx, r.ID, []byte("own")))(t); answer != nil {
		t.Errorf("an own run: %q, want no answer", answer)
	}
	answered := make(chan error)
	go func() {
		answer, err := b.Ask(ctx, r.ID, []byte("command"))
		if err == nil && string(answer) != "answer" {
			t.Errorf("answer %q, want answer", answer)
		}
		answered <- err
	}()
	eventually(t, "the command arrives", func() bool { return beat(t, a).Asked })
	list := must(a.Commands(ctx))(t)
	if want := []blueprint.RunCommand{{ExecutionID: r.ID, Data: []byte("command")}}; !cmp.Equal(list, want, cmpopts.IgnoreFields(blueprint.RunCommand{}, "Seq")) {
		t.Fatalf("commands %+v, want %+v", list, want)
	}
	if again := must(a.Commands(ctx))(t); len(again) != 0 {
		t.Errorf("taken again: %+v", again)
	}
	check(t, a.Answer(ctx, list[0].Seq, []byte("answer")))
	check(t, <-answered)

	b.nodes.patience = 2 * commandInterval
	_, err := b.Ask(ctx, r.ID, []byte("not taken"))
	if wantCode(t, err, blueprint.CodeUnavailable); !errors.Is(err, errNotTaken) {
		t.Errorf("%v, want %v", err, errNotTaken)
	}
	if left := must(a.Commands(ctx))(t); len(left) != 0 {
		t.Errorf("a withdrawn command is still there: %+v", left)
	}
}

// TestHandedRun keeps the runs of a concurrency group in one process.
func TestHandedRun(t *testing.T) {
	ctx := context.Background()
	a, b := twoNodes(t)
	ann := user(t, a, "ann")
	definition := create(t, a, ann, "T")
	begin := func(s *Store, onLimit blueprint.OnLimit) (*blueprint.JournalCommit, error) {
		c := &blueprint.JournalCommit{Row: row(s, definition, ann), New: true, Entries: [][]byte{[]byte("begin")}, Group: &blueprint.ConcurrencyGroup{Key: "group", Limit: 1, OnLimit: onLimit}}
		return c, s.Commit(ctx, c)
	}
	first := must(begin(a, blueprint.LimitQueue))(t)
	second := must(begin(b, blueprint.LimitQueue))(t)
	if first.Handed || !second.Handed {
		t.Errorf("handed: %v, %v, want false, true", first.Handed, second.Handed)
	}
	if !must(b.Load(ctx, second.Row.ID))(t).Elsewhere {
		t.Error("the process that accepted the second run keeps it")
	}
	list := must(a.Commands(ctx))(t)
	if len(list) != 1 || list[0].ExecutionID != second.Row.ID || list[0].Data != nil {
		t.Fatalf("commands %+v, want the announcement of %s", list, second.Row.ID)
	}
	if answer := must(b.Answered(ctx, second.Row.ID))(t); answer != nil {
		t.Errorf("answer %q before there is one", answer)
	}
	check(t, a.Answer(ctx, list[0].Seq, []byte("response")))
	if answer := must(b.Answered(ctx, second.Row.ID))(t); string(answer) != "response" {
		t.Errorf("answer %q, want response", answer)
	}
	_, err := begin(b, blueprint.LimitSkip)
	full, ok := errors.AsType[*blueprint.ConcurrencyLimitError](err)
	if want := (&blueprint.ConcurrencyLimitError{Limit: 1, Running: 2, Oldest: first.Row.ID}); !ok || *full != *want {
		t.Errorf("a run beyond the limit: %v, want %+v", err, want)
	}
}

// TestFailuresAcrossProcesses counts the failures of a trigger wherever its runs fail.
func TestFailuresAcrossProcesses(t *testing.T) {
	ctx := context.Background()
	a, b := twoNodes(t)
	ann := user(t, a, "ann")
	definition := create(t, a, ann, "T")
	hook := must(a.CreateTrigger(ctx, ann, definition.ID, blueprint.TriggerWebhook, nil))(t)
	fail := func(s *Store, status blueprint.Status) {
		t.Helper()
		ends(t, s, definition, hook, blueprint.SourceWebhook, status, false, false)
	}
	failures := func() (count int) {
		t.Helper()
		check(t, a.readRow(ctx, "SELECT failures FROM triggers WHERE id = ?", []any{hook.ID}, &count))
		return count
	}
	fail(b, blueprint.StatusCompleted) // b has read that no trigger fails
	fail(a, blueprint.StatusFailed)
	fail(b, blueprint.StatusFailed)
	if got := failures(); got != 2 {
		t.Errorf("%d failures, want 2", got)
	}
	fail(a, blueprint.StatusCompleted)
	if got := failures(); got != 0 {
		t.Errorf("%d failures after a completed run, want 0", got)
	}
	fail(a, blueprint.StatusFailed)
	fail(b, blueprint.StatusCompleted)
	if got := failures(); got != 0 {
		t.Errorf("%d failures after a run that completed in the other process, want 0", got)
	}
}

func beatsOf(s *Store, node int64) (beats int64, err error) {
	return beats, s.readRow(context.Background(), "SELECT beats FROM beats WHERE node = ?", []any{node}, &beats)
}
