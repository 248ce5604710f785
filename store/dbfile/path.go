// Package dbfile handles a database as a file: its file system, its lock, its owner,
// the files beside it, and the format of its backups. It runs no SQL.
//
// # Lock
//
// A server holds a lock on FILE.lock for as long as it runs; the operating system
// drops it with the process. The lock file names the process and the address of
// the server, and records that the database has been used, so that a database
// that is missing later is noticed.
//
// # Files
//
// SQLite keeps FILE-wal, FILE-shm and FILE-journal beside a database. A backup is
// written to NAME.partial and a restored database to FILE.restoring; each gets its
// name only when it is complete and on the disk. What a restore replaces is kept
// as FILE.before-restore-TIME. The copy that an upgrade leaves is FILE.v8, where 8 is its
// schema version; it is written to FILE.v8.partial.
//
// # Backups
//
// A backup consists of the pages of a database and a trailer with a manifest, a
// signature and a digest of every byte before it; see AppendTrailer.
package dbfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"blueprintd/blueprint"
)

// Refusal returns the error, with a hint, for a file that cannot be opened or written.
func Refusal(hint, format string, args ...any) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeConflict, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// RealPath resolves symbolic links, so that two names share a lock. The file may not exist.
func RealPath(path string) (string, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, "%q is not a name for a database file", path)
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(absolute)
	if _, missing := os.Stat(absolute); err != nil && errors.Is(missing, syscall.ELOOP) {
		return "", Refusal("fix the link, or name the file itself with --db", "%s is a link to itself", path)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return real, err
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if errors.Is(err, fs.ErrNotExist) {
		return "", &blueprint.Error{
			Code: blueprint.CodeBadRequest, Message: fmt.Sprintf("the folder %s does not exist", filepath.Dir(absolute)),
			Hint: "create the folder, or choose another place for the database",
		}
	}
	return filepath.Join(folder, filepath.Base(absolute)), err
}

// Create creates an empty file that only its owner may read, so that SQLite, which gives
// its other files the same mode, never creates a readable one. An existing file is not
// opened: closing it would drop the locks of another connection of this process.
func Create(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return file.Close()
	}
	info, statErr := os.Stat(path)
	if statErr != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return blueprint.Errorf(blueprint.CodeBadRequest, "%s is not a file", path)
	}
	return nil
}

// Restrict removes all rights of other users from a file, if it exists.
func Restrict(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return &blueprint.Error{
			Code: blueprint.CodeConflict, Message: fmt.Sprintf("other users may read %s", path),
			Hint: "chmod 600 " + path, Err: err,
		}
	}
	return nil
}

// SyncFolder syncs the names in a folder to the disk. It has no effect on Windows.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, folder.Close())
}

// CopyFile copies a file with its owner. It gets its final name once it is on the disk.
func CopyFile(from, to string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	unfinished := to + ".copying"
	target, err := os.OpenFile(unfinished, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, GiveTo(target, from), target.Sync(), target.Close()); err == nil {
		err = os.Rename(unfinished, to)
	}
	if err != nil {
		_ = os.Remove(unfinished)
	}
	return err
}

// BeforeRestore is the part between the name of a database and the time, in the name under
// which a replaced database is kept.
const BeforeRestore = ".before-restore-"

// CheckLinks refuses a database file that has a second hard link: each name has a lock of
// its own, so two servers could open it. Links left by a killed restore do not count; they
// share the lock of the database.
func CheckLinks(path string, info os.FileInfo) error {
	if names := links(info); names < 2 || names <= 1+uint64(len(leftLinks(path, info))) {
		return nil
	}
	return Refusal("remove the other names (find FOLDER -samefile "+path+" shows them), or make a file of its own: cp "+path+" "+path+".copy && mv "+path+".copy "+path+", with the server stopped",
		"the database %s is a file with more than one name (hard link), and under each another server could open it", path)
}

// leftLinks lists the other names of a database left by a killed restore.
func leftLinks(path string, info os.FileInfo) (names []string) {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		suffix, is := strings.CutPrefix(entry.Name(), filepath.Base(path))
		if !is || suffix != RestoringSuffix && !strings.HasPrefix(suffix, BeforeRestore) {
			continue
		}
		if other, err := entry.Info(); err == nil && os.SameFile(info, other) {
			names = append(names, filepath.Join(folder, entry.Name()))
		}
	}
	return names
}

// DropLinks removes the other names of a database left by a killed restore. The caller
// holds the lock, as a restore does.
func DropLinks(path string) {
	info, err := os.Stat(path)
	if err != nil || links(info) < 2 {
		return
	}
	for _, name := range leftLinks(path, info) {
		_ = os.Remove(name) // the next start tries again
	}
}
