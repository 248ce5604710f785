package dbfile

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Lock says that a server has the database. The system drops it when the
// process ends, however it ends. The file itself stays: removing it would let
// two servers hold locks on two files of one name.
type Lock struct {
	file *os.File

	mu      sync.Mutex // guards the rest, which stands in the file
	address string     // of the server, "" until it is known
	used    bool       // the database is more than an empty file
}

// How often, and how often at most, a lock is tried again that a dead process
// left behind.
const (
	heirInterval = 20 * time.Millisecond
	heirTries    = 150
)

// AcquireLock takes the lock, or names the process that holds it.
//
// A server that is killed while it starts another program leaves its lock for a
// moment to what is to become that: it has all files of its parent until then,
// for some hundred milliseconds on a busy machine. So where the process that
// signed the file is dead, its heirs are waited for.
func AcquireLock(path string) (*Lock, error) {
	return lockAfter(path, func() { <-time.NewTimer(heirInterval).C })
}

// lockAfter is AcquireLock with another pause between two tries.
func lockAfter(path string, pause func()) (*Lock, error) {
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
		return nil, LockedBy(holder, path)
	}
	lock := &Lock{file: file}
	if err := lock.sign(); err != nil {
		return nil, errors.Join(err, lock.Release())
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

// LockedBy says that another process has a database.
func LockedBy(holder, path string) error {
	return Refusal("stop that server, or give this one a database of its own with --db", "a server has this database already: %s holds %s", holder, path)
}

// sign writes this process's number into the file, for people, and keeps the
// mark of use that stands behind it.
func (l *Lock) sign() error {
	if err := l.file.Chmod(0o600); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	before := make([]byte, maxSigned)
	n, _ := l.file.ReadAt(before, 0)
	l.used = strings.HasSuffix(string(before[:n]), "\n"+usedMark)
	return l.write()
}

// usedMark stands at the end of a lock file once the database holds something.
const usedMark = "used\n"

// maxSigned is the most that a lock file holds, in bytes.
const maxSigned = 4096

// MarkUsed notes that the database is more than an empty file.
func (l *Lock) MarkUsed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = true
	return l.write()
}

// SetAddress notes the address of the server.
func (l *Lock) SetAddress(address string) error {
	if len(address) > maxSigned/2 || strings.ContainsAny(address, "\r\n") {
		return nil // the commands then say that they do not know it
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.address = address
	return l.write()
}

// write writes what is known. l.mu is held.
func (l *Lock) write() error {
	text := fmt.Appendf(nil, "%d\n", os.Getpid())
	if l.address != "" {
		text = fmt.Appendf(text, "%s\n", l.address)
	}
	if l.used {
		text = append(text, usedMark...)
	}
	if _, err := l.file.WriteAt(text, 0); err != nil {
		return err
	}
	return l.file.Truncate(int64(len(text)))
}

// ServedAt returns the address that the server of a database noted with
// Store.ServedAt, "" when no server runs or it noted none.
func ServedAt(path string) string {
	if _, held, err := LockHolder(path + ".lock"); err != nil || !held {
		return ""
	}
	text, err := os.ReadFile(path + ".lock")
	if err != nil || len(text) > maxSigned {
		return ""
	}
	for _, line := range strings.Split(string(text), "\n")[1:] {
		if strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://") {
			return line
		}
	}
	return ""
}

// LockHolder tells which process holds a lock, if any does. It makes no file.
func LockHolder(path string) (number string, held bool, err error) {
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

// ShareLock opens a lock file, if there is one, and keeps servers out until it is
// released. It reports whether a server holds the lock already.
func ShareLock(path string) (lock *Lock, held bool, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	free, err := tryShared(file)
	return &Lock{file: file}, !free && err == nil, err
}

// IsServed tells whether a server has the database, or another process that writes
// to it alone. It waits for nobody and changes nothing; false when that cannot be
// known.
func IsServed(path string) (served, known bool) {
	_, held, err := LockHolder(path + ".lock")
	return held, err == nil
}

// WasUsed tells whether a server that held this lock has used its database.
func WasUsed(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.HasSuffix(string(text), "\n"+usedMark)
}

// GiveTo gives the lock file the owner of another file.
func (l *Lock) GiveTo(path string) error { return GiveTo(l.file, path) }

// Release drops the lock.
func (l *Lock) Release() error { return l.file.Close() }
