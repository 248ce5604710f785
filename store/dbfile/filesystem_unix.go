//go:build linux || darwin

package dbfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Stat asks the system about the file system of a path.
func Stat(path string) (FileSystem, error) {
	var found syscall.Statfs_t
	if err := syscall.Statfs(path, &found); err != nil {
		return FileSystem{}, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	size := int64(found.Bsize)
	p := FileSystem{Known: true, ReadOnly: found.Flags&1 != 0, Free: int64(found.Bavail) * size, Total: int64(found.Blocks) * size}
	p.Magic = kindOf(&found)
	return p, nil
}

// Writable tells whether this process may read and write what is at a path.
func Writable(path string) error {
	const readAndWrite = 4 | 2
	if err := syscall.Access(path, readAndWrite); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// OwnerName names the user that a file belongs to, by number.
func OwnerName(info os.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("user %d", stat.Uid)
	}
	return "somebody"
}

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

// links tells how many names a file has.
func links(info os.FileInfo) uint64 {
	if stat, known := info.Sys().(*syscall.Stat_t); known {
		return uint64(stat.Nlink)
	}
	return 1
}
