//go:build postgres

package store

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
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
		"a target in use":   {options, used, "in use by blueprintd"},
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
