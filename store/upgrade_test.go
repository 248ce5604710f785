package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
	"blueprintd/store/migrations"
)

// next is the schema version that the steps of these tests lead to.
const next = SchemaVersion + 1

// rebuilt returns a schema in which tables have one column more, and the SQL that
// rebuilds them.
func rebuilt(t testing.TB, schema string, tables ...string) (changed, script string) {
	t.Helper()
	for _, table := range tables {
		text := regexp.MustCompile(`(?ms)^CREATE TABLE ` + table + ` \(.*?^\) STRICT.*?;`).FindString(schema)
		wider := strings.Replace(text, "(\n", "(\n  note TEXT,\n", 1)
		if text == "" || wider == text {
			t.Fatalf("the schema has no table %s", table)
		}
		schema = strings.Replace(schema, text, wider, 1)
		script += fmt.Sprintf("ALTER TABLE %[1]s RENAME TO %[1]s_old;\n%[2]s\nINSERT INTO %[1]s SELECT NULL, * FROM %[1]s_old;\nDROP TABLE %[1]s_old;\n", table, wider)
	}
	return schema, script
}

// nextForm returns the options of a program with the next schema version, in which three tables
// have one column more. What is added to the SQL of the step comes last.
func nextForm(t testing.TB, options Options, more ...string) Options {
	t.Helper()
	schema, script := rebuilt(t, options.Schema, "users", "journal", "sessions")
	for _, index := range regexp.MustCompile(`(?m)^CREATE INDEX sessions_.*;$`).FindAllString(schema, -1) {
		script += index + "\n"
	}
	options.Schema, options.steps = schema, []migrations.Step{migrations.New(next, "add_notes", script+strings.Join(more, "\n"))}
	return options
}

// used makes a database with runs that have ended and that go on,
// and returns what is in it.
func used(t testing.TB, options Options) map[string][]string {
	t.Helper()
	s := must(Open(t.Context(), options))(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	must(s.CreateTrigger(t.Context(), ann, b.ID, blueprint.TriggerManual, nil))(t)
	check(t, s.Commit(t.Context(), finished(s, b, ann, []byte("record"))))
	check(t, s.Commit(t.Context(), &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{[]byte("one"), []byte("two")}}))
	check(t, s.Close())
	return contentOf(t, options.Path)
}

// contentOf returns the rows of every table without the columns that the steps of these
// tests add and the number of starts.
func contentOf(t testing.TB, path string) map[string][]string {
	t.Helper()
	content := map[string][]string{}
	check(t, withDatabase(t.Context(), path, nil, func(q *session) error {
		var tables []string
		if err := collect(q, &tables, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", nil, column); err != nil {
			return err
		}
		for _, table := range tables {
			var columns, rows []string
			if err := collect(q, &columns, "SELECT 'quote(' || name || ')' FROM pragma_table_info(?) WHERE name NOT IN ('note', 'epoch')", []any{table}, column); err != nil {
				return err
			}
			if err := collect(q, &rows, "SELECT concat_ws(', ', "+strings.Join(columns, ", ")+") FROM "+table+" ORDER BY 1", nil, column); err != nil {
				return err
			}
			content[table] = rows
		}
		return nil
	}))
	return content
}

// versionOf returns the schema version of a database.
func versionOf(t testing.TB, path string) (version int) {
	t.Helper()
	check(t, withDatabase(t.Context(), path, nil, func(q *session) error {
		return q.row("PRAGMA user_version", nil, &version)
	}))
	return version
}

func wantContent(t testing.TB, path string, want map[string][]string) {
	t.Helper()
	if got := contentOf(t, path); !cmp.Equal(got, want) {
		t.Errorf("the content of %s differs: %s", filepath.Base(path), cmp.Diff(want, got))
	}
}

// A server upgrades a database, loses nothing, and leaves a copy that the program
// before can use.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	used(t, options)
	var log bytes.Buffer
	newer := nextForm(t, options)
	newer.Logger = slog.New(slog.NewTextHandler(&log, nil))
	var stages []string
	newer.OnUpgrade = func(stage string) { stages = append(stages, stage) }
	s := must(Open(t.Context(), newer))(t)
	if want := []string{"check", "copy", "change", "verify", "write back"}; !cmp.Equal(stages, want) {
		t.Errorf("the stages are %q, want %q", stages, want)
	}
	unfinished := must(s.Unfinished(t.Context()))(t)
	if len(unfinished) != 1 {
		t.Fatalf("%d unfinished runs, want 1", len(unfinished))
	}
	if run := must(s.Load(t.Context(), unfinished[0].ID))(t); !cmp.Equal(run.Entries, [][]byte{[]byte("one"), []byte("two")}) {
		t.Errorf("the journal of the run is %q", run.Entries)
	}
	user(t, s, "eve")
	check(t, s.Close())
	if version := versionOf(t, options.Path); version != next {
		t.Errorf("version %d, want %d", version, next)
	}
	kept := oldCopy(options.Path, SchemaVersion)
	for _, want := range []string{"database upgrade started", fmt.Sprintf("from=%d to=%d", SchemaVersion, next), "database upgraded", "copy=" + kept} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not say %q: %s", want, &log)
		}
	}
	if names := files(t, filepath.Dir(options.Path)); len(names) != 3 || names[filepath.Base(kept)].Perm() != 0o600 {
		t.Errorf("files are %v, want the database, its lock and the copy", names)
	}

	// The second start has nothing to do.
	log.Reset()
	check(t, os.Remove(kept))
	check(t, must(Open(t.Context(), newer))(t).Close())
	if strings.Contains(log.String(), "upgrade") || size(kept) > 0 {
		t.Errorf("it was upgraded again: %s", &log)
	}
	wantRefusal(t, options, "supports versions up to")
}

// The program before refuses an upgraded database and names the copy, with
// which it goes on.
func TestGoBack(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	before := used(t, options)
	check(t, must(Open(t.Context(), nextForm(t, options)))(t).Close())
	kept := oldCopy(options.Path, SchemaVersion)
	_, err := Open(t.Context(), options)
	wantRefused(t, err, "supports versions up to")
	if known, _ := errors.AsType[*blueprint.Error](err); !strings.Contains(known.Hint, "move "+kept+" to "+options.Path) {
		t.Errorf("the hint does not name the copy: %s", known.Hint)
	}
	check(t, os.Rename(kept, options.Path))
	check(t, must(Open(t.Context(), options))(t).Close())
	wantContent(t, options.Path, before)
}

// The content of an upgraded database and of its copy is that of the database before.
func TestUpgradeKeepsEverything(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	before := used(t, options)
	newer := nextForm(t, options)
	check(t, must(Open(t.Context(), newer))(t).Close())
	wantContent(t, options.Path, before)
	wantContent(t, oldCopy(options.Path, SchemaVersion), before)
	for _, f := range Diagnose(t.Context(), newer, true) {
		if f.Health != Fine && f.Check != "file system" && f.Check != "disk" {
			t.Errorf("%s: %s", f.Check, f.Message)
		}
	}
}

// Several steps run one after the other.
func TestUpgradeBySeveralSteps(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	used(t, options)
	newer := nextForm(t, options)
	schema, script := rebuilt(t, newer.Schema, "events")
	script += regexp.MustCompile(`(?m)^CREATE INDEX events_.*;$`).FindString(schema) + "\nDELETE FROM sessions;\n-- changes the rows of: users, sessions\nINSERT INTO users SELECT 'copied', 9, upper(id), 'b@example.com', 'b@example.com', 'b', created_at, NULL FROM users LIMIT 1;\n"
	newer.Schema, newer.steps = schema, append(newer.steps, migrations.New(next+1, "add_a_user", script))
	s := must(Open(t.Context(), newer))(t)
	var users int
	check(t, s.writer.session.row("SELECT count(*) FROM users", nil, &users))
	check(t, s.Close())
	if version := versionOf(t, options.Path); version != next+1 || users != 2 {
		t.Errorf("version %d with %d users", version, users)
	}
	if version := versionOf(t, oldCopy(options.Path, SchemaVersion)); version != SchemaVersion {
		t.Errorf("the copy has version %d", version)
	}
}

// An upgrade whose result is not complete is undone.
func TestUpgradeIsUndone(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, script, want string }{
		{"bad SQL", "SELECT no_such_column FROM users;", "step " + fmt.Sprint(next) + ", add_notes"},
		{"a violated constraint", "UPDATE users SET email = '';", "constraint"},
		{"a lost row", "DELETE FROM journal WHERE position = 2;", "journal has 1 rows, not 2"},
		{"another row", "INSERT INTO run_hours VALUES ('x', 1, 1, 1, 1, 1);", "run_hours has 3 rows, not 2"},
		{"other tables", "CREATE TABLE more (x TEXT) STRICT;", "the tables are not those"},
		{"a reference to nothing", "UPDATE journal SET execution = 99;", "refers to a row of executions"},
		{"a changed record", "UPDATE executions SET record = x'00' WHERE record IS NOT NULL;", "the content of 1 runs is not what was stored"},
		{"a changed entry", "UPDATE journal SET entry = x'00112233';", "the content of 1 runs is not what was stored"},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := testOptions(t)
			before := used(t, options)
			wantRefusal(t, nextForm(t, options, test.script), test.want)
			if version := versionOf(t, options.Path); version != SchemaVersion {
				t.Errorf("version %d, want %d", version, SchemaVersion)
			}
			wantContent(t, options.Path, before)
			check(t, must(Open(t.Context(), options))(t).Close())
		})
	}
}

// Runs that are damaged already stay as they are.
func TestUpgradeKeepsDamagedRuns(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	used(t, options)
	foreignDatabase(t, options.Path, "UPDATE journal SET entry = x'00112233' WHERE position = 1")
	before := contentOf(t, options.Path)
	var log bytes.Buffer
	options.Logger = slog.New(slog.NewTextHandler(&log, nil))
	check(t, must(Open(t.Context(), nextForm(t, options)))(t).Close())
	wantContent(t, options.Path, before)
	if !strings.Contains(log.String(), "damaged runs upgraded as they are") {
		t.Errorf("the log does not name them: %s", &log)
	}
}

// A damaged database is not upgraded.
func TestUpgradeRefusesDamage(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	used(t, options)
	foreignDatabase(t, options.Path, "PRAGMA foreign_keys = OFF; UPDATE journal SET execution = 99")
	wantRefusal(t, nextForm(t, options), "the database is damaged")
	if version := versionOf(t, options.Path); version != SchemaVersion {
		t.Errorf("version %d", version)
	}
}

// Only a server upgrades.
func TestToolsRefuseAnOlderVersion(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	used(t, options)
	before := must(os.ReadFile(options.Path))(t)
	newer := nextForm(t, options)
	const want = "and this program needs version"
	tool := newer
	tool.Server = false
	wantRefusal(t, tool, want)
	wantRefusal(t, readOnlyDisk(newer), want)
	_, err := OpenToChangeKey(t.Context(), newer)
	wantRefused(t, err, want)
	findings := Diagnose(t.Context(), newer, false)
	form := slices.IndexFunc(findings, func(f Finding) bool { return f.Check == "form" })
	if f := findings[form]; f.Health != Dubious || !strings.Contains(f.Message, want) || f.Fix == "" {
		t.Errorf("doctor says %+v", f)
	}
	other := newer
	other.Sealer = sealer(t, 2)
	if _, err := Open(t.Context(), other); !OtherKey(err) {
		t.Errorf("with another key: %v", err)
	}
	if after := must(os.ReadFile(options.Path))(t); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

// A server that must not use a database refuses it before it upgrades it, and changes nothing.
func TestUnfitServersDoNotUpgrade(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                     string
		madeSandbox, madeVirtual bool
		sandbox, virtual         bool
		want                     string
	}{
		{"virtual clock, then real time", false, true, false, false, "those of a virtual clock"},
		{"sandbox, then real", true, false, false, false, "is a sandbox's"},
		{"real, then sandbox", false, false, true, false, "is not a sandbox's"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			options := testOptions(t).as(true, test.madeSandbox, test.madeVirtual)
			used(t, options)
			before := filesOf(t, options.Path)
			wantRefusal(t, nextForm(t, options).as(true, test.sandbox, test.virtual), test.want)
			if diff := cmp.Diff(before, filesOf(t, options.Path)); diff != "" {
				t.Errorf("files changed (-before +after):\n%s", diff)
			}
		})
	}
}

// filesOf returns a checksum of each file in the folder of a database.
func filesOf(t testing.TB, path string) map[string]string {
	t.Helper()
	sums := map[string]string{}
	for _, entry := range must(os.ReadDir(filepath.Dir(path)))(t) {
		content := must(os.ReadFile(filepath.Join(filepath.Dir(path), entry.Name())))(t)
		sums[entry.Name()] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return sums
}

// The copy is kept when there is room or when it is asked for.
func TestKeepOld(t *testing.T) {
	t.Parallel()
	const none = ""
	for _, test := range []struct {
		keep    KeepOld
		room    float64 // in sizes of the database
		kept    bool
		refused string
	}{
		{"", 3.1, true, none},
		{KeepOldAuto, 2.9, false, none},
		{KeepOldAuto, 1.9, false, "bytes) of free space"},
		{KeepOldAlways, 3.1, true, none},
		{KeepOldAlways, 2.9, false, "bytes) of free space"},
		{KeepOldNever, 2.1, false, none},
		{KeepOldNever, 9, false, none},
		{KeepOldNever, 1.9, false, "bytes) of free space"},
		{KeepOldAlways, -1, true, none},
	} {
		t.Run(fmt.Sprintf("%s with %v", test.keep, test.room), func(t *testing.T) {
			options := testOptions(t)
			used(t, options)
			foreignDatabase(t, options.Path, "VACUUM")
			free := int64(test.room * float64(size(options.Path)))
			options.KeepOld, options.fileSystem = test.keep, func(string) (dbfile.FileSystem, error) {
				return dbfile.FileSystem{Known: test.room > 0, Magic: 0xEF53, Free: free, Total: 1 << 40}, nil
			}
			newer := nextForm(t, options)
			if test.refused != none {
				wantRefusal(t, newer, test.refused)
			} else {
				check(t, must(Open(t.Context(), newer))(t).Close())
			}
			if kept := size(oldCopy(options.Path, SchemaVersion)) > 0; kept != test.kept {
				t.Errorf("copy: %t, want %t", kept, test.kept)
			}
		})
	}
}

// A copy replaces an older one and what a killed upgrade left, but no other file.
func TestKeepOldReplaces(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	before := used(t, options)
	kept := oldCopy(options.Path, SchemaVersion)
	check(t, os.WriteFile(kept, []byte("theirs"), 0o600))
	wantRefusal(t, nextForm(t, options), "in the way")
	check(t, os.Remove(kept))
	for _, leftover := range []string{kept, kept + dbfile.PartialSuffix} {
		old := options
		old.Path = filepath.Join(t.TempDir(), "old.db")
		used(t, old)
		check(t, os.Rename(old.Path, leftover))
	}
	check(t, must(Open(t.Context(), nextForm(t, options)))(t).Close())
	wantContent(t, kept, before)
	if names := files(t, filepath.Dir(options.Path)); len(names) != 3 {
		t.Errorf("files are %v", names)
	}
}

// Another program that has the database open would go on with the old tables.
func TestUpgradeIsAlone(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	before := used(t, options)
	other := must(sql.Open("sqlite", "file:"+options.Path))(t)
	var count int
	check(t, other.QueryRow("SELECT count(*) FROM users").Scan(&count))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Open(ctx, nextForm(t, options))
	wantRefused(t, err, "another program has it open")
	check(t, other.Close())
	wantContent(t, options.Path, before)

	cancel()
	if _, err := Open(ctx, nextForm(t, options)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	wantContent(t, options.Path, before)
}

// A backup of an older version becomes a database of the current one.
func TestRestoreOfAnOlderVersion(t *testing.T) {
	t.Parallel()
	options := testOptions(t)
	used(t, options)
	s := open(t, options)
	report := saved(t, s)
	newer := nextForm(t, options)
	newer.Path = filepath.Join(t.TempDir(), "restored.db")
	restored := must(Restore(t.Context(), report.Path, newer, RestoreOptions{}))(t)
	if restored.Unfinished != 1 || !restored.Verified {
		t.Errorf("restored %+v", restored)
	}
	if version := versionOf(t, newer.Path); version != next {
		t.Errorf("version %d", version)
	}
	opened := must(Open(t.Context(), newer))(t)
	if list := must(opened.Unfinished(t.Context()))(t); len(list) != 1 {
		t.Errorf("%d unfinished runs", len(list))
	}
	check(t, opened.Close())
	if names := files(t, filepath.Dir(newer.Path)); len(names) != 2 {
		t.Errorf("files are %v", names)
	}
	bad := nextForm(t, options, "DELETE FROM users;")
	bad.Path = filepath.Join(t.TempDir(), "restored.db")
	_, err := Restore(t.Context(), report.Path, bad, RestoreOptions{})
	wantRefused(t, err, "cannot be upgraded")
	if size(bad.Path) > 0 {
		t.Error("it was restored")
	}
}

// The steps lead to the version of schema.sql.
func TestStepsLeadToTheSchema(t *testing.T) {
	t.Parallel()
	steps := migrations.Steps()
	if n := len(steps); n > 0 && steps[n-1].Version != SchemaVersion {
		t.Errorf("the last step leads to version %d, and the schema has version %d", steps[n-1].Version, SchemaVersion)
	}
}
