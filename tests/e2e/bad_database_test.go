//go:build unix

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blueprintd/tests/process"
)

// unprivileged is a user id that owns nothing, for tests that run as root.
const unprivileged = 65534

// openFolder returns a temporary folder that any user can enter.
func openFolder(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, path := range []string{folder, filepath.Dir(folder)} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// usedDatabase creates a database my.db with a secret in it, as a killed server left it,
// and returns its folder.
func usedDatabase(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	s := process.Serve(t, "--db", filepath.Join(folder, "my.db"))
	s.Mutate("blueprint.create", object{"title": "T", "blueprint_map": object{"nodes": []any{node("a", "set", object{"values": object{}})}},
		"environment_variables": []any{object{"name": "token", "secret": true, "default": "hush"}}})
	s.Kill()
	return folder
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(from, entry.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, entry.Name()), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// filesIn returns the contents of a folder by path, except for the files that each
// start creates: the index of the log and the lock.
func filesIn(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, ".lock") {
			return err
		}
		found[path] = entry.Type().String()
		if entry.Type().IsRegular() {
			data, err := os.ReadFile(path)
			found[path] = fmt.Sprintf("%d bytes, %x", len(data), sha256.Sum256(data))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// openProgram copies the program to a place where any user can run it.
func openProgram(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(process.Path(t))
	path := filepath.Join(openFolder(t), "blueprintd")
	if err == nil {
		// A process that another test starts meanwhile would keep the copy open for writing,
		// so that it could not be run.
		syscall.ForkLock.RLock()
		err = os.WriteFile(path, data, 0o755)
		syscall.ForkLock.RUnlock()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// refusedBy runs a command of the binary, optionally as an unprivileged user, checks that
// it is refused soon and with a clear error, and returns its output.
func refusedBy(t *testing.T, asOther bool, args ...string) string {
	t.Helper()
	path := process.Path(t)
	if asOther && os.Geteuid() == 0 {
		path = openProgram(t)
	}
	const patience = 10 * time.Second // it takes a hundredth of that on a quiet machine
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, path, args...)
	command.Stdout, command.Stderr, command.Dir = &stdout, &stderr, "/"
	if asOther && os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: unprivileged, Gid: unprivileged}}
	}
	err := command.Run()
	var ended *exec.ExitError
	if !errors.As(err, &ended) || ctx.Err() != nil || ended.ExitCode() != exitFailed && ended.ExitCode() != exitUsage {
		t.Fatalf("blueprintd %s: %v\n%s%s", strings.Join(args, " "), err, &stdout, &stderr)
	}
	text := stderr.String()
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, " level=WARN ") {
			lines = append(lines, line)
		}
	}
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "blueprintd: ") || !strings.HasPrefix(lines[1], "hint: ") {
		t.Errorf("blueprintd %s says, instead of one line and a hint:\n%s", strings.Join(args, " "), text)
	}
	return text
}

func plainSQL(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err == nil {
		_, err = db.Exec(text)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// badDatabases are damaged or unusable databases. Each case damages a database my.db in a
// folder.
var badDatabases = []struct {
	name    string
	damage  func(t *testing.T, folder string) error
	says    string
	server  bool // only a server refuses it
	asOther bool
}{
	{name: "a text", says: "not an SQLite database", damage: func(t *testing.T, folder string) error {
		return overwrite(folder, strings.Repeat("Dear diary, today nothing happened. ", 99))
	}},
	{name: "a picture", says: "not an SQLite database", damage: func(t *testing.T, folder string) error {
		return overwrite(folder, "\x89PNG\r\n\x1a\n"+strings.Repeat("\x00\x01\x02\xff", 999))
	}},
	{name: "another program's", says: "belongs to another program", damage: func(t *testing.T, folder string) error {
		err := removeAll(folder, "my.db", "my.db-wal", "my.db-shm")
		plainSQL(t, filepath.Join(folder, "my.db"), "PRAGMA application_id = 7; PRAGMA journal_mode = WAL; CREATE TABLE theirs (x)")
		return err
	}},
	{name: "a newer one", says: "supports versions up to", damage: func(t *testing.T, folder string) error {
		plainSQL(t, filepath.Join(folder, "my.db"), "PRAGMA user_version = 99")
		return nil
	}},
	{name: "with other tables", says: "the tables of the database are not those", damage: func(t *testing.T, folder string) error {
		plainSQL(t, filepath.Join(folder, "my.db"), "ALTER TABLE users ADD COLUMN planted TEXT")
		return nil
	}},
	{name: "emptied", says: "is empty, but it was not", damage: func(t *testing.T, folder string) error {
		return errors.Join(os.Truncate(filepath.Join(folder, "my.db"), 0), removeAll(folder, "my.db-wal", "my.db-shm"))
	}},
	{name: "emptied beside its log", says: "is empty, but it was not", damage: func(t *testing.T, folder string) error {
		return errors.Join(os.Truncate(filepath.Join(folder, "my.db"), 0), removeAll(folder, "my.db.lock"))
	}},
	{name: "gone from its log", says: "is missing, but what was last written", server: true, damage: func(t *testing.T, folder string) error {
		return removeAll(folder, "my.db")
	}},
	{name: "gone with its log", says: "is missing, though a server has had it", server: true, damage: func(t *testing.T, folder string) error {
		return removeAll(folder, "my.db", "my.db-wal", "my.db-shm")
	}},
	{name: "cut short", says: "damaged", damage: func(t *testing.T, folder string) error {
		plainSQL(t, filepath.Join(folder, "my.db"), "PRAGMA wal_checkpoint(TRUNCATE)")
		return errors.Join(os.Truncate(filepath.Join(folder, "my.db"), 50_000), removeAll(folder, "my.db-wal", "my.db-shm"))
	}},
	{name: "with another's log", says: "is that of another database", damage: func(t *testing.T, folder string) error {
		other := usedDatabase(t)
		copyFolder(t, other, filepath.Join(folder, "other"))
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Rename(filepath.Join(folder, "other", "my.db"+suffix), filepath.Join(folder, "my.db"+suffix)); err != nil {
				return err
			}
		}
		return nil
	}},
	{name: "with a log of noise", says: "is damaged or no such log", damage: func(t *testing.T, folder string) error {
		return os.WriteFile(filepath.Join(folder, "my.db-wal"), bytes.Repeat([]byte("noise"), 9999), 0o600)
	}},
	{name: "with another key", says: "encrypted with another master key", damage: func(t *testing.T, folder string) error {
		return os.WriteFile(filepath.Join(folder, "my.db.key"), []byte(strings.Repeat("ab", 32)), 0o600)
	}},
	{name: "without a key", says: "my.db.key is missing", damage: func(t *testing.T, folder string) error { return removeAll(folder, "my.db.key") }},
	{name: "with half a key", says: "is not a master key", damage: func(t *testing.T, folder string) error {
		return os.WriteFile(filepath.Join(folder, "my.db.key"), []byte(strings.Repeat("ab", 16)), 0o600)
	}},
	{name: "with a folder for a key", says: "cannot be read: it is a folder", damage: func(t *testing.T, folder string) error {
		return errors.Join(removeAll(folder, "my.db.key"), os.Mkdir(filepath.Join(folder, "my.db.key"), 0o700))
	}},
	{name: "a folder", says: "is a folder", damage: func(t *testing.T, folder string) error {
		return errors.Join(removeAll(folder, "my.db"), os.Mkdir(filepath.Join(folder, "my.db"), 0o700))
	}},
	{name: "a pipe", says: "is not a file", damage: func(t *testing.T, folder string) error {
		return errors.Join(removeAll(folder, "my.db"), syscall.Mkfifo(filepath.Join(folder, "my.db"), 0o600))
	}},
	{name: "a device", says: "is not a file", damage: func(t *testing.T, folder string) error {
		other := filepath.Join(folder, "other")
		return errors.Join(removeAll(folder, "my.db"), os.Symlink("/dev/null", filepath.Join(other, "null")), os.Symlink(filepath.Join(other, "null"), filepath.Join(folder, "my.db")))
	}},
	{name: "a link to itself", says: "is a link to itself", damage: func(t *testing.T, folder string) error {
		return errors.Join(removeAll(folder, "my.db"), os.Symlink("my.db", filepath.Join(folder, "my.db")))
	}},
	{name: "a link to nothing", says: "", damage: func(t *testing.T, folder string) error {
		return errors.Join(removeAll(folder, "my.db"), os.Symlink("unmounted.db", filepath.Join(folder, "my.db")))
	}},
	{name: "with a mode for reading", says: "has mode 400 and cannot be opened for writing", asOther: true, damage: func(t *testing.T, folder string) error {
		return errors.Join(give(t, folder), os.Chmod(filepath.Join(folder, "my.db"), 0o400))
	}},
	{name: "of another user", says: "cannot be opened for writing", asOther: true, damage: func(t *testing.T, folder string) error {
		err := errors.Join(os.Chmod(folder, 0o777), os.Chmod(filepath.Join(folder, "my.db"), 0o400))
		return errors.Join(err, os.Chmod(filepath.Join(folder, "my.db.key"), 0o644))
	}},
	{name: "in a folder that is not writable", says: "is not writable", asOther: true, damage: func(t *testing.T, folder string) error {
		for _, name := range []string{"my.db", "my.db.key"} {
			if err := os.Chmod(filepath.Join(folder, name), 0o666); err != nil {
				return err
			}
		}
		return os.Chmod(folder, 0o555)
	}},
}

// give makes the unprivileged user of refusedBy the owner of a folder and its files, if root runs
// the tests.
func give(t *testing.T, folder string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	return filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chown(path, unprivileged, unprivileged))
	})
}

func overwrite(folder, text string) error {
	return errors.Join(removeAll(folder, "my.db-wal", "my.db-shm"), os.WriteFile(filepath.Join(folder, "my.db"), []byte(text), 0o600))
}

func removeAll(folder string, names ...string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, os.RemoveAll(filepath.Join(folder, name)))
	}
	return errors.Join(errs...)
}

// TestBadDatabases starts the server and a tool on databases that they must refuse, and
// verifies that the files stay unchanged.
func TestBadDatabases(t *testing.T) {
	t.Parallel()
	good := usedDatabase(t)
	for _, bad := range badDatabases {
		t.Run(bad.name, func(t *testing.T) {
			folder := openFolder(t)
			if err := os.Mkdir(filepath.Join(folder, "other"), 0o755); err != nil {
				t.Fatal(err)
			}
			copyFolder(t, good, folder)
			if err := bad.damage(t, folder); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(folder, 0o755) })
			before := filesIn(t, folder)
			database := filepath.Join(folder, "my.db")
			said := []string{refusedBy(t, bad.asOther, "serve", "--addr", "127.0.0.1:0", "--db", database)}
			tool := refusedBy(t, bad.asOther, "user", "list", "--db", database)
			if !bad.server {
				said = append(said, tool)
			}
			for _, text := range said {
				if !strings.Contains(text, bad.says) {
					t.Errorf("it says, without %q: %s", bad.says, text)
				}
			}
			if after := filesIn(t, folder); fmt.Sprint(after) != fmt.Sprint(before) {
				t.Errorf("the files were\n%v\nand are\n%v, want %v", before, after, fmt.Sprint(before))
			}
		})
	}
}

// TestUnreadableFiles starts a server beside files that only another user may open.
func TestUnreadableFiles(t *testing.T) {
	t.Parallel()
	good := usedDatabase(t)
	for _, name := range []string{"my.db.lock", "my.db-wal"} {
		t.Run(name, func(t *testing.T) {
			folder := openFolder(t)
			copyFolder(t, good, folder)
			file := filepath.Join(folder, name)
			if err := errors.Join(give(t, folder), os.Chmod(file, 0)); err != nil {
				t.Fatal(err)
			}
			want := file + ": permission denied\nhint: check the owner"
			if text := refusedBy(t, true, "serve", "--addr", "127.0.0.1:0", "--db", filepath.Join(folder, "my.db")); !strings.Contains(text, want) {
				t.Errorf("it says, without %q: %s", want, text)
			}
		})
	}
}

func TestBadPlaces(t *testing.T) {
	t.Parallel()
	folder := openFolder(t)
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ path, says string }{
		{filepath.Join(folder, "missing", "my.db"), "does not exist"},
		{filepath.Join(file, "my.db"), file},
		{"/proc/my.db", "/proc"},
	} {
		t.Run(test.path, func(t *testing.T) {
			if text := refusedBy(t, false, "serve", "--addr", "127.0.0.1:0", "--db", test.path); !strings.Contains(text, test.says) {
				t.Errorf("it says, without %q: %s", test.says, text)
			}
		})
	}
}

// TestIndexOfNoise checks that a damaged index of the write-ahead log is harmless: it is
// created again.
func TestIndexOfNoise(t *testing.T) {
	t.Parallel()
	folder := usedDatabase(t)
	for _, noise := range []string{"", "noise", strings.Repeat("noise", 9999)} {
		if err := os.WriteFile(filepath.Join(folder, "my.db-shm"), []byte(noise), 0o600); err != nil {
			t.Fatal(err)
		}
		process.Command(t, "user", "list", "--db", filepath.Join(folder, "my.db"))
	}
	process.Serve(t, "--db", filepath.Join(folder, "my.db")).Stop()
}
