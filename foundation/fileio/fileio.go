// Package fileio reads files and pipes within bounds, and writes files whole and
// durably.
package fileio

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Write writes a file whole, for its owner alone, and onto the disk: under
// a name of its own first, which nobody can guess and put a link at, so that nobody
// ever reads half of it. With fresh set, a file that exists is not replaced.
func Write(path string, data []byte, fresh bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), fmt.Sprintf("%s.%d.*.tmp", filepath.Base(path), os.Getpid())) // 0600, and O_EXCL
	if err != nil {
		return err
	}
	temporary := f.Name()
	defer os.Remove(temporary)
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if fresh {
		err = os.Link(temporary, path)
	} else {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(path))
}

// SyncFolder brings the names in a folder onto the disk. Where folders cannot
// be synced there is nothing to be done about it.
func SyncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && runtime.GOOS != "windows" {
		return err
	}
	return nil
}

func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// Read reads a file, or a pipe that somebody writes to, of at most a number
// of bytes.
func Read(name string, most int64) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a folder")
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0:
		return nil, errors.New("it is not a file")
	}
	open := os.Open
	if !info.Mode().IsRegular() {
		open = openPipe
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, most)
}

func ReadAll(in io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	return data, err
}

// pipePatience is how long, in real time, a pipe waits for somebody to write to
// it: a shell opens the other end at about the same moment.
const pipePatience = 2 * time.Second

// openPipe opens a named pipe, which takes until somebody opens its other end.
func openPipe(name string) (*os.File, error) {
	type opened struct {
		file *os.File
		err  error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(name)
		done <- opened{f, err}
	}()
	select {
	case o := <-done:
		return o.file, o.err
	case <-time.After(pipePatience): // what waits in the goroutine ends with the process
		return nil, errors.New("it is a pipe that nobody writes to")
	}
}

// Cause returns the last error of a chain, without the path that is named already.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
