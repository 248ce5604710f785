//go:build unix

package dbfile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestLockOfTheDead takes a lock that a process left to another one for a moment.
// Nobody waits for the lock of one that lives.
func TestLockOfTheDead(t *testing.T) {
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
		{"a dead process, whose heir goes", fmt.Sprintf("%d\n", gone.Process.Pid), 3, 3, true},
		{"a dead process, whose heir stays", fmt.Sprintf("%d\nused\n", gone.Process.Pid), 0, heirTries, false},
		{"a process that lives", fmt.Sprintf("%d\n", os.Getpid()), 1, 0, false},
		{"nobody signed", "", 1, 0, false},
		{"no number", "me\n", 1, 0, false},
	} {
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
		if pauses != c.pauses || (err == nil) != c.taken || err != nil && !strings.Contains(err.Error(), "has this database already") {
			t.Errorf("%s: %d pauses, %v", c.name, pauses, err)
		}
		if lock != nil {
			lock.Release()
		}
		heir.Close()
	}
}
