package main

import (
	"errors"
	"io"
	"io/fs"

	"blueprintd/foundation/fileio"
)

// stdinName is what a file is called that came through standard input.
const stdinName = "stdin"

// fileInputs reads the files that a command line names; "-" is standard input.
type fileInputs struct {
	stdin io.Reader
	spent bool // standard input was read
}

// read gives the content of a file and what to call it.
func (in *fileInputs) read(name string, most int64) (data []byte, called string, err error) {
	if name == "" {
		return nil, `""`, fs.ErrNotExist
	}
	if name != "-" {
		data, err = fileio.Read(name, most)
		return data, name, err
	}
	if in.spent || in.stdin == nil {
		return nil, stdinName, errors.New("it was read already")
	}
	in.spent = true
	data, err = fileio.ReadAll(in.stdin, most)
	return data, stdinName, err
}
