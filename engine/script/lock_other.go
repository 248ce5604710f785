//go:build !linux && !darwin

package script

import (
	"os"
	"syscall"
	"time"
)

// systemProtectionGap is what this system lacks to confine scripts.
const systemProtectionGap = "limits of the process, and a filter of system calls: nothing but the interpreter holds a script"

func lockDown(int64) error { return nil }

// processorTime is unknown here.
func processorTime() time.Duration { return 0 }

// endedBy is unknown here.
func endedBy(*os.ProcessState, syscall.Signal) bool { return false }

func executable() (string, error) { return os.Executable() }

func attributes() *syscall.SysProcAttr { return nil }

// rootFolder is the child's working directory: that of its parent.
const rootFolder = ""
