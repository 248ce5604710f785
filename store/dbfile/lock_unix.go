//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package dbfile

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// tryLock takes the lock of an open file until it closes, and reports success.
func tryLock(file *os.File) (free bool, err error) { return flock(file, syscall.LOCK_EX) }

// tryShared is tryLock for a lock that several processes can share.
func tryShared(file *os.File) (free bool, err error) { return flock(file, syscall.LOCK_SH) }

func flock(file *os.File, how int) (free bool, err error) {
	err = syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return true, nil
}

// release drops the lock of a file and closes it. Closing alone would leave the lock to a
// child that has not executed its program yet: see flock(2).
func release(file *os.File) error {
	_, err := flock(file, syscall.LOCK_UN)
	return errors.Join(err, file.Close())
}

// isDead reports whether the process with a given id no longer exists.
func isDead(number string) bool {
	pid, err := strconv.Atoi(number)
	return err == nil && pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
