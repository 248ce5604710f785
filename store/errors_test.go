package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/store/dbfile"
)

// codedError is an error as the driver gives it.
type codedError int

func (e codedError) Error() string { return "of the driver" }

func (e codedError) Code() int { return int(e) }

// What has failed for good is called what it is, and the hint leads on.
func TestBrokenHints(t *testing.T) {
	for _, test := range []struct {
		err     error
		message string
		hints   []string
	}{
		{codedError(sqliteIOError | 3<<8), "the disk of the database has failed", []string{"system log", "blueprintd doctor --full", "blueprintd restore"}},
		{codedError(sqliteCorrupt), "is damaged", []string{"blueprintd doctor --full", "blueprintd restore"}},
		{codedError(sqliteNotADB), "is damaged", []string{"blueprintd doctor --full", "blueprintd restore"}},
		{errFenced, "another server", []string{"only one server"}},
		{errors.New("else"), "the database has failed", []string{"blueprintd doctor --full"}},
	} {
		t.Run(test.message, func(t *testing.T) {
			var told *blueprint.Error
			if !errors.As(broken(test.err), &told) || told.Code != blueprint.CodeUnavailable || !strings.Contains(told.Message, test.message) {
				t.Errorf("%v: told %+v, want Code %v and %q in it", test.err, told, blueprint.CodeUnavailable, test.message)
				return
			}
			for _, part := range test.hints {
				if !strings.Contains(told.Hint, part) {
					t.Errorf("%v: the hint is %q, want %q in it", test.err, told.Hint, part)
				}
			}
			if strings.Contains(told.Message+told.Hint, "  ") {
				t.Errorf("%v: %q %q, want no \"  \"", test.err, told.Message, told.Hint)
			}
		})
	}
}

// A damaged database is not backed up: one clear line says so, and what to do.
func TestBackupOfADamagedDatabase(t *testing.T) {
	options := testOptions(t)
	s := must(Open(t.Context(), options))(t)
	ann := user(t, s, "ann")
	b := create(t, s, ann, "T")
	check(t, s.Commit(t.Context(), finished(s, b, ann, []byte("{}"))))
	var roots [2]int64
	check(t, s.read(t.Context(), func(q *session) error {
		const query = "SELECT rootpage FROM sqlite_schema WHERE name = ?"
		return errors.Join(q.row(query, []any{"executions"}, &roots[0]), q.row(query, []any{"blueprint_contents"}, &roots[1]))
	}))
	check(t, s.Close())
	good := must(os.ReadFile(options.Path))(t)
	for _, root := range roots {
		data := append([]byte(nil), good...)
		copy(data[(root-1)*4096:], make([]byte, 4096))
		damagedFile := options
		damagedFile.Server, damagedFile.Path = false, filepath.Join(t.TempDir(), "damaged.db")
		check(t, os.WriteFile(damagedFile.Path, data, 0o600))
		s := open(t, damagedFile)
		target := filepath.Join(t.TempDir(), "x.backup")
		_, err := s.Backup(t.Context(), target, BackupOptions{})
		wantRefused(t, err, "the database is damaged")
		if hint := hintOf(err, ""); !strings.Contains(hint, "doctor --full") || !strings.Contains(hint, "blueprintd restore") {
			t.Errorf("page %d: the hint is %q, want \"doctor --full\" in it and \"blueprintd restore\" in it", root, hint)
		}
		if got := files(t, filepath.Dir(target)); len(got) != 0 {
			t.Errorf("files %v, want none", got)
		}
	}
}

// A start that fails because the disk is full says so, whatever it failed in.
func TestFullAtStart(t *testing.T) {
	full := testOptions(t)
	full.fileSystem = func(string) (dbfile.FileSystem, error) { return dbfile.FileSystem{Known: true, Total: 1 << 30}, nil }
	roomy := full
	roomy.fileSystem = func(string) (dbfile.FileSystem, error) {
		return dbfile.FileSystem{Known: true, Free: 1 << 30, Total: 1 << 30}, nil
	}
	for _, test := range []struct {
		options Options
		err     error
		full    bool
	}{
		{full, codedError(sqliteFull), true},
		{roomy, codedError(sqliteFull), true},
		{roomy, &os.PathError{Op: "write", Path: "x.lock", Err: syscall.ENOSPC}, true},
		{full, codedError(sqliteIOError | 19<<8), true},
		{full, codedError(sqliteCannotOpen), true},
		{roomy, codedError(sqliteIOError), false},
		{full, codedError(sqliteCorrupt), false},
	} {
		t.Run(fmt.Sprintf("%#v", test.err), func(t *testing.T) {
			err := unopened(test.options.fullAtStart(test.err))
			if got := strings.Contains(messageOf(err), "disk of the database is full"); got != test.full || got && !strings.Contains(hintOf(err, ""), "start again") {
				t.Errorf("%v: %v, hint %q; want full %v", test.err, err, hintOf(err, ""), test.full)
			}
		})
	}
}

// TestUnopenedHints: the hint at a start does not speak of a server that goes on.
func TestUnopenedHints(t *testing.T) {
	err := unopened(codedError(sqliteReadOnly))
	const want = "make the database file, its folder and its disk writable; then start again"
	if got := hintOf(err, ""); got != want || messageOf(err) != "the database is read-only" {
		t.Errorf("%v, hint %q; want the hint %q", err, got, want)
	}
	if got := hintOf(unopened(errAway), ""); !strings.HasSuffix(got, "; then start again") || !strings.HasSuffix(errAway.Hint, goesOn) {
		t.Errorf("hint %q at the start, %q later", got, errAway.Hint)
	}
}
