package command

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/engine/script"
	"blueprintd/project"
)

// All files together have one time for the compiler.
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
		if told := lines(in.compiled("x", []codeSource{{source, path}})); !strings.Contains(told, "is not checked for mistakes: there are too many that take long") {
			t.Errorf("%d: %q", i, told)
		}
	}
	if in.compileTime > 0 {
		t.Errorf("%s is left", in.compileTime)
	}
	in.compileTime = compileAllTime
	if told := lines(in.compiled("x", []codeSource{{"const = 1", path}, {"return 1\x00", path}})); strings.Count(told, "error a: ") != 2 {
		t.Errorf("%q", told)
	}
}

// Code has no templates, so nobody is told to use one in it.
func TestSecretsInCodeAreToldWithAHintForCode(t *testing.T) {
	key := "gl" + "pat-0123456789abcdefghij"
	text := "title: T\nblueprint_map:\n  nodes:\n    - {id: a, type: code, title: A, config: {source: 'return \"" + key + "\"'}}\n"
	if told := lines(checked(t, text)); !strings.Contains(told, "in plain text: use variables.name of a secret variable") || strings.Contains(told, "{{") {
		t.Error(told)
	}
}
