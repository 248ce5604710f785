package command

import (
	"flag"
	"io"
	"os"
	"strings"
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

// output runs a command that must succeed and returns what it printed.
func output(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := run(t, append([]string{"blueprintd"}, args...), nil, &stdout, &stderr); code != 0 {
		t.Fatalf("blueprintd %s: exit code %d\n%s", strings.Join(args, " "), code, stderr.String())
	}
	return stdout.String()
}
