package local_test

import (
	"io"
	"os"
	"testing"

	"blueprintd/command"
	"blueprintd/engine/script"
)

func TestMain(m *testing.M) {
	script.Child()
	os.Exit(m.Run())
}

// run runs a command in this process and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.Main(command.Program{Version: "0.1.0-dev"}, args, stdin, stdout, stderr)
}
