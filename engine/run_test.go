package engine_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
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
		{"no JSON is a failure", `a odd`, `failed: a=failed(the output holds a Go value of type chan int, which is no JSON) !a:the output holds a Go value of type chan int, which is no JSON`},
		{"a plain error", `a fail-plain`, `failed: a=failed(a plain error) !a:a plain error`},
		{"an error of the service shows no detail", `a fail-refused`, `failed: a=failed(not yours) !a:not yours`},
	} {
		t.Run(test.name, func(t *testing.T) {
			testRun(t, test.lines, test.want)
		})
	}
}

// testRun runs a blueprint and compares the record that the caller gets with
// the one that is read back later.
func testRun(t *testing.T, lines, want string) {
	t.Helper()
	test(t, func(w *world) {
		known := slices.Sorted(maps.Keys(w.catalogue()))
		want := strings.ReplaceAll(want, "%s", strings.Join(known, ", "))
		x := w.run(w.define(lines))
		w.expect(x, want)
		w.expect(w.view(x.ID), want)
	})
}

func TestScope(t *testing.T) {
	for _, test := range []struct{ name, lines, want string }{
		{"inputData", `a echo {"value": "{{inputData.n}}"}`, `1`},
		{"input of the first is inputData", `a echo {"value": "{{input}}"}`, `{"n":1}`},
		{"several inputs by node id", `
			a echo {"value": 1}
			b echo {"value": 2}
			c echo {"value": "{{input.a}}{{input.b}}"}
			a -> c
			b -> c`, `"12"`},
		{"variables", `a echo {"value": "{{greeting}} {{name ?? \"you\"}}"}`, `"hello you"`},
		{"set writes variables", `
			a set {"values": {"name": "me", "other": [1]}}
			b pass
			c echo {"value": ["{{name}}", "{{other}}", "{{greeting}}"]}`, `["me",[1],"hello"]`},
		{"set writes again", `
			a set {"values": {"name": 1}}
			b set {"values": {"name": "{{name}}2"}}
			c echo {"value": "{{name}}"}`, `"12"`},
		{"a value is resolved once", `
			a set {"values": {"name": "{{= '{' + '{greeting}}' }}"}}
			b echo {"value": "{{name}}"}`, `"{{greeting}}"`},
		{"nodes upstream", `
			a echo {"value": 1}
			b echo {"value": 2}
			c echo {"value": "{{nodes.a.output}}{{nodes.b.output}}"}`, `"12"`},
		{"a disabled node's output is its input", `
			a echo {"value": 1}
			b pass | {"disabled": true}
			c echo {"value": "{{nodes.b.output}}"}`, `1`},
		{"where branches meet the later in the map wins", `
			late set {"values": {"v": "late"}}
			early set {"values": {"v": "early"}}
			end echo {"value": "{{v}}"}
			late -> end
			early -> end`, `"early"`},
		{"but what is downstream hides what is upstream", `
			root pass
			b set {"values": {"v": "b"}}
			a set {"values": {"v": "a"}}
			end echo {"value": "{{v}}"}
			root -> a
			a -> b
			a -> end
			b -> end`, `"b"`},
		{"a branch does not see the other", `
			a set {"values": {"v": 1}}
			b echo {"value": "{{v ?? \"unset\"}}"}
			c pass
			a -> c
			b -> c`, `{"a":{"v":1},"b":"unset"}`},
		{"a disabled node hands variables on", `
			a set {"values": {"v": 1}}
			b pass | {"disabled": true}
			c echo {"value": "{{v}}"}`, `1`},
		{"a failed node hands variables on", `
			a set {"values": {"v": 1}}
			b fail {} | {"onError": "continue"}
			c echo {"value": "{{v}}{{input.error.message}}"}`, `"1failed: "`},
		{"execution, blueprint, trigger, now", `
			a echo {"value": ["{{= execution.id startsWith 'exec_946684800000_' }}", "{{blueprint.title}}", "{{trigger.id}}", "{{trigger.headers}}", "{{now}}"]}`,
			`[true,"Test",null,{},"2000-01-01T00:00:00.000Z"]`},
		{"expressions of a node", `a eval {"expression": "inputData.n + 1"}`, `2`},
	} {
		t.Run(test.name, func(t *testing.T) {
			testScope(t, test.lines, test.want)
		})
	}
}

func testScope(t *testing.T, lines, want string) {
	t.Helper()
	test(t, func(w *world) {
		x := w.run(w.defineWith(lines, `[{"name": "greeting", "default": "hello"}, {"name": "name"}, {"name": "v", "type": "json"}]`))
		if got := encode(x.Output); got != want {
			t.Errorf("got %s (%s), want %s", got, sum(x), want)
		}
	})
}

func TestScopeFailures(t *testing.T) {
	for _, test := range []struct{ name, lines, code string }{
		{"an unknown name", `a echo {"value": "{{nobody}}"} | {"retry": {"maxAttempts": 5}}`, "unknown_name"},
		{"a missing key", `a echo {"value": "{{inputData.nobody}}"} | {"retry": {"maxAttempts": 5}}`, "unknown_name"},
		{"a node beside", `
			a echo {"value": 1}
			b echo {"value": "{{nodes.a.output}}"}
			c pass
			a -> c
			b -> c`, "unknown_name"},
		{"a node downstream", `
			a echo {"value": "{{nodes.b.output}}"}
			b pass`, "unknown_name"},
		{"a malformed template", `a echo {"value": "{{"} | {"retry": {"maxAttempts": 5}}`, "bad_template"},
		{"a malformed expression", `a eval {"expression": "1 +"} | {"retry": {"maxAttempts": 5}}`, "bad_expression"},
		{"an expression over an unknown name", `a eval {"expression": "nobody"}`, "unknown_name"},
		{"a variable of another branch", `
			a set {"values": {"v": 1}}
			b echo {"value": "{{v}}"}
			c pass
			a -> c
			b -> c`, "unknown_name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			testScopeFailure(t, test.lines, test.code)
		})
	}
}

func testScopeFailure(t *testing.T, lines, code string) {
	t.Helper()
	test(t, func(w *world) {
		x := w.run(w.define(lines))
		if x.Status != blueprint.StatusFailed || x.Failure.Code != code {
			t.Errorf("%s, code %s", sum(x), x.Failure.Code)
		}
		for _, s := range x.Steps {
			if s.Attempt > 1 {
				t.Errorf("%s was tried %d times", s.NodeID, s.Attempt)
			}
		}
	})
}
