//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package store

import (
	"runtime"

	"blueprintd/blueprint"
)

// fileLock cannot be had on this system.
type fileLock struct{}

func lockFile(string) (*fileLock, error) {
	return nil, blueprint.Errorf(blueprint.CodeConflict, "a server cannot keep its database to itself on %s; use --ephemeral", runtime.GOOS)
}

func (l *fileLock) release() error { return nil }
