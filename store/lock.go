package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// fileLock says that a server has the database. The system drops it when the
// process ends, however it ends. The file itself stays: removing it would let
// two servers hold locks on two files of one name.
type fileLock struct{ file *os.File }

// How often, and how often at most, a lock is tried again that a dead process
// left behind.
const (
	heirInterval = 20 * time.Millisecond
	heirTries    = 150
)

// lockFile takes the lock, or names the process that holds it.
//
// A server that is killed while it starts another program leaves its lock for a
// moment to what is to become that: it has all files of its parent until then,
// for some hundred milliseconds on a busy machine. So where the process that
// signed the file is dead, its heirs are waited for.
func lockFile(path string) (*fileLock, error) {
	return lockAfter(path, func() { <-time.NewTimer(heirInterval).C })
}

// lockAfter is lockFile with another pause between two tries.
func lockAfter(path string, pause func()) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	free, err := tryLock(file)
	for tries := 0; err == nil && !free && tries < heirTries && isDead(signer(file)); tries++ {
		pause()
		free, err = tryLock(file)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if !free {
		defer file.Close()
		holder := "another process"
		if number := signer(file); number != "" {
			holder = "process " + number
		}
		return nil, lockedBy(holder, path)
	}
	lock := &fileLock{file}
	if err := lock.sign(); err != nil {
		return nil, errors.Join(err, lock.release())
	}
	return lock, nil
}

// signer gives the number of the process that signed a lock file, "" when none
// did.
func signer(file *os.File) string {
	text := make([]byte, 32)
	n, _ := file.ReadAt(text, 0)
	number, _, _ := strings.Cut(string(text[:n]), "\n")
	return number
}

// lockedBy says that another process has a database.
func lockedBy(holder, path string) error {
	return refusal("stop that server, or give this one a database of its own with --db", "a server has this database already: %s holds %s", holder, path)
}

// sign writes this process's number into the file, for people, and keeps what
// stands behind it.
func (l *fileLock) sign() error {
	if err := l.file.Chmod(0o600); err != nil {
		return err
	}
	before := make([]byte, 64)
	n, _ := l.file.ReadAt(before, 0)
	_, rest, _ := strings.Cut(string(before[:n]), "\n")
	return l.write(rest)
}

// usedMark stands in a lock file, behind the number of the process, once the
// database holds something.
const usedMark = "used\n"

// markUsed notes that the database is more than an empty file.
func (l *fileLock) markUsed() error { return l.write(usedMark) }

func (l *fileLock) write(rest string) error {
	text := fmt.Appendf(nil, "%d\n%s", os.Getpid(), rest)
	if _, err := l.file.WriteAt(text, 0); err != nil {
		return err
	}
	return l.file.Truncate(int64(len(text)))
}

// holder tells which process holds a lock, if any does. It makes no file.
func holder(path string) (number string, held bool, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer file.Close() // which also drops the lock, if it was free
	free, err := tryShared(file)
	if free || err != nil {
		return "", false, err
	}
	return signer(file), true, nil
}

// IsServed tells whether a server has the database, or another process that writes
// to it alone. It waits for nobody and changes nothing; false when that cannot be
// known.
func IsServed(path string) (served, known bool) {
	_, held, err := holder(path + ".lock")
	return held, err == nil
}

// used tells whether a server that held this lock has used its database.
func used(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.HasSuffix(string(text), "\n"+usedMark)
}

func (l *fileLock) release() error { return l.file.Close() }
