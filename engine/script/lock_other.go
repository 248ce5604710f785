//go:build !linux && !darwin

package script

import (
	"os"
	"syscall"
	"time"
)

// systemWeakness is what this system does not keep scripts from.
const systemWeakness = "limits of the process, and a filter of system calls: nothing but the interpreter holds a script"

// lockDown has nothing to give up here.
func lockDown(int64) error { return nil }

// processorTime is not known here.
func processorTime() time.Duration { return 0 }

// endedBy cannot be told here.
func endedBy(*os.ProcessState, syscall.Signal) bool { return false }

func executable() (string, error) { return os.Executable() }

func attributes() *syscall.SysProcAttr { return nil }

// rootFolder is where a child works; here, where its parent does.
const rootFolder = ""
