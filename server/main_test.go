package server_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"blueprintd/command"
	"blueprintd/engine/script"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

const (
	version = servertest.Version
	testKey = process.Key
)

// schema is the schema of the database.
var schema string

func TestMain(m *testing.M) {
	script.Child()
	text, err := os.ReadFile("../schema.sql")
	if err != nil {
		panic(err)
	}
	schema = string(text)
	os.Exit(m.Run())
}

type (
	object       = process.Object
	lockedBuffer = process.Output
)

// at returns the value at a path of keys in a JSON value, or nil.
func at(value any, path string) any { return process.At(value, path) }

func node(id, kind string, config object, more ...any) object {
	return process.Node(id, kind, config, more...)
}

// commandOutput runs a command of the program, which must succeed, and returns what it
// printed.
func commandOutput(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := run(append([]string{"blueprintd"}, args...), nil, &stdout, &stderr); code != 0 {
		t.Fatalf("blueprintd %s: exit code %d\n%s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.String()
}

// run runs a command in this process and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.Main(command.Program{Version: version, Schema: schema}, args, stdin, stdout, stderr)
}
