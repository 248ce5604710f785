package program

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Built returns the path of a program built from the current sources. It is built at the
// first call in a process.
var Built = sync.OnceValues(build)

// build compiles the module named by go.mod of the working directory. The program is kept
// in the user's cache, one for each module folder. It is renamed into place, because
// several processes may build it at the same time.
func build() (string, error) {
	module, err := run("go", "list", "-m", "-f", "{{.Dir}}", "blueprintd")
	if err != nil {
		return "", err
	}
	if module == "" {
		return "", errors.New("the module blueprintd is not here; go mod download blueprintd")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	sum := sha256.Sum256([]byte(module))
	folder := filepath.Join(cache, "blueprintdtest", hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "blueprintd")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	own, err := os.CreateTemp(folder, "*.exe")
	if err != nil {
		return "", err
	}
	defer os.Remove(own.Name())
	if err := errors.Join(refill(own, path), own.Close()); err != nil {
		return "", err
	}
	// A workspace or flags of the caller do not apply to the module.
	command := exec.Command("go", "build", "-C", module, "-buildvcs=false", "-o", own.Name(), ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build in %s: %w\n%s", module, err, out)
	}
	if err := os.Chmod(own.Name(), 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(own.Name(), path); err != nil && runtime.GOOS != "windows" {
		return "", err // Windows refuses to replace a running program, which another process may just have built
	}
	return path, nil
}

// refill copies the previous program to the path of the new one, because go build does not
// link again if the program is up to date.
func refill(to io.Writer, from string) error {
	before, err := os.Open(from)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer before.Close()
	_, err = io.Copy(to, before)
	return err
}

// run returns the standard output of a command.
func run(name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.Command(name, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(stdout.String()), nil
}
