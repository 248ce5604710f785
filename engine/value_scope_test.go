package engine_test

import (
	"testing"

	"blueprintd/blueprint"
	"blueprintd/engine"
)

// Code sees the same as templates: variables including those set by nodes, upstream
// nodes, the innermost item, and no secret that the principal may not use.
func TestScopeOfCode(t *testing.T) {
	const variables = `[{"name": "open", "default": "o"}, {"name": "token", "secret": true, "default": "tok-12345678"}]`
	lines := "s set {\"values\": {\"v\": 1}}\nb pass\n" + each("l", `"items": [7]`, "", each("m", `"items": [8, 9]`, "", "x set {\"values\": {\"v\": 2}}\nc scope"))
	for _, test := range []struct {
		name      string
		canManage bool
		want      string
	}{
		{"manager", true, `{"denied":[],"nodes":{"b":{"output":{"v":1}},"s":{"output":{"v":1}},"x":{"output":{"v":2}}},"variables":{"index":1,"item":9,"open":"o","token":"***","v":2}}`},
		{"stranger", false, `{"denied":["token"],"nodes":{"b":{"output":{"v":1}},"s":{"output":{"v":1}},"x":{"output":{"v":2}}},"variables":{"index":1,"item":9,"open":"o","v":2}}`},
	} {
		testWith(t, nil, func(w *fixture) {
			r := request(w.defineWith(lines, variables))
			r.CanManage = test.canManage
			x := w.wait(w.startWith(r, engine.Soon))
			out, _ := x.Output.([]any)
			if len(out) != 1 {
				t.Fatalf("%v, want length 1", sum(x))
			}
			if got := encode(out[0].([]any)[1]); got != test.want {
				t.Errorf("%s\ngot  %s\nwant %s", test.name, got, test.want)
			}
		})
	}
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
	test(t, func(w *fixture) {
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
	test(t, func(w *fixture) {
		x := w.run(w.define(lines))
		if x.Status != blueprint.StatusFailed || x.Failure.Code != code {
			t.Errorf("%s, code %s; want Status %v and %v", sum(x), x.Failure.Code, blueprint.StatusFailed, code)
		}
		for _, s := range x.Steps {
			if s.Attempt > 1 {
				t.Errorf("%s was tried %d times, want at most 1", s.NodeID, s.Attempt)
			}
		}
	})
}
