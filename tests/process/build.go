package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// Program returns the absolute path of the program to try: the one that was given,
// or else one that it builds.
func Program(ctx context.Context, given, folder string, flags ...string) (string, error) {
	if given != "" {
		return filepath.Abs(given)
	}
	return Build(ctx, folder, "blueprintd", flags...)
}

// Build compiles a program of the module in the working directory into a folder
// and returns its path. flags are those of go build.
func Build(ctx context.Context, folder, program string, flags ...string) (string, error) {
	path := filepath.Join(folder, filepath.Base(program))
	return path, BuildIn(ctx, "", path, append(flags, program)...)
}

// BuildIn compiles a program of the module in a folder, "" for the working
// directory, into a file. args are flags of go build and the program.
func BuildIn(ctx context.Context, folder, path string, args ...string) error {
	command := exec.CommandContext(ctx, "go", slices.Concat([]string{"build", "-o", path}, args)...)
	command.Dir, command.Env = folder, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}
