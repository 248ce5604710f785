//go:build linux || darwin

package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ownersOf returns the user and the group of a file.
func ownersOf(t *testing.T, path string) [2]int {
	t.Helper()
	stat := must(os.Stat(path))(t).Sys().(*syscall.Stat_t)
	return [2]int{int(stat.Uid), int(stat.Gid)}
}

// service returns the user and group that own the server's files in these tests: another
// user's if root runs them, since only root can change owners.
func service() [2]int {
	if os.Geteuid() == 0 {
		return [2]int{65534, 65534}
	}
	return [2]int{os.Geteuid(), os.Getegid()}
}

// A restored database belongs to whom the one before belonged to, or the folder
// when there was none; so does the lock.
func TestRestoreKeepsTheOwner(t *testing.T) {
	s := open(t, testOptions(t))
	user(t, s, "ann")
	backup := saved(t, s).Path
	want := service()
	for _, test := range []struct {
		name           string
		before, folder bool // what is the service's
	}{{"the file", true, false}, {"the folder", false, true}} {
		t.Run(test.name, func(t *testing.T) {
			options := s.options
			options.Path = filepath.Join(t.TempDir(), "r.db")
			if test.folder {
				check(t, os.Chown(filepath.Dir(options.Path), want[0], want[1]))
			}
			if test.before {
				must(Restore(t.Context(), backup, options, RestoreOptions{}))(t)
				check(t, os.Remove(options.Path+".lock"))
				check(t, os.Chown(options.Path, want[0], want[1]))
			}
			report := must(Restore(t.Context(), backup, options, RestoreOptions{Force: true, PauseTriggers: true}))(t)
			for _, path := range []string{options.Path, options.Path + ".lock", report.Before} {
				if path == "" {
					continue
				}
				if got := ownersOf(t, path); got != want {
					t.Errorf("%s belongs to %v, want %v", filepath.Base(path), got, want)
				}
			}
		})
	}
}

// Two names of one file have two locks: under either name it is refused.
func TestSecondName(t *testing.T) {
	options := testOptions(t)
	s := must(Open(t.Context(), options))(t)
	second := options
	second.Path = filepath.Join(t.TempDir(), "second.db")
	check(t, os.Link(options.Path, second.Path))
	_, err := Open(t.Context(), second)
	wantRefused(t, err, "more than one name")
	check(t, s.Close())
	_, err = Open(t.Context(), options)
	wantRefused(t, err, "more than one name")
	if f := Diagnose(t.Context(), options, false); worst(f) != Broken || !strings.Contains(f[0].Message, "more than one name") || f[0].Fix == "" {
		t.Errorf("doctor says %+v, want %v, \"more than one name\" in it and Fix not empty", f, Broken)
	}
	check(t, os.Remove(second.Path))
	open(t, options)
}

// The second name that a restore has left which was killed is no reason to
// refuse the database, and goes at the next start.
func TestSecondNameOfARestore(t *testing.T) {
	options := testOptions(t)
	check(t, must(Open(t.Context(), options))(t).Close())
	for _, suffix := range []string{".restoring", ".before-restore-20260301T120000.000Z"} {
		check(t, os.Link(options.Path, options.Path+suffix))
	}
	tool := options
	tool.Server = false
	check(t, must(Open(t.Context(), tool))(t).Close())
	if f := Diagnose(t.Context(), options, false); worst(f[:1]) != Fine {
		t.Errorf("doctor says %+v, want %v", f, Fine)
	}
	kept := options
	kept.Path += ".before-restore-20260301T120000.000Z"
	_, err := Open(t.Context(), kept)
	wantRefused(t, err, "more than one name")
	open(t, options)
	if got := must(os.Stat(options.Path))(t).Sys().(*syscall.Stat_t).Nlink; got != 1 {
		t.Errorf("it has %d names, want 1", got)
	}
}
