package dbfile

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the lock of an open file until it closes, and reports success.
func tryLock(file *os.File) (free bool, err error) {
	return lockRange(file, windows.LOCKFILE_EXCLUSIVE_LOCK)
}

// tryShared is tryLock for a lock that several processes can share.
func tryShared(file *os.File) (free bool, err error) { return lockRange(file, 0) }

// lockRange locks one byte far beyond the end of the file: other processes cannot read a
// locked range, but must be able to read the process id.
func lockRange(file *os.File, how uint32) (free bool, err error) {
	FileSystem := &windows.Overlapped{OffsetHigh: 1 << 30}
	err = windows.LockFileEx(windows.Handle(file.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, FileSystem)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return true, nil
}

// release closes a file, which drops its lock.
func release(file *os.File) error { return file.Close() }

// isDead returns false, because children inherit no lock on Windows.
func isDead(string) bool { return false }
