//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package dbfile

import (
	"os"
	"runtime"

	"blueprintd/blueprint"
)

var errNoLocks = blueprint.Errorf(blueprint.CodeConflict, "a server cannot keep its database to itself on %s; use --ephemeral", runtime.GOOS)

func tryLock(*os.File) (free bool, err error) { return false, errNoLocks }

func tryShared(*os.File) (free bool, err error) { return true, nil }

func release(file *os.File) error { return file.Close() }

func isDead(string) bool { return false }
