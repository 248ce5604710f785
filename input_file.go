package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"blueprintd/engine/script"
)

// stdinName is what a file is called that came through standard input.
const stdinName = "stdin"

// inputs reads the files that a command line names; "-" is standard input.
type inputs struct {
	stdin   io.Reader
	spent   bool         // standard input was read
	scripts *script.Pool // compiles the code of blueprints; nil = nobody does

	compileTime time.Duration // that is left for compiling
}

// read gives the content of a file and what to call it.
func (in *inputs) read(name string, most int64) (data []byte, called string, err error) {
	if name == "" {
		return nil, `""`, fs.ErrNotExist
	}
	if name != "-" {
		data, err = readFile(name, most)
		return data, name, err
	}
	if in.spent || in.stdin == nil {
		return nil, stdinName, errors.New("it was read already")
	}
	in.spent = true
	data, err = readAll(in.stdin, most)
	return data, stdinName, err
}

// readFile reads a file, or a pipe that somebody writes to, of at most a number
// of bytes.
func readFile(name string, most int64) ([]byte, error) {
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
	return readAll(f, most)
}

func readAll(in io.Reader, most int64) ([]byte, error) {
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

// cause gives the last error of a chain, without the path that is named already.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
