//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"blueprintd/blueprint"
)

// fileLock says that a server has the database. The system drops it when the
// process ends, however it ends. The file itself stays: removing it would let
// two servers hold locks on two files of one name.
type fileLock struct{ file *os.File }

// lockFile takes the lock, or names the process that holds it.
func lockFile(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer file.Close()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		holder := "another process"
		if text, err := io.ReadAll(io.LimitReader(file, 32)); err == nil && len(text) > 0 {
			holder = "process " + strings.TrimSpace(string(text))
		}
		return nil, &blueprint.Error{
			Code: blueprint.CodeConflict, Message: fmt.Sprintf("a server has this database already: %s holds %s", holder, path),
			Hint: "stop that server, or give this one a database of its own with --db",
		}
	}
	lock := &fileLock{file}
	if err := lock.sign(); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return lock, nil
}

// sign writes this process's number into the file, for people.
func (l *fileLock) sign() error {
	if err := l.file.Chmod(0o600); err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

func (l *fileLock) release() error { return l.file.Close() }
