package e2e

import (
	"blueprintd/tests/process"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The error about an unusable backup path names the path.
func TestBackupTarget(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database := stock(t, folder, "ann", 1)
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ target, says, hint string }{
		{filepath.Join(folder, "missing", "b"), "the folder " + filepath.Join(folder, "missing") + " does not exist", "another name for the backup"},
		{folder, folder + " is a folder", "name a file in it"},
		{file, "exists already", "--force"},
		{filepath.Join(file, "b"), "is not a folder", "another name for the backup"},
	} {
		name, _ := filepath.Rel(folder, test.target)
		t.Run(name, func(t *testing.T) {
			r := process.Run(t, "backup", test.target, "--db", database)
			if _, hint, _ := strings.Cut(r.Err, "hint: "); r.Code != exitFailed || !strings.Contains(r.Err, test.says) || !strings.Contains(hint, test.hint) || strings.Contains(hint, "database") {
				t.Errorf("backup %s: exit code %d: %s, want %v, %q in it, %q in it and no \"database\"", test.target, r.Code, r.Said(), exitFailed, test.says, test.hint)
			}
		})
	}
}

// The output about a backup is lines of text, with the right plurals.
func TestBackupSays(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	database := stock(t, folder, "ann", 1)
	if err := os.WriteFile(database+".key", []byte(strings.Repeat("ab", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	r := process.Run(t, "backup", filepath.Join(folder, "b"), "--db", database)
	text := r.Said()
	if r.Code != 0 || !containsAll(text, "1 blueprint, 0 triggers, 1 run (0 unfinished)", "\nwarning: the backup and the master key", "\nhint: keep") && !strings.HasPrefix(text, "warning: the backup") || strings.Contains(text, "level=") {
		t.Errorf("exit code %d: %s", r.Code, text)
	}
}

// A missing database or folder ends every command with the same exit code; a wrong flag has
// another one.
func TestMissingDatabase(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	backup := filepath.Join(folder, "b")
	process.Command(t, "backup", backup, "--db", stock(t, folder, "ann", 1))
	for _, path := range []string{filepath.Join(folder, "no.db"), filepath.Join(folder, "missing", "no.db"), folder} {
		for _, args := range [][]string{
			{"backup", filepath.Join(folder, "c")}, {"restore", backup}, {"doctor"}, {"serve", "--addr", "127.0.0.1:0"},
			{"export", "0000"}, {"user", "list"}, {"key", "list"}, {"user", "add", "--email", "a@example.org"},
		} {
			if path == filepath.Join(folder, "no.db") && (args[0] == "restore" || args[0] == "serve" || len(args) == 4) {
				continue // they create one
			}
			if r := process.Run(t, append(args, "--db", path)...); r.Code != exitFailed {
				t.Errorf("%v --db %s: exit code %d: %s, want %v", args, path, r.Code, r.Said(), exitFailed)
			}
		}
	}
	if r := process.Run(t, "backup", filepath.Join(folder, "c"), "--db", ""); r.Code != exitUsage {
		t.Errorf("without a name it ends with %d, want %v", r.Code, exitUsage)
	}
}
