//go:build unix

package dbfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReleaseBesideAChild takes a lock again while a copy of its descriptor is open, as in a
// child that has not executed its program yet.
func TestReleaseBesideAChild(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	lock, err := AcquireLock(path)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := syscall.Dup(int(lock.file.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := LockHolder(path); held || err != nil {
		t.Errorf("held %v, %v; want a free lock", held, err)
	}
	again, err := AcquireLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}

// TestLockOfAnEndedProcess takes a lock that an ended process left to another one for a moment.
// The lock of a running process is refused at once.
func TestLockOfAnEndedProcess(t *testing.T) {
	gone := exec.Command(os.Args[0], "-test.run=^$")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, signed  string
		releasedAfter int // pauses; 0 = never
		pauses        int
		taken         bool
	}{
		{"an ended process, whose heir ends", fmt.Sprintf("%d\n", gone.Process.Pid), 3, 3, true},
		{"an ended process, whose heir runs on", fmt.Sprintf("%d\nused\n", gone.Process.Pid), 0, heirTries, false},
		{"a running process", fmt.Sprintf("%d\n", os.Getpid()), 1, 0, false},
		{"no process id", "", 1, 0, false},
		{"no number", "me\n", 1, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.lock")
			if err := os.WriteFile(path, []byte(c.signed), 0o600); err != nil {
				t.Fatal(err)
			}
			heir, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			if free, err := tryLock(heir); !free || err != nil {
				t.Fatal(free, err)
			}
			pauses := 0
			lock, err := lockAfter(path, func() {
				if pauses++; pauses == c.releasedAfter {
					heir.Close()
				}
			})
			if pauses != c.pauses || (err == nil) != c.taken || err != nil && !strings.Contains(err.Error(), "has the database open") {
				t.Errorf("%d pauses, %v; want pauses %v and taken %v", pauses, err, c.pauses, c.taken)
			}
			if lock != nil {
				lock.Release()
			}
			heir.Close()
		})
	}
}
