package script

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// systemProtectionGap is what this system lacks to confine scripts.
const systemProtectionGap = "a filter of system calls, and a memory limit besides that of the interpreter"

// lockDown drops the privileges that the system lets a process drop. Only the interpreter
// limits memory here.
func lockDown(int64) error {
	for fd := 3; fd < 1024; fd++ {
		unix.Close(fd)
	}
	for _, limit := range []struct {
		name     string
		resource int
		most     uint64
	}{
		{"processor time", unix.RLIMIT_CPU, uint64((2*maxChildTime + MaxTimeout) / time.Second)},
		{"core", unix.RLIMIT_CORE, 0},
		{"file size", unix.RLIMIT_FSIZE, 0},
		{"processes", unix.RLIMIT_NPROC, 0},
		{"files", unix.RLIMIT_NOFILE, 0},
	} {
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.most, Max: limit.most}); err != nil {
			return fmt.Errorf("the limit of %s: %w", limit.name, err)
		}
	}
	return nil
}

func executable() (string, error) { return os.Executable() }

// attributes puts a child into its own process group, without the terminal's interrupts.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

const rootFolder = "/"
