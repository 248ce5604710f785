package blueprintdtest

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

// variable is the environment variable that names the program.
const variable = "BLUEPRINTD_BINARY"

// find gives the path of the program.
func find(given string) (string, error) {
	if given != "" {
		return named(given, "option Binary")
	}
	if path := os.Getenv(variable); path != "" {
		return named(path, variable)
	}
	if path, err := exec.LookPath("blueprintd"); err == nil {
		return path, nil
	}
	path, err := built()
	if err != nil {
		return "", fmt.Errorf("there is no blueprintd: option Binary and %s name none, none is on the PATH, and it cannot be built: %w", variable, err)
	}
	return path, nil
}

func named(path, by string) (string, error) {
	if info, err := os.Stat(path); err != nil || info.IsDir() {
		return "", fmt.Errorf("%s names %s, which is no program", by, path)
	}
	return filepath.Abs(path)
}

// built is the program of the module, built at the first call.
var built = sync.OnceValues(build)

// build compiles the module that go.mod of the test names. The program lies in
// the user's cache, one for each folder of a module: a process that builds puts
// its own there at once, so that another may be doing the same.
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
	// What the test runs under, a workspace or flags of its own, is not the module's.
	command := exec.Command("go", "build", "-C", module, "-buildvcs=false", "-trimpath", "-o", own.Name(), ".")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build in %s: %w\n%s", module, err, out)
	}
	if err := os.Chmod(own.Name(), 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(own.Name(), path); err != nil && runtime.GOOS != "windows" {
		return "", err // Windows keeps a program that runs, which another process built just now
	}
	return path, nil
}

// refill puts the program of before where the new one goes: what is up to date
// is not linked again.
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

// run gives what a program says.
func run(name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	command := exec.Command(name, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(stdout.String()), nil
}
