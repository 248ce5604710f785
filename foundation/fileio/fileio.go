// Package fileio reads files and pipes up to a limit, and writes files atomically and
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

// Write writes a file with mode 0600 atomically and syncs it. It writes a temporary
// file with an unguessable name first. With fresh set, an existing file is an error.
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

// SyncFolder syncs the entries of a folder, where the system supports that.
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

// Absolute returns the absolute form of path, or path itself if that fails.
func Absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// Read reads a file or a named pipe of at most most bytes.
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

// ReadAll reads at most most bytes; more are an error.
func ReadAll(in io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	return data, err
}

// pipePatience is how long to wait for the writer of a pipe, which a shell opens too.
const pipePatience = 2 * time.Second

// openPipe opens a named pipe, which blocks until it has a writer.
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
	case <-time.After(pipePatience): // the goroutine stays until the process ends
		return nil, errors.New("it is a pipe without a writer")
	}
}

// Cause returns the error within a *fs.PathError, without the path, or else err.
func Cause(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return err
}
