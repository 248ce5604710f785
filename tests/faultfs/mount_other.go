//go:build !linux

package faultfs

import "errors"

// Mounted is a mounted disk.
type Mounted struct{}

// Mount always fails here.
func Mount(string, *Disk) (*Mounted, error) {
	return nil, errors.New("a disk that fails on purpose needs Linux and /dev/fuse")
}

// Unmount has no effect.
func (m *Mounted) Unmount() error { return nil }
