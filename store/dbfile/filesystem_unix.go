//go:build linux || darwin

package dbfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"blueprintd/blueprint"
)

// Stat describes the file system of a path.
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

// Writable returns an error if this process may not read and write a path.
func Writable(path string) error {
	const readAndWrite = 4 | 2
	if err := syscall.Access(path, readAndWrite); err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	return nil
}

// CheckWritable returns an error that describes why a database cannot be opened for writing.
func CheckWritable(path string, info os.FileInfo) *blueprint.Error {
	err := Writable(path)
	if err == nil {
		return nil
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	owned := known && int(stat.Uid) == os.Geteuid()
	switch {
	case errors.Is(err, syscall.EROFS):
		return Refusal("mount it writable, or choose another place with --db", "the database %s cannot be opened for writing: %s", path, errors.Unwrap(err))
	case !errors.Is(err, fs.ErrPermission) || !known || os.Geteuid() == 0 || owned && info.Mode()&0o600 == 0o600:
		return Refusal("look for what protects it, such as attributes (lsattr) or a security module", "the database %s cannot be opened for writing: %s", path, errors.Unwrap(err))
	case owned:
		return Refusal("chmod 600 "+blueprint.ShellWord(path), "the database %s has mode %o and cannot be opened for writing", path, info.Mode().Perm())
	}
	return Refusal("run blueprintd as that user, or give it the file with chown", "the database %s belongs to user %d and cannot be opened for writing", path, stat.Uid)
}

// IsOwned reports whether this process is run by the owner of a file, or by root.
func IsOwned(info os.FileInfo) bool {
	stat, known := info.Sys().(*syscall.Stat_t)
	return !known || os.Geteuid() == 0 || int(stat.Uid) == os.Geteuid()
}

// GiveTo sets the owner and group of an open file, which will replace the one at path, to
// those of that file, or of its folder if there is none: root may create the file for a
// server that runs as another user. Only root can change an owner; for other users the
// attempt may fail without an error.
func GiveTo(file *os.File, path string) error {
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

// links returns the number of names (hard links) of a file.
func links(info os.FileInfo) uint64 {
	if stat, known := info.Sys().(*syscall.Stat_t); known {
		return uint64(stat.Nlink)
	}
	return 1
}
