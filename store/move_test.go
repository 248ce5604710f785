//go:build postgres

package store

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/secret"
	"blueprintd/store/postgres"
)

// elsewhere returns the options of a PostgreSQL database with the same key.
func elsewhere(options Options, url string) Options {
	options.Database, options.Path = url, ""
	return options
}

// inFile returns the options of a file that does not exist, with the same key.
func inFile(t *testing.T, options Options) Options {
	options.Database, options.Path = "", filepath.Join(t.TempDir(), "moved.db")
	return options
}

// TestMove moves databases to PostgreSQL, on to another one and back to a file.
func TestMove(t *testing.T) {
	for name, world := range worlds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			options := world(t)
			first, second, last := elsewhere(options, remoteDatabase(t)), elsewhere(options, remoteDatabase(t)), inFile(t, options)
			out := must(Move(ctx, options, first, nil))(t)
			before := everything(t, options.Path)
			must(Move(ctx, first, second, nil))(t)
			back := must(Move(ctx, second, last, nil))(t)
			if diff := cmp.Diff(before, everything(t, last.Path)); diff != "" {
				t.Errorf("content (-want +got):\n%s", diff)
			}
			for table, rows := range before {
				if out.Rows[table] != int64(len(rows)) {
					t.Errorf("reported %d rows of %s, want %d", out.Rows[table], table, len(rows))
				}
			}
			if diff := cmp.Diff([]any{out.Rows, out.Unfinished, second.name() != ""}, []any{back.Rows, back.Unfinished, true}); diff != "" {
				t.Errorf("reports differ (-out +back):\n%s", diff)
			}
			if info := must(os.Stat(last.Path))(t); info.Mode().Perm() != 0o600 {
				t.Errorf("mode %o, want %o", info.Mode().Perm(), 0o600)
			}
			for _, place := range []Options{first, second, last} {
				s := must(Open(ctx, place))(t)
				dan := user(t, s, "dan") // numbers continue
				b := create(t, s, dan, "T")
				must(s.CreateTrigger(ctx, dan, b.ID, blueprint.TriggerWebhook, nil))(t)
				check(t, s.Commit(ctx, finished(s, b, dan, []byte("record"))))
				check(t, s.Close())
			}
		})
	}
}

// TestMoveKeepsGroups moves unfinished runs of a trigger with a limit: processes count them.
func TestMoveKeepsGroups(t *testing.T) {
	options := formWorld(t, "9")
	to := elsewhere(options, remoteDatabase(t))
	must(Move(t.Context(), options, to, nil))(t)
	pool := must(postgres.Parse(to.Database))(t).Open()
	defer pool.Close()
	var runs, owned int
	const query = `SELECT count(*), count(e.owner) FROM executions e JOIN triggers t ON t.id = e.concurrency_key
		WHERE e.end_time IS NULL AND t.seq = e.trigger_seq AND t.config LIKE '%"onLimit"%'`
	check(t, pool.QueryRowContext(t.Context(), query).Scan(&runs, &owned))
	if runs != 3 || owned != 0 {
		t.Errorf("%d runs are in groups, %d of them have an owner; want 3 and none", runs, owned)
	}
}

// TestRestoreRemote restores a backup of a PostgreSQL database, taken beside a server, to a
// file, to an empty database and over another one, which is replaced or stays as it is.
func TestRestoreRemote(t *testing.T) {
	ctx := t.Context()
	options := strangeWorld(t)
	source, empty, used := elsewhere(options, remoteDatabase(t)), elsewhere(options, remoteDatabase(t)), elsewhere(options, remoteDatabase(t))
	must(Move(ctx, options, source, nil))(t)
	server := must(Open(ctx, source))(t)
	backup := saved(t, server)
	check(t, server.Close())
	again := saved(t, open(t, options))
	if diff := cmp.Diff(again.Rows, backup.Rows); diff != "" {
		t.Errorf("rows (-of the file +of PostgreSQL):\n%s", diff)
	}

	other := must(Open(ctx, used))(t)
	user(t, other, "eve")
	_, err := Restore(ctx, backup.Path, used, RestoreOptions{Force: true})
	wantRefused(t, err, "a server is running")
	check(t, other.Close())
	_, err = Restore(ctx, backup.Path, used, RestoreOptions{})
	wantRefused(t, err, "has the tables of blueprintd already")
	for _, stop := range []string{"copying", "comparing"} {
		ended, cancel := context.WithCancel(ctx)
		_, err := Restore(ended, backup.Path, used, RestoreOptions{Force: true, Progress: func(stage string, done, _ int64) {
			if stage == stop && done > 100 {
				cancel()
			}
		}})
		if cancel(); err == nil {
			t.Errorf("a restore was not interrupted when %s", stop)
		}
	}
	other = must(Open(ctx, used))(t)
	must(other.UserByEmail(ctx, "eve@example.com"))(t)
	user(t, other, "mallory") // the numbers of the old rows were not changed either
	epoch := other.epoch
	check(t, other.Close())

	file := inFile(t, options)
	for name, step := range map[string]Options{"a file": file, "an empty database": empty, "a used database": used} {
		report := must(Restore(ctx, backup.Path, step, RestoreOptions{Force: step.Database == used.Database, PauseTriggers: true}))(t)
		if !report.Verified || report.Sessions != 1 || report.Paused == 0 {
			t.Errorf("%s: report %+v, want verified, a session ended and triggers paused", name, report)
		}
	}
	want := everything(t, file.Path)
	for name, step := range map[string]Options{"an empty database": empty, "a used database": used} {
		back := inFile(t, options)
		must(Move(ctx, step, back, nil))(t)
		got := everything(t, back.Path)
		if name == "a used database" {
			got["meta"] = want["meta"] // its epoch follows the older ones
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	other = must(Open(ctx, used))(t)
	if other.epoch <= epoch+1 {
		t.Errorf("epoch %d after %d: a server from before the restore could write", other.epoch, epoch)
	}
	user(t, other, "frank")
	check(t, other.Close())
}

// TestRemoteKey changes the master key of a PostgreSQL database, and restores a backup that
// was made with the old one.
func TestRemoteKey(t *testing.T) {
	ctx := t.Context()
	options, look := sealedWorld(t)
	there := elsewhere(options, remoteDatabase(t))
	must(Move(ctx, options, there, nil))(t)
	source := must(Open(ctx, there))(t)
	backup := saved(t, source)
	_, err := OpenToChangeKey(ctx, there)
	wantRefused(t, err, "a server is running")
	check(t, source.Close())
	next := there
	next.Sealer = sealer(t, 2)
	s := must(OpenToChangeKey(ctx, there))(t)
	report := must(s.ChangeKey(ctx, next.Sealer, ChangeKeyOptions{}))(t)
	if want := int64(12 + 2*resealedAtOnce + 1); report.Values != want || report.Damaged != 0 {
		t.Errorf("report %+v, want %d values", report, want)
	}
	check(t, s.Close())
	_, err = Open(ctx, there)
	if !OtherKey(err) {
		t.Errorf("with the old key: %v", err)
	}
	restore := must(Restore(ctx, backup.Path, next, RestoreOptions{Force: true, OldKeys: []*secret.Sealer{options.Sealer}}))(t)
	if restore.Resealed != report.Values {
		t.Errorf("%d values were encrypted again, want %d", restore.Resealed, report.Values)
	}
	s = must(Open(ctx, next))(t)
	if diff := cmp.Diff(sealedContent, look(s)); diff != "" {
		t.Errorf("content (-want +got):\n%s", diff)
	}
	check(t, s.Close())
}

// TestDiagnoseRemote finds nothing in a sound database, and each of several faults.
func TestDiagnoseRemote(t *testing.T) {
	ctx := t.Context()
	options, _ := sealedWorld(t)
	options.Clock = clock.Real{}
	problems := func(o Options) (list []string) {
		for _, f := range Diagnose(ctx, o, true) {
			if f.Health != Fine {
				list = append(list, f.Check+": "+f.Message)
			}
			if f.Health != Fine && f.Fix == "" {
				t.Errorf("no fix for %+v", f)
			}
		}
		return list
	}
	sound := elsewhere(options, remoteDatabase(t))
	if got := problems(sound); len(got) != 1 || got[0] != "form: the database is empty" {
		t.Errorf("problems of an empty database: %q", got)
	}
	must(Move(ctx, options, sound, nil))(t)
	if got := problems(sound); len(got) > 0 {
		t.Errorf("problems of a sound database: %q", got)
	}
	for name, fault := range map[string]struct {
		statements []string
		want       string
	}{
		"a changed entry":   {[]string{"UPDATE journal SET entry = set_byte(entry, 3, 255 - get_byte(entry, 3)) WHERE position = 7"}, "runs: the content of 1 runs"},
		"a missing index":   {[]string{"DROP INDEX firings_started"}, "form: the tables of the database are not those of this program: it lacks the index firings_started"},
		"an orphan":         {[]string{"SET session_replication_role = replica", "DELETE FROM users WHERE seq = 1"}, "integrity: the database is damaged: 1 of organizations refer to missing users"},
		"a used number":     {[]string{"SELECT setval(pg_get_serial_sequence('firings', 'seq'), 1, false)"}, "numbers: the next rows of firings"},
		"a missing table":   {[]string{"DROP TABLE journal"}, "form: the tables of the database are not those of this program: it lacks journal"},
		"another form":      {[]string{"UPDATE meta SET form = 1"}, "database: the database has the schema version 1"},
		"another key":       {[]string{"UPDATE meta SET key_check = 'x'"}, "master key: the secrets of the database are encrypted with another master key"},
		"a setting":         {[]string{"DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$"}, "settings: synchronous_commit is off"},
		"another program's": {[]string{"ALTER TABLE meta RENAME TO other"}, "database: the database was not created by blueprintd"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := elsewhere(options, remoteDatabase(t))
			must(Move(ctx, options, broken, nil))(t)
			pool := must(postgres.Parse(broken.Database))(t).Open()
			conn := must(pool.Conn(ctx))(t)
			for _, statement := range fault.statements {
				_, err := conn.ExecContext(ctx, statement)
				check(t, err)
			}
			check(t, errors.Join(conn.Close(), pool.Close()))
			if got := problems(broken); len(got) == 0 || !strings.HasPrefix(got[0], fault.want) {
				t.Errorf("problems %q, want %q", got, fault.want)
			}
		})
	}
	away := elsewhere(options, "postgres://x:secret@127.0.0.1:1/x")
	if got := problems(away); len(got) != 1 || !strings.HasPrefix(got[0], "database: ") || strings.Contains(got[0], "secret") {
		t.Errorf("problems of an unreachable database: %q", got)
	}
}

// TestMoveRefused refuses targets that are not empty, sources that are, and databases on
// which a server runs, and leaves all of them as they are.
func TestMoveRefused(t *testing.T) {
	ctx := t.Context()
	options := strangeWorld(t)
	foreign, used, empty := elsewhere(options, remoteDatabase(t)), elsewhere(options, remoteDatabase(t)), elsewhere(options, remoteDatabase(t))
	pool := must(postgres.Parse(foreign.Database))(t).Open()
	_, err := pool.ExecContext(ctx, "CREATE TABLE other (x int)")
	check(t, err)
	check(t, pool.Close())
	check(t, must(Open(ctx, used))(t).Close())
	file := inFile(t, options)
	check(t, os.WriteFile(file.Path, bytes.Repeat([]byte("x"), 1000), 0o600))
	blank := inFile(t, options)
	check(t, os.WriteFile(blank.Path, nil, 0o600))
	otherKey := options
	otherKey.Sealer = sealer(t, 2)
	missing := inFile(t, options)
	for name, test := range map[string]struct {
		from, to Options
		part     string
	}{
		"a foreign target":  {options, foreign, "not created by blueprintd"},
		"a target in use":   {options, used, "has the tables of blueprintd already"},
		"an existing file":  {used, file, "exists already"},
		"an empty source":   {empty, inFile(t, options), "there is nothing in the database"},
		"an empty file":     {blank, empty, "there is nothing in the database"},
		"a missing source":  {missing, empty, "there is no database"},
		"another key":       {otherKey, empty, "another master key"},
		"a foreign source":  {foreign, inFile(t, options), "not created by blueprintd"},
		"an unusable file":  {file, empty, "not an SQLite database"},
		"the same database": {used, used, "a server is running"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Move(ctx, test.from, test.to, nil)
			wantRefused(t, err, test.part)
		})
	}
	server := must(Open(ctx, used))(t)
	_, err = Move(ctx, used, inFile(t, options), nil)
	wantRefused(t, err, "a server is running on the database")
	check(t, server.Close())
	server = must(Open(ctx, options))(t)
	_, err = Move(ctx, options, empty, nil)
	wantRefused(t, err, "another server has the database open")
	check(t, server.Close())
	must(Move(ctx, options, empty, nil))(t) // it is still empty
}

// TestMoveInterrupted ends a move at each of its stages: nothing is left of the target.
func TestMoveInterrupted(t *testing.T) {
	options := strangeWorld(t)
	remote := elsewhere(options, remoteDatabase(t))
	moved := elsewhere(options, remoteDatabase(t))
	must(Move(t.Context(), options, moved, nil))(t)
	file := inFile(t, options)
	for _, stop := range []string{"copying", "comparing", "checking"} {
		for name, test := range map[string]struct{ from, to Options }{"to PostgreSQL": {options, remote}, "to a file": {moved, file}} {
			t.Run(stop+" "+name, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				_, err := Move(ctx, test.from, test.to, func(stage string, done, total int64) {
					if strings.HasPrefix(stage, stop) && done == total/2*min(1, done) {
						cancel()
					}
				})
				if err == nil {
					t.Error("the move was not interrupted")
				}
			})
		}
	}
	for name := range files(t, filepath.Dir(file.Path)) {
		if !strings.HasSuffix(name, ".lock") {
			t.Errorf("%s is left", name)
		}
	}
	must(Move(t.Context(), options, remote, nil))(t)
	must(Move(t.Context(), moved, file, nil))(t)
}
