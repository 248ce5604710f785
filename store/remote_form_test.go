//go:build postgres

package store

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/store/postgres"
)

// later returns the options of a program that knows one form more, under the name of a node.
func later(o Options, node, text string) Options {
	o.Node = node
	o.stepsOnPostgres = append(append([]postgres.Step(nil), postgres.Steps()...), postgres.NewStep(postgres.Form()+1, "try", text))
	return o
}

// The text of a step after which older programs go on, and of one after which they cannot.
var (
	additive     = fmt.Sprintf("-- readable from: %d\nALTER TABLE users ADD COLUMN note text;\nCREATE TABLE notes (\n  id bigint PRIMARY KEY\n);\n", postgres.Form())
	incompatible = "ALTER TABLE users ADD COLUMN note text NOT NULL DEFAULT '';\n"
)

func formOf(t *testing.T, s *Store) (found remoteForm) {
	t.Helper()
	return must(recogniseTables(t.Context(), s.watch.conn))(t)
}

// TestRollingUpgrade starts a process of a newer version beside an older one, which goes on and
// can be started again.
func TestRollingUpgrade(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database, options.Node = remoteDatabase(t), "old"
	old := open(t, options)
	beat(t, old)
	r := unfinishedRun(t, old)
	ann := user(t, old, "ben")

	upgraded := open(t, later(options, "new", additive))
	beat(t, upgraded)
	want := remoteForm{form: postgres.Form() + 1, readableFrom: postgres.Form()}
	if found := formOf(t, upgraded); found != want {
		t.Errorf("after the upgrade %+v, want %+v", found, want)
	}
	for name, s := range map[string]*Store{"old": old, "new": upgraded} {
		b := create(t, s, ann, "made by the "+name)
		check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte("begin")}}))
		beat(t, s)
	}
	r.Status = blueprint.StatusPaused
	check(t, old.Commit(ctx, &blueprint.JournalCommit{Row: r}))

	check(t, old.Close())
	again := open(t, options)
	if list := must(again.Unfinished(ctx))(t); len(list) != 2 {
		t.Errorf("the older version, started again, has %d runs, want its 2", len(list))
	}
	tool := options
	tool.Server = false
	_, err := Open(ctx, tool)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("schema version %d, and this program knows %d", postgres.Form()+1, postgres.Form())) {
		t.Errorf("a command of the older version: %v", err)
	}
}

// TestUpgradeForNewProgramsOnly refuses an upgrade after which older processes could not go on
// while one runs.
func TestUpgradeForNewProgramsOnly(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database, options.Node = remoteDatabase(t), "old"
	old := open(t, options)
	beat(t, old)
	ended := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		for {
			select {
			case <-ended:
				return
			default:
				old.nodes.began = false
				_, _ = old.Beat(ctx)
			}
		}
	})
	next := later(options, "new", incompatible)
	_, err := Open(ctx, next)
	close(ended)
	beating.Wait()
	if err == nil || !strings.Contains(err.Error(), "processes of an older version run: old") {
		t.Errorf("beside an older process: %v", err)
	}
	if found, want := formOf(t, old), (remoteForm{form: postgres.Form(), readableFrom: 10}); found != want {
		t.Errorf("after the refusal %+v, want %+v", found, want)
	}
	r := unfinishedRun(t, old)

	// The older process is silent from now on, as if it had been killed.
	upgraded := open(t, next)
	if found, want := formOf(t, upgraded), (remoteForm{form: postgres.Form() + 1, readableFrom: postgres.Form() + 1}); found != want {
		t.Errorf("after the upgrade %+v, want %+v", found, want)
	}
	if diff := cmp.Diff([]blueprint.ExecutionRow{r}, must(upgraded.Unfinished(ctx))(t)); diff != "" {
		t.Errorf("runs of the older process (-want +got):\n%s", diff)
	}
	wantCode(t, old.write(ctx, func(*transaction) error { return nil }), blueprint.CodeUnavailable)
	_, err = Open(ctx, options)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("use from version %d on, and this program knows %d", postgres.Form()+1, postgres.Form())) {
		t.Errorf("the older version, started again: %v", err)
	}
}

// TestRemoteUpgradeIsOneTransaction breaks a step at its end, and starts two processes at once.
func TestRemoteUpgradeIsOneTransaction(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database, options.Node = remoteDatabase(t), "old"
	old := open(t, options)
	_, err := Open(ctx, later(options, "new", additive+"SELECT wrong;\n"))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("upgrade the database to schema version %d, try: ", postgres.Form()+1)) {
		t.Errorf("a step that fails: %v", err)
	}
	if found := formOf(t, old); found.form != postgres.Form() {
		t.Errorf("after a step that failed, the form is %d, want %d", found.form, postgres.Form())
	}
	var both sync.WaitGroup
	stores, failures := make([]*Store, 2), make([]error, 2)
	for i := range stores {
		both.Go(func() { stores[i], failures[i] = Open(ctx, later(options, fmt.Sprint("new", i), additive)) })
	}
	both.Wait()
	for i, err := range failures {
		if err != nil {
			t.Errorf("two processes at once: %v", err)
			continue
		}
		check(t, stores[i].Close())
	}
}

// TestRunsOfNewerProcesses leaves runs that an older version cannot read to a newer one, also
// when the older one starts under the name of the process that had them.
func TestRunsOfNewerProcesses(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database, options.Node = remoteDatabase(t), "old"
	old := open(t, options)
	beat(t, old)
	next := later(options, "new", additive)
	next.runsOnPostgres = postgres.Form() + 1
	newer := open(t, next)
	beat(t, newer)
	r := unfinishedRun(t, newer)
	beat(t, old)
	silent := silenceOf(t, old)
	silent.beats = must(beatsOf(old, silent.node))(t)
	check(t, old.declareDead(ctx, silent))

	if pulse := beat(t, old); pulse.Orphans {
		t.Error("the older version wants to take over runs that it cannot read")
	}
	if rows := must(old.TakeOver(ctx))(t); len(rows) > 0 {
		t.Errorf("the older version took over %v", rows)
	}
	back := options
	back.Node = "new"
	if rows := must(open(t, back).Unfinished(ctx))(t); len(rows) > 0 {
		t.Errorf("the older version, under the name of the newer one, has %v", rows)
	}
	if count, _, err := old.Unowned(ctx); err != nil || count != 1 {
		t.Errorf("%d runs without a process, %v, want 1", count, err)
	}
	next.Node = "newest"
	if diff := cmp.Diff([]blueprint.ExecutionRow{r}, must(open(t, next).Unfinished(ctx))(t)); diff != "" {
		t.Errorf("runs of the newest process (-want +got):\n%s", diff)
	}
}

// TestStepsMakeTheSchema upgrades the tables of form 10, as its program created them, and
// compares them with new ones.
func TestStepsMakeTheSchema(t *testing.T) {
	text, err := os.ReadFile("postgres/testdata/form-10.sql")
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	config := must(postgres.Parse(options.Database))(t)
	pool := config.Open()
	defer pool.Close()
	for _, statement := range append(postgres.Split(string(text)), "INSERT INTO meta (id, epoch, generation, created_at, form) VALUES (1, 0, 0, 1, 10)",
		"INSERT INTO nodes (id, name, version, started_at) VALUES (1, 'gone', 'dev', 1)",
		"INSERT INTO audit_log (id, at, actor_id, organization_id, action, target_type, target_id, via, detail) VALUES ('01ARZ3NDEKTSV4RRFFQ69G5FAV', 1, '', '', 'execution.answerByLink', 'execution', 'x', 'api', '{}')") {
		if _, err := pool.ExecContext(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	tool := options
	tool.Server = false
	if _, err := Open(ctx, tool); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("schema version 10, and this program needs %d", postgres.Form())) {
		t.Errorf("a command before the upgrade: %v", err)
	}
	upgraded := open(t, options)
	fresh := testOptions(t)
	fresh.Database = remoteDatabase(t)
	if diff := cmp.Diff(tablesIn(t, open(t, fresh)), tablesIn(t, upgraded)); diff != "" {
		t.Errorf("tables (-new +upgraded):\n%s", diff)
	}
	user(t, upgraded, "ann")
	var via string
	check(t, upgraded.watch.row("SELECT via FROM audit_log", nil, &via))
	if via != "link" {
		t.Errorf("an answer by link came by %s, want link", via)
	}
}

// tablesIn describes the columns, constraints and indexes of a database, apart from the order
// of columns.
func tablesIn(t *testing.T, s *Store) (list []string) {
	t.Helper()
	for _, query := range []string{
		`SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || coalesce(column_default, '') || ' ' || coalesce(collation_name, '') || ' ' || is_identity
			FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1`,
		`SELECT conrelid::regclass::text || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = current_schema()::regnamespace ORDER BY 1`,
		`SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`,
		`SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace ORDER BY 1`,
		`SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1`,
	} {
		check(t, s.watch.each(query, nil, func(scan scanner) error {
			var line string
			err := scan(&line)
			list = append(list, line)
			return err
		}))
	}
	if len(list) < 100 {
		t.Fatalf("only %d objects", len(list))
	}
	return list
}
