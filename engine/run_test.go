package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestRuns(t *testing.T) {
	for _, test := range []struct{ name, lines, want string }{
		{"one node", `a pass`, `completed: a=completed -> {"n":1}`},
		{"a sequence feeds the next", `
			a echo {"value": 5}
			b pass
			c echo {"value": "{{input}}!"}`, `completed: a=completed b=completed c=completed -> "5!"`},
		{"branches meet", `
			a echo {"value": 1}
			b echo {"value": "{{input}}b"}
			c echo {"value": "{{input}}c"}
			d pass
			a -> b
			a -> c
			b -> d
			c -> d`, `completed: a=completed b=completed c=completed d=completed -> {"b":"1b","c":"1c"}`},
		{"several ends", `
			a pass
			b echo {"value": null}
			c echo {"value": 2}
			a -> b
			a -> c`, `completed: a=completed b=completed c=completed -> {"b":null,"c":2}`},
		{"a handle chooses", `
			a choose {"handle": "yes"}
			b echo {"value": "b"}
			c echo {"value": "c"}
			a -yes> b
			a -no> c`, `completed: a=completed b=completed c=skipped -> "b"`},
		{"inputs come in the order of the edges", `
			a echo {"value": 1}
			b echo {"value": 2}
			c echo {"value": 3}
			d inputs
			c -> d
			a -> d
			b -> d`, `completed: a=completed b=completed c=completed d=completed -> ["c",3,"a",1,"b",2]`},
		{"disabled in a sequence", `
			a echo {"value": 1}
			b echo {"value": 2} | {"disabled": true}
			c pass`, `completed: a=completed b=skipped c=completed -> 1`},
		{"disabled at a join", `
			a echo {"value": 1}
			b echo {"value": 2}
			c pass | {"disabled": true}
			d pass
			a -> c
			b -> c
			c -> d`, `completed: a=completed b=completed c=skipped d=completed -> {"a":1,"b":2}`},
		{"all disabled", `a echo {"value": 1} | {"disabled": true}`, `completed: a=skipped -> {"n":1}`},
		{"stop ends a run well", `
			a stop
			b pass`, `completed: a=completed b=skipped -> {"n":1}`},
		{"stop with failure", `
			a stop {"failed": true, "message": "enough"} | {"onError": "continue"}
			b pass`, `failed: a=failed(enough) b=pending !a:enough`},
		{"stop with failure and no message", `a stop {"failed": true}`, `failed: a=failed(the run was stopped) !a:the run was stopped`},
		{"an unknown type", `a fancy-thing`, `failed: a=failed(unknown node type "fancy-thing"; known types: %s) ` +
			`!a:unknown node type "fancy-thing"; known types: %s`},
		{"an invalid member", `a pass {} | {"timeoutMs": -1}`, `failed: a=failed(timeoutMs: must be a number of milliseconds above 0) !a:timeoutMs: must be a number of milliseconds above 0`},
		{"a node that cannot run does not keep others from running", `
			a nonsense {} | {"onError": "continue"}
			b echo {"value": "{{input.error.code}}"}`, `completed: a=failed(unknown node type "nonsense"; known types: %s) b=completed -> "unknown_type"`},
		{"a crash is a failure", `a crash`, `failed: a=failed(the node crashed; the server's log has the details) !a:the node crashed; the server's log has the details`},
		{"no JSON is a failure", `a odd`, `failed: a=failed(the output holds a Go value of type chan int, which is not JSON) !a:the output holds a Go value of type chan int, which is not JSON`},
		{"a plain error", `a fail-plain`, `failed: a=failed(a plain error) !a:a plain error`},
		{"an error of the service shows no detail", `a fail-refused`, `failed: a=failed(not yours) !a:not yours`},
	} {
		t.Run(test.name, func(t *testing.T) {
			testRun(t, test.lines, test.want)
		})
	}
}

// testRun runs a blueprint and compares the returned record with the stored one.
func testRun(t *testing.T, lines, want string) {
	t.Helper()
	test(t, func(w *fixture) {
		known := slices.Sorted(maps.Keys(w.catalogue()))
		want := strings.ReplaceAll(want, "%s", strings.Join(known, ", "))
		x := w.run(w.define(lines))
		w.expect(x, want)
		w.expect(w.view(x.ID), want)
	})
}
