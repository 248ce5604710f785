package script

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

// attributes put a child into a group of its own, away from the terminal's
// interrupts.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

const rootFolder = "/"
