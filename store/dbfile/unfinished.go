package dbfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"blueprintd/blueprint"
)

// Suffixes of files that are being written.
const (
	PartialSuffix   = ".partial"   // a backup
	RestoringSuffix = ".restoring" // a restored database
)

// BackupPath returns the real path for a new backup, whose folder must exist.
func BackupPath(path string) (string, error) {
	refuse := func(hint, format string, args ...any) (string, error) {
		return "", &blueprint.Error{Code: blueprint.CodeBadRequest, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	const other = "create the folder, or choose another name for the backup"
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return refuse("name a file in it, such as "+filepath.Join(path, "my.backup"), "%s is a folder", path)
	}
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, fs.ErrNotExist):
		return refuse(other, "the folder %s does not exist", folder)
	case err == nil && !info.IsDir(), errors.Is(err, syscall.ENOTDIR):
		return refuse(other, "%s is not a folder", folder)
	}
	return RealPath(path)
}

// MayReplaceBackup refuses a name that exists: without force for any file, with force for
// any file that is not a backup.
func MayReplaceBackup(path string, force bool) error {
	if strings.HasSuffix(strings.ToLower(path), PartialSuffix) {
		return Refusal("choose another name", "%s cannot be the name of a backup: %s is the suffix of an unfinished one", path, PartialSuffix)
	}
	if err := MayReplace(path, force); err != nil {
		return err
	}
	is, err := isBackup(path)
	if is || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return Refusal("choose another name, or move that file away yourself",
		"%s is not a backup of blueprintd and is not replaced", path)
}

// MayReplace refuses a name that exists; with force, only if it is not a regular file.
func MayReplace(path string, force bool) error {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return blueprint.Errorf(blueprint.CodeBadRequest, "%s is not a file", path)
	case !force:
		return exists(path)
	}
	return nil
}

func exists(path string) error {
	return &blueprint.Error{Code: blueprint.CodeConflict, Message: path + " exists already", Hint: "choose another name, or replace it with --force"}
}

// ClaimPartial creates the file that a backup is written to, readable only by its owner,
// and locks it. It removes a leftover of a killed backup and never writes to it: it may be
// another name of a finished backup.
func ClaimPartial(path string) (*os.File, error) {
	for range 10 {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		fresh := err == nil
		if errors.Is(err, fs.ErrExist) {
			if file, err = os.OpenFile(path, os.O_RDWR, 0); errors.Is(err, fs.ErrNotExist) {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		free, err := tryLock(file)
		if err == nil && !free {
			err = &blueprint.Error{Code: blueprint.CodeConflict, Message: "another backup is being written to " + path, Hint: "wait for it, or choose another name"}
		}
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		if HasName(file, path) {
			if fresh {
				return file, nil
			}
			if err := MayRemove(path); err != nil {
				return nil, errors.Join(err, file.Close())
			}
			Remove(path)
		}
		if err := file.Close(); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s is created and removed repeatedly", path)
}

// HasName reports whether path still names an open file.
func HasName(file *os.File, path string) bool {
	here, err := file.Stat()
	there, otherErr := os.Lstat(path)
	return err == nil && otherErr == nil && os.SameFile(here, there)
}

// MayRemove refuses to remove a file that cannot be a leftover of a killed backup or
// restore. A leftover is empty, or begins like a database of this program and has neither a
// lock nor a key beside it, unlike a database in use. A complete backup is a leftover only
// under the name of an unfinished backup.
func MayRemove(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	foreign := Refusal("move that file away, or choose another name; nothing was changed", "%s is in the way, and is not a leftover of an interrupted backup or restore", path)
	if !info.Mode().IsRegular() {
		return foreign
	}
	if info.Size() == 0 {
		return nil
	}
	for _, suffix := range []string{".lock", ".key"} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return foreign
		}
	}
	header := make([]byte, headerSize)
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = file.ReadAt(header, 0)
	whole, wholeErr := isBackup(path)
	if err := errors.Join(wholeErr, file.Close()); err != nil {
		return err
	}
	if err != nil || !bytes.HasPrefix(header, []byte("SQLite format 3\x00")) || binary.BigEndian.Uint32(header[68:]) != ApplicationID {
		return foreign
	}
	if whole && !strings.HasSuffix(path, PartialSuffix) {
		return foreign
	}
	return nil
}

const (
	// headerSize is the size of the header of an SQLite database in bytes. The application
	// id of the program that created it is at byte 68.
	headerSize = 100
	// ApplicationID is the application id of a database of this program.
	ApplicationID = 0x62706431 // "bpd1"
)

// isBackup reports whether a file ends like a backup. It may be damaged.
func isBackup(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() < TrailerSize {
		return false, err
	}
	start := make([]byte, len(manifestStart))
	if _, err := file.ReadAt(start, info.Size()-TrailerSize); err != nil {
		return false, err
	}
	return string(start) == manifestStart, nil
}

// Remove removes a database with the files that SQLite may have left beside it.
func Remove(path string) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(path + suffix) // the next call removes leftovers
	}
}

// Publish atomically renames a finished file to its name.
func Publish(partial, path string, force bool) error {
	if force {
		if err := os.Rename(partial, path); err != nil {
			return err
		}
		return SyncFolder(filepath.Dir(path))
	}
	if err := os.Link(partial, path); errors.Is(err, fs.ErrExist) {
		return exists(path)
	} else if err != nil { // a file system without links
		if err := MayReplace(path, false); err != nil {
			return err
		}
		return Publish(partial, path, true)
	}
	_ = os.Remove(partial)
	return SyncFolder(filepath.Dir(path))
}

// Belongings returns the names of a database, its side files and its key file.
func Belongings(database, keyFile string) []string {
	names := []string{database}
	for _, suffix := range sideFiles {
		names = append(names, database+suffix)
	}
	if keyFile != "" {
		names = append(names, keyFile)
	}
	return names
}

// sideFiles are the suffixes of the files beside a database: those of SQLite, the
// lock and the master key.
var sideFiles = []string{"-wal", "-shm", "-journal", ".lock", ".key"}

// WithSides returns the names of a database and of the files of SQLite beside it.
func WithSides(path string) []string {
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
}

// CheckDistinct returns an error if one of names, which will be written or removed, is one
// of kept or another name of the same file.
func CheckDistinct(names, kept []string) error {
	for _, name := range names {
		for _, keep := range kept {
			if same(name, keep) {
				return &blueprint.Error{
					Code: blueprint.CodeBadRequest, Message: name + " cannot be written: it is " + keep + ", which is needed",
					Hint: "choose another name; nothing was changed",
				}
			}
		}
	}
	return nil
}

// same reports whether two names refer, or would refer, to one file.
func same(a, b string) bool {
	if resolved(a) == resolved(b) {
		return true
	}
	one, err := os.Stat(a)
	other, otherErr := os.Stat(b)
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// resolved returns the name of a file without symbolic links, as far as the path exists.
func resolved(path string) string {
	if real, err := RealPath(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
