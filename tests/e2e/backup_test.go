package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/store"
	"blueprintd/tests/process"
)

// presentSchema returns the schema of the program.
func presentSchema(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(process.File(t, "schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// stock creates a database of some megabytes that belongs to one user, with a write-ahead
// log beside it, as a killed server leaves it. Nothing in it is encrypted; the key beside
// it signs backups.
func stock(t *testing.T, folder, owner string, runs int) string {
	t.Helper()
	path := filepath.Join(folder, "made.db")
	s, err := store.Open(t.Context(), store.Options{Path: path, Schema: presentSchema(t), Clock: clock.Real{}, IDs: ids.New(nil), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	user, err := s.CreateUser(t.Context(), owner+"@example.org", owner)
	if err != nil {
		t.Fatal(err)
	}
	principal := blueprint.Principal{UserID: user.ID}
	b, err := s.CreateBlueprint(t.Context(), principal, blueprint.NewBlueprint{Title: "T", Map: map[string]any{"nodes": []any{}}})
	if err != nil {
		t.Fatal(err)
	}
	source := ids.New(nil)
	for range runs {
		now := clock.Real{}.Now()
		at := blueprint.TimeOf(now)
		row := blueprint.ExecutionRow{
			ID: source.ExecutionID(now), LogID: source.ULID(now), BlueprintID: b.ID, BlueprintVersion: b.Version, OrganizationID: b.OrganizationID,
			UserID: user.ID, Status: blueprint.StatusCompleted, CreatedAt: at, UpdatedAt: at, StartTime: at, EndTime: at,
		}
		if err := s.Commit(t.Context(), &blueprint.JournalCommit{Row: row, New: true, Record: bytes.Repeat([]byte("record "), 1<<14)}); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(folder, owner+".db")
	for _, suffix := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := os.WriteFile(out+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		os.Remove(path + suffix)
	}
	if err := os.WriteFile(out+".key", []byte(strings.Repeat("5a", secret.KeySize)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// ownerAndRuns opens a database, checks that it is sound, and returns the name of its
// only user and its number of runs.
func ownerAndRuns(t *testing.T, path string) (owner string, runs int) {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Path: path, Schema: presentSchema(t), Clock: clock.Real{}, IDs: ids.New(nil)})
	if err != nil {
		t.Fatalf("%s cannot be opened: %v", path, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var sound string
	if err := db.QueryRow("PRAGMA quick_check").Scan(&sound); err != nil || sound != "ok" {
		t.Fatalf("%s is not sound: %s %v, want ok", path, sound, err)
	}
	if err := db.QueryRow("SELECT name, (SELECT count(*) FROM executions) FROM users").Scan(&owner, &runs); err != nil {
		t.Fatal(err)
	}
	return owner, runs
}

// killed runs the binary, kills it after the given time unless it ends before, and
// reports whether it ended by itself.
func killed(t *testing.T, after time.Duration, args ...string) bool {
	t.Helper()
	path := process.Path(t)
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	out, err := exec.CommandContext(ctx, path, args...).CombinedOutput()
	if err != nil && ctx.Err() == nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return err == nil
}

// timed runs the binary and returns how long it took.
func timed(t *testing.T, args ...string) time.Duration {
	t.Helper()
	begin := time.Now()
	if !killed(t, time.Minute, args...) {
		t.Fatalf("%v did not end", args)
	}
	return time.Since(begin)
}

// kills returns how often a command is killed at a random moment.
func kills() int {
	if *thorough {
		return 30
	}
	return 5
}

// A killed backup leaves no incomplete file under the name of a backup, and nothing that
// prevents the next one.
func TestKilledBackup(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database := stock(t, folder, "ann", 100)
	target := filepath.Join(folder, "x.backup")
	whole := timed(t, "backup", target, "--db", database)
	whole = min(whole, timed(t, "backup", target, "--db", database, "--force"))
	random := rand.New(rand.NewPCG(1, 1))
	ended, partial := 0, 0
	for round := range kills() {
		os.Remove(target)
		if killed(t, time.Duration(random.Int64N(int64(whole))), "backup", target, "--db", database) {
			ended++
		}
		if _, err := os.Stat(target + ".partial"); err == nil {
			partial++
		}
		if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		copied := filepath.Join(t.TempDir(), "r.db")
		timed(t, "restore", target, "--db", copied, "--master-key-file", database+".key")
		if name, runs := ownerAndRuns(t, copied); name != "ann" || runs != 100 {
			t.Errorf("kill %d: a backup of %s with %d runs has the name, want ann and 100", round, name, runs)
		}
	}
	t.Logf("of %d backups, each of about %v, %d ended before they were killed and %d left a partial file", kills(), whole, ended, partial)
	timed(t, "backup", target, "--db", database, "--force")
	if _, err := os.Stat(target + ".partial"); err == nil {
		t.Error("the partial file of a killed backup is left, want an error")
	}
}

// A killed restore leaves either the old database or the new one.
func TestKilledRestore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	backup := filepath.Join(folder, "new.backup")
	timed(t, "backup", backup, "--db", stock(t, folder, "new", 100))
	key := filepath.Join(folder, "new.db.key")
	old := stock(t, folder, "old", 50)
	work := func() string {
		path := filepath.Join(t.TempDir(), "x.db")
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(old + suffix)
			if err == nil {
				err = os.WriteFile(path+suffix, data, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return path
	}
	if name, runs := ownerAndRuns(t, work()); name != "old" || runs != 50 {
		t.Fatalf("the old database is that of %s with %d runs, want old and 50", name, runs)
	}
	whole := min(timed(t, "restore", backup, "--db", work(), "--force", "--master-key-file", key), timed(t, "restore", backup, "--db", work(), "--force", "--master-key-file", key))
	random := rand.New(rand.NewPCG(1, 1))
	count := map[string]int{}
	for round := range kills() {
		path := work()
		killed(t, time.Duration(random.Int64N(int64(whole)*11/10)), "restore", backup, "--db", path, "--force", "--master-key-file", key)
		name, runs := ownerAndRuns(t, path)
		count[name]++
		if want := map[string]int{"old": 50, "new": 100}[name]; runs != want {
			t.Errorf("kill %d: the database of %q has %d runs, want %d", round, name, runs, want)
		}
		timed(t, "restore", backup, "--db", path, "--force", "--master-key-file", key)
		entries, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if strings.HasPrefix(entry.Name(), "x.db.restoring") {
				t.Errorf("kill %d: %s is left", round, entry.Name())
			}
		}
	}
	t.Logf("of %d restores, each of about %v: %v", kills(), whole, count)
}

// TestBackupBesideServer backs up a running server and starts another server on the backup:
// ended runs are there, unfinished ones continue.
func TestBackupBesideServer(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "a.db")
	s := process.Serve(t, "--db", database)
	pure := []any{node("say", "template", object{"text": "done"})}
	human := []any{node("ask", "human", object{"prompt": "Your name?"}), node("greet", "template", object{"text": "Hello {{input.name}}"})}
	finished := s.Launch(s.Create("pure", pure...), pure...)
	s.Until(finished, "completed")
	paused := s.Launch(s.Create("human", human...), human...)
	s.Until(paused, "paused")

	backup := filepath.Join(t.TempDir(), "a.backup")
	timed(t, "backup", backup, "--db", database)
	later := s.Launch(s.Create("later", pure...), pure...)
	s.Until(later, "completed")
	if r := process.Run(t, "restore", backup, "--db", database, "--force"); r.Code != exitFailed || !containsAll(r.Said(), "another server has the database open", "hint: stop that server") {
		t.Errorf("a restore under a running server ended with %d: %s", r.Code, r.Said())
	}
	s.Kill()

	restored := process.Run(t, "restore", backup, "--db", database, "--force")
	if restored.Code != 0 {
		t.Fatalf("%v, want Code 0", restored.Said())
	}
	if !containsAll(restored.Said(), "1 unfinished run will continue", "before-restore-", "all users are signed out", "keys revoked since then are valid again") {
		t.Errorf("the restore says: %s", restored.Said())
	}
	s = process.Serve(t, "--db", database)
	s.Until(finished, "completed")
	s.Until(paused, "paused")
	s.Mutate("execution.resume", object{"executionId": paused, "input": object{"name": "Ada"}})
	s.Until(paused, "completed")
	if status, _ := s.Post("/api/trpc/execution.retry", process.Key, object{"json": object{"executionId": later}}); status != 404 {
		t.Errorf("a run after the backup is answered with %d, want 404", status)
	}
	s.Stop()
}
