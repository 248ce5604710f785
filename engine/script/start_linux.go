package script

import (
	"os"
	"syscall"
)

// executable is this very program, also when its file was replaced since.
func executable() (string, error) {
	const self = "/proc/self/exe"
	if _, err := os.Lstat(self); err == nil {
		return self, nil
	}
	return os.Executable()
}

// attributes put a child into a group of its own, away from the terminal's
// interrupts, and let it end with its parent.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

const rootFolder = "/"
