package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

// files lists the database's files with their modes.
func files(t testing.TB, folder string) map[string]os.FileMode {
	t.Helper()
	got := map[string]os.FileMode{}
	for _, entry := range must(os.ReadDir(folder))(t) {
		got[entry.Name()] = must(entry.Info())(t).Mode()
	}
	return got
}

// wantRefusal checks that opening fails with a message and a hint.
func wantRefusal(t testing.TB, options Options, part string) {
	t.Helper()
	s, err := Open(context.Background(), options)
	if err == nil {
		s.Close()
		t.Fatalf("it was opened, want %q", part)
	}
	var refused *blueprint.Error
	if !errors.As(err, &refused) || refused.Hint == "" || !strings.Contains(refused.Message, part) {
		t.Errorf("refused with %v, want %q and a hint", err, part)
	}
}

// foreignDatabase makes an SQLite database by plain SQL.
func foreignDatabase(t testing.TB, path, script string) {
	t.Helper()
	db := must(sql.Open("sqlite", "file:"+path))(t)
	_, err := db.Exec(script)
	check(t, errors.Join(err, db.Close()))
}

func TestFileModes(t *testing.T) {
	options := testOptions(t)
	folder := filepath.Dir(options.Path)
	for _, before := range []os.FileMode{0, 0o644} {
		if before != 0 {
			check(t, os.Chmod(options.Path, before))
		}
		s := must(Open(context.Background(), options))(t)
		if before == 0 {
			user(t, s, "ann")
		} else if must(s.ServerOwner(context.Background()))(t).Name != "ann" {
			t.Errorf("what was stored is lost: %v, want Name ann", must(s.ServerOwner(context.Background()))(t).Name)
		}
		got := files(t, folder)
		for _, name := range []string{"test.db", "test.db-wal", "test.db-shm", "test.db.lock"} {
			if mode, ok := got[name]; !ok || mode.Perm() != 0o600 {
				t.Errorf("%s has mode %o, want Perm %v", name, mode, 0o600)
			}
		}
		check(t, s.Close())
		check(t, s.Close())
		if _, left := files(t, folder)["test.db-wal"]; left {
			t.Error("a log is left after closing")
		}
	}
}

func TestEphemeralLeavesNothing(t *testing.T) {
	options := testOptions(t)
	options.Ephemeral = true
	s := open(t, options)
	run(t, s)
	user(t, s, "ann")
	if got := files(t, filepath.Dir(options.Path)); len(got) != 0 {
		t.Errorf("files %v, want none", got)
	}
}

func TestPaths(t *testing.T) {
	ctx := context.Background()
	folder := t.TempDir()
	for _, name := range []string{"a b?mode=ro&c#d%41.db", "é+;=.db", ":memory:", "file:x"} {
		options := testOptions(t)
		options.Path = filepath.Join(folder, name)
		s := must(Open(ctx, options))(t)
		user(t, s, "ann")
		check(t, s.Close())
		if info, err := os.Stat(options.Path); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, want Size other than 0", name, err)
		}
	}
	options := testOptions(t)
	options.Path = filepath.Join(folder, "missing", "x.db")
	wantRefusal(t, options, "does not exist")
	for _, path := range []string{"", "a\x00b", folder} {
		options.Path = path
		_, err := Open(ctx, options)
		wantCode(t, err, blueprint.CodeBadRequest)
	}
}

func TestForeignFiles(t *testing.T) {
	for _, test := range []struct{ name, script, want string }{
		{"another program's", "PRAGMA application_id = 7; CREATE TABLE theirs (x)", "belongs to another program"},
		{"an anonymous one", "CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)", "belongs to another program"},
		{"only a version", "PRAGMA user_version = 3", "belongs to another program"},
		{"newer", fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; CREATE TABLE new (x)", dbfile.ApplicationID, SchemaVersion+1), fmt.Sprintf("schema version %d, and this program supports versions up to %d", SchemaVersion+1, SchemaVersion)},
		{"older", fmt.Sprintf("PRAGMA application_id = %d; CREATE TABLE old (x)", dbfile.ApplicationID), "schema version 0"},
		{"of an earlier schema version", fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 1; CREATE TABLE old (x)", dbfile.ApplicationID), fmt.Sprintf("schema version 1, which this program cannot upgrade to version %d", SchemaVersion)},
		{"other tables", fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d; CREATE TABLE x (x)", dbfile.ApplicationID, SchemaVersion), "tables"},
		{"text", "", "not an SQLite database"},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := testOptions(t)
			if test.script != "" {
				foreignDatabase(t, options.Path, test.script)
			} else {
				check(t, os.WriteFile(options.Path, bytes.Repeat([]byte("This is no database. "), 100), 0o644))
			}
			before := must(os.ReadFile(options.Path))(t)
			wantRefusal(t, options, test.want)
			if after := must(os.ReadFile(options.Path))(t); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
			if mode := must(os.Stat(options.Path))(t).Mode().Perm(); mode != 0o644 {
				t.Errorf("its mode was changed to %o, want %v", mode, 0o644)
			}
		})
	}
}

// Code in the schema of a tampered file is refused.
func TestTamperedSchema(t *testing.T) {
	for _, script := range []string{
		"CREATE TRIGGER planted AFTER INSERT ON users BEGIN DELETE FROM api_keys; END",
		"CREATE VIEW planted AS SELECT 1",
		"DROP INDEX firings_started",
	} {
		options := testOptions(t)
		check(t, must(Open(context.Background(), options))(t).Close())
		foreignDatabase(t, options.Path, script)
		wantRefusal(t, options, "tables")
	}
}

func TestEmptyFileIsAdopted(t *testing.T) {
	options := testOptions(t)
	check(t, os.WriteFile(options.Path, nil, 0o644))
	s := open(t, options)
	user(t, s, "ann")
	if mode := must(os.Stat(options.Path))(t).Mode().Perm(); mode != 0o600 {
		t.Errorf("mode %o, want %v", mode, 0o600)
	}
	var vacuum int
	check(t, s.read(context.Background(), func(q *session) error { return q.row("PRAGMA auto_vacuum", nil, &vacuum) }))
	if vacuum != 2 {
		t.Errorf("auto_vacuum is %d, want 2", vacuum)
	}
}

func TestCorruptFile(t *testing.T) {
	options := testOptions(t)
	check(t, must(Open(context.Background(), options))(t).Close())
	data := must(os.ReadFile(options.Path))(t)
	for name, damage := range map[string]func() []byte{
		"cut short": func() []byte { return data[:len(data)/2] },
		"schema page": func() []byte {
			return append(append(bytes.Clone(data[:100]), bytes.Repeat([]byte{0xff}, 2000)...), data[2100:]...)
		},
		"no header": func() []byte { return append(make([]byte, 100), data[100:]...) },
	} {
		check(t, os.WriteFile(options.Path, damage(), 0o600))
		if name == "no header" {
			wantRefusal(t, options, "not an SQLite database")
		} else {
			wantRefusal(t, options, "the database file is damaged")
		}
	}
	check(t, os.WriteFile(options.Path, data, 0o600))
	open(t, options)
}

func TestMasterKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	const refused = "encrypted with another master key"
	t.Run("sealed", func(t *testing.T) {
		for _, secret := range []string{"variable", "trigger", "journal", "record"} {
			options := testOptions(t)
			s := must(Open(ctx, options))(t)
			ann := user(t, s, "ann")
			b := create(t, s, ann, "T")
			sealed := options.Sealer.Seal([]byte("x"), "place")
			switch secret {
			case "variable":
				variables := []any{map[string]any{"name": "s", "secret": true, "default": "x"}}
				must(s.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Variables: variables}))(t)
			case "trigger":
				must(s.CreateTrigger(ctx, ann, b.ID, blueprint.TriggerWebhook, map[string]any{"secret": "x"}))(t)
			case "journal":
				check(t, s.Commit(ctx, &blueprint.JournalCommit{Row: row(s, b, ann), New: true, Entries: [][]byte{sealed}}))
			case "record":
				check(t, s.Commit(ctx, finished(s, b, ann, sealed)))
			}
			check(t, s.Close())
			wrong := options
			for _, server := range []bool{true, false} {
				wrong.Server, wrong.Sealer = server, sealer(t, 2)
				wantRefusal(t, wrong, refused)
			}
			wrong.Server, wrong.Sealer = true, nil
			wantRefusal(t, wrong, refused)
			open(t, options)
		}
	})
	t.Run("not sealed", func(t *testing.T) {
		options := testOptions(t)
		s := must(Open(ctx, options))(t)
		ann := user(t, s, "ann")
		create(t, s, ann, "T")
		check(t, s.Close())
		other := options
		other.Sealer = sealer(t, 2)
		other.Server = false
		wantRefusal(t, other, refused)
		other.Server = true
		check(t, must(Open(ctx, other))(t).Close())
		options.Server = false
		wantRefusal(t, options, refused)
	})
	t.Run("a tool without it", func(t *testing.T) {
		options := testOptions(t)
		server := open(t, options)
		ann := user(t, server, "ann")
		variables := []any{map[string]any{"name": "s", "secret": true, "default": "x"}}
		made := must(server.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Variables: variables}))(t)
		options.Server, options.Sealer = false, nil
		tool := open(t, options)
		user(t, tool, "bob")
		_, err := tool.GetBlueprint(ctx, ann, made.ID)
		wantCode(t, err, blueprint.CodeConflict)
		_, err = tool.CreateBlueprint(ctx, ann, blueprint.NewBlueprint{Title: "T", Variables: variables})
		wantCode(t, err, blueprint.CodeConflict)
	})
}

// A write that returned nil survives the loss of the process: the files contain it at that
// moment.
func TestCommittedIsOnDisk(t *testing.T) {
	ctx := context.Background()
	options := testOptions(t)
	s := open(t, options)
	stop := run(t, s)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	commit := finished(s, b, ann, []byte("record"))
	check(t, s.Commit(ctx, commit))
	copied := testOptions(t)
	for _, suffix := range []string{"", "-wal"} {
		from := must(os.Open(options.Path + suffix))(t)
		to := must(os.Create(copied.Path + suffix))(t)
		_, err := io.Copy(to, from)
		check(t, errors.Join(err, from.Close(), to.Close()))
	}
	check(t, stop())
	after := open(t, copied)
	if got := must(after.Load(ctx, commit.Row.ID))(t); string(got.Record) != "record" {
		t.Errorf("stored %+v, want Record record", got)
	}
}

// The write-ahead log is copied into the database beside the writing.
func TestCheckpoint(t *testing.T) {
	s := open(t, testOptions(t))
	list := notes(t, s)
	for i := range checkpointCommits {
		check(t, s.write(context.Background(), note(fmt.Sprint(i))))
	}
	before := must(os.Stat(s.options.Path))(t).Size()
	s.checkpoint(context.Background())
	if after := must(os.Stat(s.options.Path))(t).Size(); after <= before || s.commits.Load() != 0 {
		t.Errorf("the database has %d bytes, before %d; want more than %v and Load 0", after, before, before)
	}
	if got := len(list()); got != checkpointCommits {
		t.Errorf("%d rows, want %v", got, checkpointCommits)
	}
}

// A database or log without a durable name is lost when the power fails,
// whatever was synced into it.
func TestOpenNeedsDurableNames(t *testing.T) {
	options := testOptions(t)
	var synced []string
	options.syncFolder = func(folder string) error {
		if size(options.Path+"-wal") == 0 {
			t.Error("the folder was synced before the log was in it")
		}
		synced = append(synced, folder)
		return nil
	}
	check(t, must(Open(context.Background(), options))(t).Close())
	if folder := must(filepath.EvalSymlinks(filepath.Dir(options.Path)))(t); len(synced) != 1 || synced[0] != folder {
		t.Errorf("synced %q, want length 1 and %v", synced, folder)
	}
	options.syncFolder = func(string) error { return errors.New("input/output error") }
	wantRefusal(t, options, "cannot be synced")
}

// readOnlyDisk makes a store believe that its disk is mounted read-only. It
// still looks at the real folder, in which nothing may change.
func readOnlyDisk(options Options) Options {
	options.Server, options.ReadOnly = false, true
	options.fileSystem = func(string) (dbfile.FileSystem, error) {
		return dbfile.FileSystem{Known: true, Magic: 0xEF53, ReadOnly: true, Free: 1 << 30, Total: 1 << 40}, nil
	}
	return options
}

// content returns all the files of a folder.
func content(t *testing.T, folder string) (all string) {
	t.Helper()
	for name := range files(t, folder) {
		if filepath.Ext(name) != ".db-shm" { // the marks of readers are in it
			all += fmt.Sprintf("%s %x\n", name, must(os.ReadFile(filepath.Join(folder, name)))(t))
		}
	}
	return sorted(all)
}

// A backup needs no more of a database than to read it.
func TestBackupFromAReadOnlyDisk(t *testing.T) {
	closed := testOptions(t)
	s := must(Open(t.Context(), closed))(t)
	user(t, s, "ann")
	check(t, s.Close())

	live := testOptions(t)
	s = open(t, live)
	user(t, s, "ann")

	killed := testOptions(t)
	for _, suffix := range []string{"", "-wal", "-shm"} {
		check(t, os.WriteFile(killed.Path+suffix, must(os.ReadFile(live.Path+suffix))(t), 0o600))
	}
	for name, options := range map[string]Options{"closed": closed, "beside a server": live, "of a killed server": killed} {
		t.Run(name, func(t *testing.T) {
			before := content(t, filepath.Dir(options.Path))
			reading := open(t, readOnlyDisk(options))
			report := saved(t, reading)
			if report.Rows["users"] != 1 {
				t.Errorf("it has %d users, want 1", report.Rows["users"])
			}
			if content(t, filepath.Dir(options.Path)) != before {
				t.Error("the files were changed")
			}
			if f := Diagnose(t.Context(), readOnlyDisk(options), false); f[0].Health != Fine {
				t.Errorf("doctor says %+v, want Health %v", f, Fine)
			}
		})
	}
	check(t, os.Remove(killed.Path+"-shm"))
	_, err := Open(t.Context(), readOnlyDisk(killed))
	wantRefused(t, err, "read-only")
	killed.Path += ".missing"
	_, err = Open(t.Context(), readOnlyDisk(killed))
	wantRefused(t, err, "there is no database")
}

// A second server learns that another one runs, even if it could not use the database anyway.
func TestASecondServerOfAnotherPurpose(t *testing.T) {
	options := testOptions(t).as(true, false, true)
	open(t, options)
	wantRefusal(t, options.as(true, false, false), "another server has the database open")
}

// While a read-only store is open without locks, no server starts on the database.
func TestReadOnlyKeepsServersOut(t *testing.T) {
	options := testOptions(t)
	check(t, must(Open(t.Context(), options))(t).Close())
	reading := must(Open(t.Context(), readOnlyDisk(options)))(t)
	_, err := Open(t.Context(), options)
	wantRefused(t, err, "another server has the database open")
	check(t, reading.Close())
	open(t, options)
}

// A log that was begun when the power failed may hold its header and nothing
// else, beside an index that is empty. That is no reason to wait.
func TestOpenWithALogThatWasJustBegun(t *testing.T) {
	options := testOptions(t)
	s := must(Open(context.Background(), options))(t)
	user(t, s, "ann")
	header := must(os.ReadFile(options.Path + "-wal"))(t)[:logHeader]
	check(t, s.Close())
	check(t, os.WriteFile(options.Path+"-wal", header, 0o600))
	check(t, os.WriteFile(options.Path+"-shm", nil, 0o600))
	begin := time.Now()
	s = must(Open(context.Background(), options))(t)
	defer func() { check(t, s.Close()) }()
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("opening took %v, want at most %v", took, 5*time.Second)
	}
	if got := must(s.ServerOwner(context.Background()))(t).Name; got != "ann" {
		t.Errorf("the owner is %q, want ann", got)
	}
}

// The driver is a translation of C that fits exactly one version of its C
// library, the one that its own go.mod names; with another it has crashed.
func TestLibraryFitsDriver(t *testing.T) {
	list := func(format, module string) string {
		t.Helper()
		var stderr bytes.Buffer
		command := exec.Command("go", "list", "-m", "-f", format, module)
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("go list %s: %v: %s", module, err, &stderr)
		}
		return strings.TrimSpace(string(out))
	}
	got := list("{{.Version}}", "modernc.org/libc")
	for line := range strings.Lines(string(must(os.ReadFile(list("{{.GoMod}}", "modernc.org/sqlite")))(t))) {
		if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "modernc.org/libc" {
			if fields[1] != got {
				t.Errorf("go.mod has modernc.org/libc %s, the driver needs %s", got, fields[1])
			}
			return
		}
	}
	t.Error("the driver's go.mod names no modernc.org/libc")
}
