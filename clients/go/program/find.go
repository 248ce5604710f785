package program

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Variable is the environment variable with the path of the program.
const Variable = "BLUEPRINTD_BINARY"

// Find returns the path of the program: the given one, the one in the environment variable,
// or the one on the PATH.
func Find(given string) (string, error) {
	if given != "" {
		return named(given, "option Binary")
	}
	if path := os.Getenv(Variable); path != "" {
		return named(path, Variable)
	}
	path, err := exec.LookPath("blueprintd")
	if err != nil {
		return "", errors.New("there is no blueprintd: option Binary and " + Variable + " name none, and none is on the PATH")
	}
	return path, nil
}

func named(path, by string) (string, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return "", fmt.Errorf("%s names %s, which is no program", by, path)
	}
	return filepath.Abs(path)
}
