package command

import (
	"flag"
	"io"
	"os"
	"testing"

	"blueprintd/engine/script"
)

var update = flag.Bool("update", false, "write golden files anew")

func TestMain(m *testing.M) {
	script.Child() // what the code of blueprints runs in
	os.Exit(m.Run())
}

// run is the program, in this process.
func run(t testing.TB, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	t.Helper()
	schema, err := os.ReadFile("../schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	return Main(Program{Version: "0.1.0-dev", Schema: string(schema)}, args, stdin, stdout, stderr)
}
