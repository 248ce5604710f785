package api

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"testing"

	"blueprintd/command"
	"blueprintd/engine/script"
	"blueprintd/tests/process"
	"blueprintd/tests/servertest"
)

const version = servertest.Version

var update = flag.Bool("update", false, "write golden files")

// thorough enables the sizes and repetitions of make check.
var thorough = flag.Bool("thorough", false, "use as large inputs and as many repetitions as make check does")

// schema is the schema of the database.
var schema string

func TestMain(m *testing.M) {
	script.Child() // runs the code of blueprints
	text, err := os.ReadFile("../../schema.sql")
	if err != nil {
		panic(err)
	}
	schema = string(text)
	debug.SetGCPercent(400) // the servers hold little
	if err := process.MoreParallel(4); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// run is the program, in this process.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return command.Main(command.Program{Version: version, Schema: schema}, args, stdin, stdout, stderr)
}

const testKey = process.Key

type (
	object       = process.Object
	lockedBuffer = process.Output
)

// at follows a path of keys into a JSON value; it returns nil for a missing one.
func at(value any, path string) any { return process.At(value, path) }

func node(id, kind string, config object, more ...any) object {
	return process.Node(id, kind, config, more...)
}

var uuid = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// caseName returns the name of a subtest for an input, without the parts that differ in
// each run.
func caseName(input any) string {
	return fmt.Sprintf("%.200s", uuid.ReplaceAllString(fmt.Sprint(input), "ID"))
}
