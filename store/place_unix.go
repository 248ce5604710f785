//go:build linux || darwin

package store

import (
	"fmt"
	"os"
	"syscall"
)

// lookAround asks the system about the file system of a path.
func lookAround(path string) (place, error) {
	var found syscall.Statfs_t
	if err := syscall.Statfs(path, &found); err != nil {
		return place{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	size := int64(found.Bsize)
	p := place{known: true, readOnly: found.Flags&1 != 0, free: int64(found.Bavail) * size, total: int64(found.Blocks) * size}
	p.magic = kindOf(&found)
	return p, nil
}

// writable tells whether this process may read and write what is at a path.
func writable(path string) error {
	const readAndWrite = 4 | 2
	if err := syscall.Access(path, readAndWrite); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// ownerOf names the user that a file belongs to, by number.
func ownerOf(info os.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("user %d", stat.Uid)
	}
	return "somebody"
}
