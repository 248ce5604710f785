//go:build linux || darwin

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// giveTo gives an open file, which takes the place of the one at path, the owner
// and group of that one, or of its folder when there is none: root may have made
// it for a server that runs as somebody else. Only root can; for anybody else
// the owner is the same already, or another one may not be had.
func giveTo(file *os.File, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	wanted, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return nil
	}
	if info, err = file.Stat(); err != nil {
		return err
	}
	if has, known := info.Sys().(*syscall.Stat_t); known && has.Uid == wanted.Uid && has.Gid == wanted.Gid {
		return nil
	}
	if err := file.Chown(int(wanted.Uid), int(wanted.Gid)); err != nil && os.Geteuid() == 0 {
		return err
	}
	return nil
}

// namesOf tells how many names a file has.
func namesOf(info os.FileInfo) uint64 {
	if stat, known := info.Sys().(*syscall.Stat_t); known {
		return uint64(stat.Nlink)
	}
	return 1
}
