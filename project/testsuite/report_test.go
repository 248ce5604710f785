package testsuite

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// A test that was not run is not a failure; an unreadable file is.
func TestReportsOfWhatDidNotRun(t *testing.T) {
	results := []*Result{
		{File: "a", Test: "one"}, {File: "a", Test: "two", NotRun: true},
		{File: "b", Broken: true, Fault: errors.New("b:1:1: is not YAML")},
	}
	for name, test := range map[string]struct {
		write func(*bytes.Buffer) error
		want  []string
	}{
		"TAP":   {func(b *bytes.Buffer) error { return TAP(b, results, true) }, []string{"1..3\n", "ok 1 - a: one\n", "ok 2 - a: two # SKIP not run\n", "not ok 3 - b\n", "b:1:1: is not YAML", "Bail out! interrupted\n"}},
		"JUnit": {func(b *bytes.Buffer) error { return JUnit(b, results) }, []string{`tests="3" failures="0" errors="1"`, `<skipped message="not run">`, `<error message="b:1:1: is not YAML"`}},
		"JSON":  {func(b *bytes.Buffer) error { return JSON(b, results) }, []string{`"notRun": true`, `"error": "b:1:1: is not YAML"`}},
		"sum":   {func(b *bytes.Buffer) error { return Sum(b, results, nil) }, []string{"1 passed, 1 not run, 1 invalid test file\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := test.write(&out); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, &out)
				}
			}
		})
	}
}
