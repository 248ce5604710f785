package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/engine/script"
	"blueprintd/project"
)

func TestCompilingHasOneBudget(t *testing.T) {
	scripts := script.New(script.Options{})
	defer scripts.Background()()
	in := &validation{files: &project.Inputs{}, scripts: scripts, compileTime: 300 * time.Millisecond}
	var slow strings.Builder // names are compared with all before them
	for i := range 26_000 {
		fmt.Fprintf(&slow, "let a%x;", i)
	}
	path := []any{"a"}
	for i, source := range []string{slow.String(), "return 1", "const = 1"} {
		const want = "was not compiled: too many scripts are slow to compile"
		if got := lines(in.compiled("x", []codeSource{{source, path}})); !strings.Contains(got, want) {
			t.Errorf("source %d: got %q, want %q", i, got, want)
		}
	}
	if in.compileTime > 0 {
		t.Errorf("%s of the time is left, want none", in.compileTime)
	}
	in.compileTime = compileAllTime
	if got := lines(in.compiled("x", []codeSource{{"const = 1", path}, {"return 1\x00", path}})); strings.Count(got, "error a: ") != 2 {
		t.Errorf("got %q, want two errors", got)
	}
}

// The hint for a secret in code names no template, as code has none.
func TestSecretInCode(t *testing.T) {
	key := "gl" + "pat-0123456789abcdefghij"
	text := "title: T\nblueprint_map:\n  nodes:\n    - {id: a, type: code, title: A, config: {source: 'return \"" + key + "\"'}}\n"
	if got := lines(checked(t, text)); !strings.Contains(got, "in plain text: use variables.name of a secret variable") || strings.Contains(got, "{{") {
		t.Errorf("got %q, want a hint about variables.name", got)
	}
}
