//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import (
	"os"
	"runtime"

	"blueprintd/blueprint"
)

// fileLock cannot be had on this system.
type fileLock struct{}

func lockFile(string) (*fileLock, error) {
	return nil, blueprint.Errorf(blueprint.CodeConflict, "a server cannot keep its database to itself on %s; use --ephemeral", runtime.GOOS)
}

func (l *fileLock) release() error { return nil }

func (l *fileLock) markUsed() error { return nil }

func holder(string) (number string, held bool, err error) { return "", false, nil }

func used(string) bool { return false }

// tryLock has nothing to lock with: two backups of one name at once are each
// other's trouble, and end with an error.
func tryLock(*os.File) (free bool, err error) { return true, nil }
