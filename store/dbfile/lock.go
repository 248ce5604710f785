package dbfile

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// Lock is the lock of a server on its database. The operating system drops it when the
// process ends for any reason. The file itself stays: removing it would let two servers
// lock two files of the same name.
type Lock struct {
	file *os.File

	mu      sync.Mutex // guards the fields below, which are the content of the file
	address string     // of the server, "" until it is known
	used    bool       // the database is not empty
}

// The interval and the number of further attempts at a lock that the children of a dead
// process still hold.
const (
	heirInterval = 20 * time.Millisecond
	heirTries    = 150
)

// AcquireLock takes the lock, or returns an error that names the process that holds
// it.
//
// A server that is killed while it starts another program leaves its lock to the child
// until the child executes the program, which takes some hundred milliseconds on a busy
// machine. AcquireLock therefore retries while the process that signed the file is dead.
func AcquireLock(path string) (*Lock, error) {
	return lockAfter(path, func() { <-time.NewTimer(heirInterval).C })
}

// lockAfter is AcquireLock with another pause between two attempts.
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

// signer returns the id of the process that signed a lock file, "" for none.
func signer(file *os.File) string {
	text := make([]byte, 32)
	n, _ := file.ReadAt(text, 0)
	number, _, _ := strings.Cut(string(text[:n]), "\n")
	return number
}

// ErrHeld is the cause of the error of LockedBy.
var ErrHeld = errors.New("held by another process")

// LockedBy returns the error for a database that another process holds.
func LockedBy(holder, path string) error {
	refused := Refusal("stop that server, or start this one with another --db", "another server has the database open: %s holds %s", holder, path)
	refused.Err = ErrHeld
	return refused
}

// sign writes the id of this process into the file and keeps the used mark at its end.
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

// usedMark ends a lock file once the database has content.
const usedMark = "used\n"

// maxSigned is the maximum size of a lock file in bytes.
const maxSigned = 4096

// MarkUsed records that the database is not empty.
func (l *Lock) MarkUsed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.used = true
	return l.write()
}

// SetAddress records the address of the server. It ignores an address that does not fit.
func (l *Lock) SetAddress(address string) error {
	if len(address) > maxSigned/2 || strings.ContainsAny(address, "\r\n") {
		return nil // ServedAt then returns ""
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.address = address
	return l.write()
}

// write replaces the content of the file. l.mu is held.
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

// ServedAt returns the address that the server of a database recorded with SetAddress, ""
// if no server runs or it recorded none.
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

// LockHolder returns the id of the process that holds a lock, and reports whether the lock
// is held. It creates no file.
func LockHolder(path string) (number string, held bool, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	defer release(file)
	free, err := tryShared(file)
	if free || err != nil {
		return "", false, err
	}
	return signer(file), true, nil
}

// ShareLock opens a lock file, if there is one, and keeps servers out until it is released.
// It reports whether a server holds the lock.
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

// IsServed reports whether a server, or another process with exclusive access to the
// database, holds its lock. It neither waits nor changes anything. known is false if that
// cannot be determined.
func IsServed(path string) (served, known bool) {
	_, held, err := LockHolder(path + ".lock")
	return held, err == nil
}

// WasUsed reports whether a server that held the lock has used the database.
func WasUsed(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && strings.HasSuffix(string(text), "\n"+usedMark)
}

// GiveTo sets the owner of the lock file to that of another file.
func (l *Lock) GiveTo(path string) error { return GiveTo(l.file, path) }

// Release drops the lock.
func (l *Lock) Release() error { return release(l.file) }
