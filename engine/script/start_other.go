//go:build !linux && !darwin

package script

import (
	"os"
	"syscall"
)

func executable() (string, error) { return os.Executable() }

func attributes() *syscall.SysProcAttr { return nil }

// rootFolder is where a child works; here, where its parent does.
const rootFolder = ""
