//go:build postgres

package store

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/metrics"
	"blueprintd/store/postgres"
	"blueprintd/tests/process"
)

func init() { remoteDatabase = process.PostgreSQL }

// cutter is a proxy in front of PostgreSQL that cuts a connection at its next COMMIT, once.
type cutter struct {
	net.Listener
	server string
	// forwards says whether the COMMIT still reaches the server.
	forwards bool
	armed    atomic.Bool
	open     sync.WaitGroup
	trips    atomic.Int64 // round trips
}

// cutting returns the URL of a database through a cutter.
func cutting(t *testing.T, database string) (*cutter, string) {
	t.Helper()
	target := must(url.Parse(database))(t)
	c := &cutter{Listener: must(net.Listen("tcp", "127.0.0.1:0"))(t), server: target.Host}
	c.open.Go(func() {
		for {
			client, err := c.Accept()
			if err != nil {
				return
			}
			c.open.Go(func() { c.serve(client) })
		}
	})
	t.Cleanup(func() {
		c.Close()
		c.open.Wait()
	})
	target.Host = c.Addr().String()
	return c, target.String()
}

// readyForQuery begins the message with which PostgreSQL ends the answer to a round trip; a
// letter for the state of the transaction follows.
var readyForQuery = []byte{'Z', 0, 0, 0, 5}

func (c *cutter) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	cut := atomic.Bool{}
	c.open.Go(func() { // answers
		data := make([]byte, 32<<10)
		for {
			n, err := server.Read(data)
			if err != nil || cut.Load() {
				client.Close()
				return
			}
			if bytes.HasSuffix(data[:n-1], readyForQuery) {
				c.trips.Add(1)
			}
			_, _ = client.Write(data[:n])
		}
	})
	data := make([]byte, 32<<10)
	for {
		n, err := client.Read(data)
		if err != nil {
			return
		}
		if bytes.Contains(data[:n], []byte("COMMIT\x00")) && c.armed.CompareAndSwap(true, false) {
			cut.Store(true)
			if !c.forwards {
				return
			}
			_, _ = server.Write(data[:n])
			_, _ = io.Copy(io.Discard, client) // until the answer ends the connection
			return
		}
		if _, err := server.Write(data[:n]); err != nil {
			return
		}
	}
}

// TestUnknownOutcome breaks the connection during a commit, before or after it reached the
// database: the caller learns what became of it.
func TestUnknownOutcome(t *testing.T) {
	for name, forwards := range map[string]bool{"committed": true, "lost on the way": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := testOptions(t)
			proxy, through := cutting(t, remoteDatabase(t))
			proxy.forwards, options.Database = forwards, through
			s := open(t, options)
			list := notes(t, s)
			check(t, s.write(context.Background(), note("before")))
			run(t, s)
			proxy.armed.Store(true)
			err := s.write(context.Background(), note("a"))
			want := "before a"
			if !forwards {
				want = "before"
				wantCode(t, err, blueprint.CodeUnavailable)
			} else if err != nil {
				t.Errorf("%v, want none", err)
			}
			if proxy.armed.Load() {
				t.Error("no commit was cut")
			}
			if got := strings.Join(list(), " "); got != want {
				t.Errorf("stored %q, want %q", got, want)
			}
			check(t, s.write(context.Background(), note("after")))
			if got := strings.Join(list(), " "); got != want+" after" {
				t.Errorf("stored %q, want %q", got, want+" after")
			}
		})
	}
}

// hooked makes a blueprint with a webhook, and returns shortRun for it.
func hooked(t *testing.T, s *Store) (run func(key string) *blueprint.JournalCommit) {
	t.Helper()
	ann := user(t, s, "ann")
	definition := create(t, s, ann, "T")
	hook := must(s.CreateTrigger(context.Background(), ann, definition.ID, blueprint.TriggerWebhook, nil))(t)
	return func(key string) *blueprint.JournalCommit { return shortRun(s, definition, ann, hook, key) }
}

// TestRoundTrips counts the round trips of a transaction that stores short runs, with a firing
// and the counts of two scopes each: also after another process has changed the generation,
// which the runs know or not.
func TestRoundTrips(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	direct := remoteDatabase(t)
	proxy, through := cutting(t, direct)
	options.Database = through
	s := open(t, options)
	other := must(sql.Open("pgx", direct))(t)
	defer other.Close()
	run := hooked(t, s)
	for i, step := range []struct {
		what    string
		runs    int
		changed bool // by another process
		knows   bool // the runs know the generation
		most    int64
	}{
		{"statements to prepare", 2, false, true, 50},
		{"one run", 1, false, true, 2},
		{"twenty", 20, false, true, 2},
		{"twenty that know of a change", 20, true, true, 3}, // the subscriptions are read again
		{"twenty after a change", 20, true, false, 6},       // it begins again
	} {
		if step.changed {
			_, err := other.ExecContext(ctx, "UPDATE meta SET generation = generation + 1")
			check(t, err)
		}
		var generation int64
		if step.knows {
			generation = must(s.Generation(ctx))(t)
		}
		var commits []*blueprint.JournalCommit
		for n := range step.runs {
			commit := run(fmt.Sprintf("key %d of %d", n, i))
			commit.Generation = generation
			commits = append(commits, commit)
		}
		before := proxy.trips.Load()
		check(t, errors.Join(storeTogether(t, s, commits...)...))
		if took := proxy.trips.Load() - before; took < 2 || took > step.most {
			t.Errorf("%s: %d round trips, want 2 to %d", step.what, took, step.most)
		}
	}
}

// TestRoundTripOfARead counts the round trips of reading a run.
func TestRoundTripOfARead(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	proxy, through := cutting(t, remoteDatabase(t))
	options.Database = through
	s := open(t, options)
	commit := hooked(t, s)("key")
	check(t, s.Commit(ctx, commit))
	user := blueprint.Principal{UserID: commit.Row.UserID}
	for _, most := range []int64{5, 1} { // the first read opens a connection and prepares the statement
		before := proxy.trips.Load()
		_, _, err := s.Execution(ctx, user, commit.Row.ID)
		check(t, err)
		if took := proxy.trips.Load() - before; took > most {
			t.Errorf("%d round trips, want at most %d", took, most)
		}
	}
}

// TestShortRunsOfADeadProcess lets a process store runs after another one has declared it dead.
func TestShortRunsOfADeadProcess(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	run := hooked(t, s)
	check(t, errors.Join(storeTogether(t, s, run("alive"))...))
	administer(t, options.Database, "UPDATE nodes SET state = 'dead'; UPDATE meta SET epoch = epoch + 1")
	for i, err := range storeTogether(t, s, run("dead"), run("dead too")) {
		if err == nil {
			t.Errorf("run %d was stored by a process that is dead, want an error", i)
		}
	}
	var runs, firings, counted int
	check(t, s.pool.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM executions), (SELECT count(*) FROM firings), (SELECT sum(firings) FROM firing_counts)").Scan(&runs, &firings, &counted))
	if runs != 1 || firings != 1 || counted != 1 {
		t.Errorf("%d runs, %d firings and %d counted, want 1 of each", runs, firings, counted)
	}
}

// TestRefusedStatement stores short runs of which PostgreSQL refuses one with an error, because
// its key is too long for an index: that one fails alone. Then the connection breaks.
func TestRefusedStatement(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	run := hooked(t, s)
	long := make([]byte, 20_000) // random, so that it cannot be compressed
	_ = must(rand.Read(long))(t)
	errs := storeTogether(t, s, run("a"), run(hex.EncodeToString(long)), run("b"))
	if errs[0] != nil || errs[1] == nil || errs[2] != nil {
		t.Errorf("beside a key that is too long: %.300v, want an error of the second alone", errs)
	}
	administer(t, options.Database, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	check(t, errors.Join(storeTogether(t, s, run("c"), run("d"))...))
	var runs, firings, counted, completed int
	check(t, s.pool.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM executions), (SELECT count(*) FROM firings), (SELECT sum(firings) FROM firing_counts),
		(SELECT sum(completed) FROM run_hours)`).Scan(&runs, &firings, &counted, &completed))
	if runs != 4 || firings != 4 || counted != 4 || completed != 2*4 {
		t.Errorf("%d runs, %d firings, %d firings and %d runs counted; want 4, 4, 4, and 8 for two scopes", runs, firings, counted, completed)
	}
}

// TestStartThroughOutage breaks the connection while a server starts, which tries again.
func TestStartThroughOutage(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	proxy, through := cutting(t, remoteDatabase(t))
	options.Database = through
	proxy.armed.Store(true)
	s := open(t, options)
	check(t, s.Available())
	if proxy.armed.Load() {
		t.Error("no commit was cut")
	}
}

// TestStopAsOutageBegins stops a server just after PostgreSQL has gone: that is no error.
func TestStopAsOutageBegins(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	direct := remoteDatabase(t)
	proxy, through := cutting(t, direct)
	options.Database = through
	s := open(t, options)
	stop := run(t, s)
	proxy.Close()
	pool := must(sql.Open("pgx", direct))(t)
	defer pool.Close()
	_, err := pool.ExecContext(context.Background(), "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	check(t, err)
	check(t, stop())
}

// TestFirstStartThroughOutage ends the connection in the transaction of a first start, as
// PostgreSQL does after a pause of five seconds in it. The transaction is repeated.
func TestFirstStartThroughOutage(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	list := notes(t, s)
	calls := 0
	err := s.Transact(context.Background(), func() error {
		if err := s.write(context.Background(), note("a")); err != nil {
			return err
		}
		if calls++; calls == 1 {
			admin := must(sql.Open("pgx", options.Database))(t)
			defer admin.Close()
			const end = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'`
			must(admin.Exec(end))(t)
		}
		return s.write(context.Background(), note("b"))
	})
	check(t, err)
	if got := strings.Join(list(), " "); got != "a b" || calls != 2 {
		t.Errorf("stored %q in %d calls, want %q in 2", got, calls, "a b")
	}
}

// TestBrokenConnections ends all connections of an idle store, as a restart of PostgreSQL
// does: the next calls use new ones.
func TestBrokenConnections(t *testing.T) {
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	commit := hooked(t, s)("key")
	list := notes(t, s)
	run(t, s)
	check(t, s.Commit(context.Background(), commit))
	read := func() {
		_, _, err := s.Execution(context.Background(), blueprint.Principal{UserID: commit.Row.UserID}, commit.Row.ID)
		check(t, err)
	}
	check(t, s.write(context.Background(), note("a")))
	must(s.Generation(context.Background()))(t)
	read()
	_, err := s.pool.ExecContext(context.Background(), "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
	check(t, err)
	read()
	check(t, s.write(context.Background(), note("b")))
	must(s.Generation(context.Background()))(t)
	if got := strings.Join(list(), " "); got != "a b" {
		t.Errorf("stored %q, want a b", got)
	}
}

// TestErrorOfOneJob fails, of two jobs in one transaction, only the one with the statement
// that PostgreSQL cannot execute.
func TestErrorOfOneJob(t *testing.T) {
	for name, statement := range map[string]string{
		"limit of an index": "INSERT INTO notes (text) SELECT string_agg(sha512(i::text::bytea)::text, '') FROM generate_series(1, 100) i",
		"internal error":    "DO $$ BEGIN RAISE EXCEPTION SQLSTATE 'XX000'; END $$",
		"damaged page":      "DO $$ BEGIN RAISE EXCEPTION SQLSTATE 'XX001'; END $$",
		"disk":              "DO $$ BEGIN RAISE EXCEPTION SQLSTATE '58030'; END $$",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := testOptions(t)
			options.Database = remoteDatabase(t)
			s := open(t, options)
			list := notes(t, s)
			run(t, s)
			errs := together(t, s, &job{run: note("a")}, &job{run: func(t *transaction) error {
				_, err := t.exec(statement)
				return err
			}}, &job{run: note("b")})
			if errs[0] != nil || errs[2] != nil {
				t.Errorf("the others failed: %v, %v", errs[0], errs[2])
			}
			wantCode(t, errs[1], blueprint.CodeInternal)
			if got := strings.Join(list(), " "); got != "a b" {
				t.Errorf("stored %q, want a b", got)
			}
		})
	}
}

// TestOutage refuses calls while the database is silent, ends those that wait, and goes on
// once it answers.
func TestOutage(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	beat(t, s)
	o := &s.remote.outage
	check(t, s.Available())
	waiting, done := s.WhileAvailable(ctx)
	defer done()
	s.writer.connection.Lock() // as a commit that gets no answer
	held := make(chan error)
	s.writer.running = true
	ran := false
	go func() {
		held <- s.write(ctx, func(*transaction) error {
			ran = true
			return nil
		})
	}()
	eventually(t, "the write waits", func() bool {
		o.mu.Lock()
		defer o.mu.Unlock()
		return len(o.waiting) == 2
	})
	o.mu.Lock()
	o.reached = metrics.Stopwatch{}
	o.mu.Unlock()
	s.watchOutage(ctx)
	wantCode(t, s.Available(), blueprint.CodeUnavailable)
	wantCode(t, context.Cause(waiting), blueprint.CodeUnavailable)
	if err := <-held; !errors.Is(err, errAway) || !blueprint.IsOutage(err) {
		t.Errorf("a write that had not begun: %v, want the outage %v", err, errAway)
	}
	if s.Reachable() || !s.Stats().Unreachable {
		t.Error("the database counts as reachable long after its last answer")
	}
	s.writer.running = false
	s.writer.connection.Unlock()
	s.nodes.began = false
	if _, err := s.Beat(ctx); err != nil {
		wantCode(t, err, blueprint.CodeUnavailable) // its connection was closed
		must(s.Beat(ctx))(t)
	}
	check(t, s.Available())
	if !s.Reachable() || s.Stats().Unreachable {
		t.Error("the database counts as unreachable after an answer")
	}
	check(t, s.write(ctx, func(*transaction) error { return nil }))
	if ran {
		t.Error("a write was made after its caller had been refused")
	}
}

// TestPruneCountsRows keeps a number of rows, although PostgreSQL numbers them with gaps.
func TestPruneCountsRows(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	ann := user(t, s, "ann")
	hook := must(s.CreateTrigger(ctx, ann, create(t, s, ann, "T").ID, blueprint.TriggerWebhook, nil))(t)
	var seqs []int64
	for range 5 {
		f := firing(s, hook, "key")
		check(t, s.RecordFirings(ctx, hook.ID, []blueprint.Firing{f}, 0))
		wantCode(t, s.RecordFirings(ctx, hook.ID, []blueprint.Firing{f}, 0), blueprint.CodeConflict) // uses a number
		var seq int64
		check(t, s.readRow(ctx, "SELECT max(seq) FROM firings", nil, &seq))
		seqs = append(seqs, seq)
	}
	got, err := s.newPruner(ctx).beyond(ctx, "firings", 3)
	check(t, err)
	if got < seqs[1] || got >= seqs[2] {
		t.Errorf("rows up to %d are beyond the newest 3 of %v, want up to %d", got, seqs, seqs[1])
	}
}

// TestRecentExecutionsOnRemote counts how often PostgreSQL reads runs for a page: as often as
// the page is long, however many runs there are.
func TestRecentExecutionsOnRemote(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	const insert = `INSERT INTO executions (id, blueprint_seq, blueprint_version, organization_seq, user_seq, status, created_at, updated_at, start_time)
		SELECT 'run-' || n, b.seq, '1.0.0', o.seq, u.seq, 'running', n, n, n FROM generate_series(1, 2000) n, blueprints b, organizations o, users u
		WHERE b.id = ? AND o.id = b.organization_id AND u.id = ?`
	check(t, s.write(ctx, func(tx *transaction) error {
		_, err := tx.exec(insert, b.ID, ann.UserID)
		return err
	}))
	_, err := s.pool.ExecContext(ctx, "ANALYZE")
	check(t, err)
	var plan []string
	check(t, s.read(ctx, func(q *session) error {
		return q.each("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) "+pageWithRecords(mine(true)), []any{ann.UserID, 20, 40}, func(scan scanner) error {
			plan = append(plan, "")
			return scan(&plan[len(plan)-1])
		})
	}))
	loops := regexp.MustCompile(`on executions.* loops=(\d+)`)
	for _, line := range plan {
		if found := loops.FindStringSubmatch(line); found != nil && must(strconv.Atoi(found[1]))(t) > 60 {
			t.Errorf("runs are read %s times, want 60 at most:\n%s", found[1], strings.Join(plan, "\n"))
			break
		}
	}
}

// TestOutageAfterSlowStart counts the silence of the database from Run on.
func TestOutageAfterSlowStart(t *testing.T) {
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	beat(t, s)
	s.remote.outage.reached = metrics.Stopwatch{}
	run(t, s)
	eventually(t, "Run has begun", s.Reachable)
	s.watchOutage(context.Background())
	check(t, s.Available())
}

// TestServers opens a database for two processes of one server, but not beside one that has
// to be alone; tools work beside either.
func TestServers(t *testing.T) {
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	first := must(Open(context.Background(), options))(t)
	second := must(Open(context.Background(), options))(t)
	tool := options
	tool.Server = false
	third := must(Open(context.Background(), tool))(t)
	user(t, third, "ann")
	check(t, third.Close())
	if got := must(first.UserByEmail(context.Background(), "ann@example.com"))(t); got.Name != "ann" {
		t.Errorf("found %+v, want ann", got)
	}
	alone := options
	alone.VirtualClock = true
	if s, err := Open(context.Background(), alone); err == nil || !strings.Contains(err.Error(), "another server has the database open") {
		t.Errorf("a virtual clock beside two others: %v, want a refusal", err)
		if s != nil {
			s.Close()
		}
	}
	check(t, errors.Join(first.Close(), second.Close()))
	virtual := must(Open(context.Background(), alone))(t)
	if s, err := Open(context.Background(), options); err == nil || !strings.Contains(err.Error(), "a server that has to be alone") {
		t.Errorf("a server beside a virtual clock: %v, want a refusal", err)
		if s != nil {
			s.Close()
		}
	}
	check(t, virtual.Close())
}

// TestUnusableRemote refuses databases that a server or a command cannot use, and leaves
// them as they are.
func TestUnusableRemote(t *testing.T) {
	ctx := context.Background()
	for name, c := range map[string]struct {
		statements, role, want string
		tool                   bool
	}{
		"empty, for a command":  {tool: true, want: "there is nothing in the database"},
		"foreign":               {statements: "CREATE TABLE other (x int)", want: "not created by blueprintd"},
		"foreign table meta":    {statements: "CREATE TABLE meta (x int)", want: "not created by blueprintd"},
		"of another role":       {statements: "CREATE TABLE other (x int); GRANT CREATE ON SCHEMA public TO @", role: "guest", want: "not created by blueprintd"},
		"meta of another role":  {statements: "CREATE TABLE meta (id int, form int)", role: "reader", want: "lacks a privilege"},
		"not its schema":        {role: "nobody", want: "lacks a privilege"},
		"no such schema":        {role: "lost", statements: "ALTER ROLE @ SET search_path = nowhere", want: "names no schema"},
		"extension, for a tool": {tool: true, statements: "CREATE EXTENSION pg_stat_statements", want: "there is nothing in the database"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := testOptions(t)
			options.Server = !c.tool
			role := fmt.Sprint("test_", c.role, "_", os.Getpid())
			var owner string
			if c.role != "" {
				t.Cleanup(func() { // after the database was dropped
					administer(t, remoteDatabase(t), "DROP ROLE IF EXISTS "+role)
				})
			}
			owner = remoteDatabase(t)
			options.Database = owner
			if c.role != "" {
				administer(t, owner, "CREATE ROLE "+role+" LOGIN")
				u := must(url.Parse(owner))(t)
				u.User = url.User(role)
				options.Database = u.String()
			}
			if c.statements != "" {
				administer(t, owner, strings.ReplaceAll(c.statements, "@", role))
			}
			s, err := Open(ctx, options)
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "CREATE TABLE") {
				t.Errorf("got %v, want a refusal with %q", err, c.want)
			}
			var tables int
			pool := must(postgres.Parse(owner))(t).Open()
			defer pool.Close()
			check(t, pool.QueryRowContext(ctx, "SELECT count(*) FROM pg_class WHERE relname = 'users'").Scan(&tables))
			if tables != 0 {
				t.Error("the tables were created")
			}
		})
	}
}

// administer executes statements as the owner of a database.
func administer(t *testing.T, database, statements string) {
	t.Helper()
	pool := must(postgres.Parse(database))(t).Open()
	defer pool.Close()
	for statement := range strings.SplitSeq(statements, "; ") {
		_, err := pool.ExecContext(context.Background(), statement)
		check(t, err)
	}
}

// TestFirstStarts starts two servers on an empty database at once.
func TestFirstStarts(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	pool := must(postgres.Parse(options.Database))(t).Open()
	defer pool.Close()
	tx := must(pool.BeginTx(ctx, nil))(t)
	_, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", int64(creating))
	check(t, err)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			s, err := Open(ctx, options)
			if err == nil {
				err = s.Close()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "both wait to create the tables", func() bool {
		var waiting int
		check(t, tx.QueryRowContext(ctx, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`).Scan(&waiting))
		return waiting == 2
	})
	check(t, tx.Rollback())
	group.Wait()
}

// A database has one master key from its first server on, even if nothing is sealed and servers
// with different keys start at once.
func TestRemoteKeyOfSeveral(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	var group sync.WaitGroup
	opened := make([]*Store, 3)
	failed := make([]error, 3)
	for i := range opened {
		own := options
		own.Sealer, own.Node = sealer(t, byte(i+1)), fmt.Sprint(i)
		group.Go(func() { opened[i], failed[i] = Open(ctx, own) })
	}
	group.Wait()
	first := slices.IndexFunc(opened, func(s *Store) bool { return s != nil })
	for i, s := range opened {
		switch {
		case i == first:
			t.Cleanup(func() { check(t, s.Close()) })
		case !OtherKey(failed[i]):
			t.Errorf("server %d with another key: %v", i, failed[i])
		}
	}
	if first < 0 {
		t.Fatalf("no server started: %v", failed)
	}
	own := options
	own.Sealer, own.Node = sealer(t, byte(first+1)), "again"
	check(t, must(Open(ctx, own))(t).Close())
	own.Sealer = sealer(t, 9)
	if _, err := Open(ctx, own); !OtherKey(err) {
		t.Errorf("a later server with another key: %v", err)
	}
}

// A read whose connection broke does not wait for a new one longer than until calls are refused.
func TestOutageEndsReads(t *testing.T) {
	options := testOptions(t)
	options.Database = remoteDatabase(t)
	s := open(t, options)
	beat(t, s)
	check(t, s.readRow(t.Context(), "SELECT epoch FROM meta", nil, new(int64)))
	away := func() {
		s.remote.outage.mu.Lock()
		defer s.remote.outage.mu.Unlock()
		s.remote.outage.away = true
	}
	s.remote.config.Sever()
	ctx, done := s.WhileAvailable(t.Context())
	defer done()
	reader := must(s.readers.acquire(ctx))(t)
	away()
	s.watchOutage(t.Context())
	if err := s.readOn(ctx, reader, func(*session) error { return nil }); !errors.Is(err, errAway) {
		t.Errorf("a read on a broken connection: %v, want the outage", err)
	}
	if _, err := s.readers.acquire(ctx); err == nil {
		t.Error("a new connection was opened while calls are refused")
	}
	if _, err := s.readRemoteGeneration(); !errors.Is(err, errAway) {
		t.Errorf("the generation on a broken connection: %v, want the outage", err)
	}
	s.remote.outage.answered()
	check(t, s.readRow(t.Context(), "SELECT epoch FROM meta", nil, new(int64)))
	must(s.readRemoteGeneration())(t)
}
