package masterkey_test

import (
	"io"
	"os"
	"testing"

	"blueprintd/command"
	"blueprintd/engine/script"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

// schema is the schema of the database.
var schema string

func TestMain(m *testing.M) {
	script.Child()
	text, err := os.ReadFile("../../schema.sql")
	if err != nil {
		panic(err)
	}
	schema = string(text)
	os.Exit(m.Run())
}

type object = process.Object

// at returns the value at a path of keys in a JSON value, or nil.
func at(value any, path string) any { return process.At(value, path) }

func node(id, kind string, config object) object { return process.Node(id, kind, config) }

// run runs a command in this process and returns its exit code.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.Main(command.Program{Version: servertest.Version, Schema: schema}, args, stdin, stdout, stderr)
}
