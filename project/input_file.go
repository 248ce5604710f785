package project

import (
	"errors"
	"io"
	"io/fs"

	"blueprintd/foundation/fileio"
)

// stdinName is what a file is called that came through standard input.
const stdinName = "stdin"

// Inputs reads the files that a command line names; "-" is standard input.
type Inputs struct {
	Stdin io.Reader
	spent bool // standard input was read
}

// Read gives the content of a file and what to call it.
func (in *Inputs) Read(name string, most int64) (data []byte, called string, err error) {
	if name == "" {
		return nil, `""`, fs.ErrNotExist
	}
	if name != "-" {
		data, err = fileio.Read(name, most)
		return data, name, err
	}
	if in.spent || in.Stdin == nil {
		return nil, stdinName, errors.New("it was read already")
	}
	in.spent = true
	data, err = fileio.ReadAll(in.Stdin, most)
	return data, stdinName, err
}
