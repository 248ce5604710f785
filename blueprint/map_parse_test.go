package blueprint_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// issueTexts formats issues as "path: message" lines.
func issueTexts(issues []blueprint.Issue) string {
	var lines []string
	for _, issue := range issues {
		lines = append(lines, blueprint.PathText(issue.Path)+": "+issue.Message)
	}
	return strings.Join(lines, "\n")
}

func decode(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestParseMapRefuses(t *testing.T) {
	const a = `{"id": "a", "type": "set", "title": "A", "config": {}}`
	for _, test := range []struct{ given, want string }{
		{`[]`, ": must be an object with a nodes array"},
		{`null`, ": must be an object with a nodes array"},
		{`{}`, "nodes: must be an array"},
		{`{"nodes": {}}`, "nodes: must be an array"},
		{`{"nodes": [1]}`, "nodes[0]: must be an object"},
		{`{"nodes": [{}]}`, "nodes[0].id: required\nnodes[0].type: required\nnodes[0].title: required\nnodes[0].config: required"},
		{`{"nodes": [{"id": 1, "type": [], "title": null, "config": []}]}`,
			"nodes[0].id: must be a string\nnodes[0].type: must be a string\nnodes[0].title: must be a string\nnodes[0].config: must be an object"},
		{`{"nodes": [{"id": "", "type": "set"}]}`, "nodes[0].id: must not be empty\nnodes[0].title: required\nnodes[0].config: required"},
		{`{"nodes": [` + a + `, ` + a + `]}`, `nodes[1].id: "a" is the id of nodes[0] already`},
		{`{"nodes": [` + a + `], "edges": {}}`, "edges: must be an array"},
		{`{"nodes": [` + a + `], "edges": ["a"]}`, "edges[0]: must be an object"},
		{`{"nodes": [` + a + `], "edges": [{}]}`, "edges[0].source: required\nedges[0].target: required"},
		{`{"nodes": [` + a + `], "edges": [{"source": "", "target": "b"}]}`, `edges[0].source: no node has the id ""` + "\n" + `edges[0].target: no node has the id "b"`},
		{`{"nodes": [` + a + `], "edges": [{"source": 1, "target": "a", "id": 2, "sourceHandle": 3}]}`,
			"edges[0].id: must be a string\nedges[0].source: must be a string\nedges[0].sourceHandle: must be a string"},
	} {
		t.Run(test.given, func(t *testing.T) {
			m, issues := blueprint.ParseMap(decode(t, test.given))
			if got := issueTexts(issues); got != test.want || m != nil {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestParseMapBounds(t *testing.T) {
	nodes := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"id": "n%d", "type": "log", "title": "", "config": {}}`, i))
		}
		return `{"nodes": [` + strings.Join(list, ",") + `]}`
	}
	if m, issues := blueprint.ParseMap(decode(t, nodes(blueprint.MaxNodes))); issues != nil || len(m.Nodes) != blueprint.MaxNodes {
		t.Errorf("the largest map is refused: %s, want nil and length %v", issueTexts(issues), blueprint.MaxNodes)
	}
	if _, issues := blueprint.ParseMap(decode(t, nodes(blueprint.MaxNodes+1))); issueTexts(issues) != "nodes: must hold at most 10000 nodes" {
		t.Errorf("got %s, want nodes: must hold at most 10000 nodes", issueTexts(issues))
	}
}

func TestParseMap(t *testing.T) {
	given := decode(t, `{"view": {"zoom": 1.50}, "nodes": [
		{"id": "a", "type": "http_request", "title": "", "config": {"url": "{{x}}"}, "x": 12, "retry": {"maxAttempts": 3, "delayMs": 0, "backoff": 1.5}, "timeoutMs": 0.5},
		{"id": "b", "type": "human_checkpoint", "title": "B", "config": {}, "disabled": true, "onError": "branch", "effect": "once", "retry": {"maxAttempts": 2, "delayMs": null}},
		{"id": "c", "type": "log", "title": "C", "config": {}, "disabled": null, "onError": null, "effect": null, "retry": null, "timeoutMs": null}],
		"edges": [{"id": "e", "source": "a", "target": "b", "sourceHandle": "main"}, {"source": "a", "target": "c", "sourceHandle": null}, {"source": "b", "target": "c", "sourceHandle": "error"}]}`)
	m, issues := blueprint.ParseMap(given)
	if issues != nil {
		t.Fatalf("%v, want nil", issueTexts(issues))
	}
	if !blueprint.Equal(m.Raw, given) {
		t.Error("the raw map differs from the input")
	}
	a, b, c := m.Nodes[0], m.Nodes[1], m.Nodes[2]
	if a.Type != "http-request" || b.Type != "human" {
		t.Errorf("types %s, %s; want http-request and human", a.Type, b.Type)
	}
	if *a.Retry != (blueprint.Retry{MaxAttempts: 3, Delay: 0, Backoff: 1.5}) || *b.Retry != (blueprint.Retry{MaxAttempts: 2, Delay: time.Second, Backoff: 2}) || c.Retry != nil {
		t.Errorf("retries %v, %v, %v", a.Retry, b.Retry, c.Retry)
	}
	if a.Timeout != 500*time.Microsecond || c.Timeout != 0 {
		t.Errorf("time-outs %v, %v; want %v and 0", a.Timeout, c.Timeout, 500*time.Microsecond)
	}
	if a.OnError != blueprint.OnErrorStop || b.OnError != blueprint.OnErrorBranch || c.OnError != blueprint.OnErrorStop {
		t.Errorf("reactions %s, %s, %s; want %v, %v and %v", a.OnError, b.OnError, c.OnError, blueprint.OnErrorStop, blueprint.OnErrorBranch, blueprint.OnErrorStop)
	}
	if a.Effect != "" || b.Effect != blueprint.EffectOnce || !b.Disabled || c.Disabled {
		t.Error("effect or disabled is wrong")
	}
	if want := []blueprint.Edge{{ID: "e", Source: "a", Target: "b"}, {Source: "a", Target: "c"}, {Source: "b", Target: "c", Handle: "error"}}; fmt.Sprint(m.Edges) != fmt.Sprint(want) {
		t.Errorf("edges %v, want %v", m.Edges, fmt.Sprint(want))
	}
	for _, node := range m.Nodes {
		if node.Invalid != nil {
			t.Errorf("%s: %s, want Invalid nil", node.ID, issueTexts(node.Invalid))
		}
	}
}

// Mistakes in optional members do not prevent a map from being stored.
func TestParseMapKeepsInvalidNodes(t *testing.T) {
	for _, test := range []struct{ members, want string }{
		{`"disabled": "yes"`, "nodes[0].disabled: must be true or false"},
		{`"timeoutMs": 0`, "nodes[0].timeoutMs: must be a number of milliseconds above 0"},
		{`"timeoutMs": "5"`, "nodes[0].timeoutMs: must be a number of milliseconds above 0"},
		{`"timeoutMs": 1e300`, "nodes[0].timeoutMs: must be a number of milliseconds above 0"},
		{`"timeoutMs": 1e999`, "nodes[0].timeoutMs: must be a number of milliseconds above 0"},
		{`"onError": "ignore"`, `nodes[0].onError: must be "stop", "continue" or "branch"`},
		{`"effect": 1`, `nodes[0].effect: must be "pure", "idempotent" or "once"`},
		{`"retry": 3`, "nodes[0].retry: must be an object"},
		{`"retry": {}`, "nodes[0].retry.maxAttempts: required"},
		{`"retry": {"maxAttempts": 1.5}`, "nodes[0].retry.maxAttempts: must be a whole number from 1 to 1000"},
		{`"retry": {"maxAttempts": 0}`, "nodes[0].retry.maxAttempts: must be a whole number from 1 to 1000"},
		{`"retry": {"maxAttempts": 2, "delayMs": -1, "backoff": 0.5}`,
			"nodes[0].retry.delayMs: must be a number of milliseconds from 0 to 86400000\nnodes[0].retry.backoff: must be a number from 1 to 100"},
	} {
		t.Run(test.members, func(t *testing.T) {
			m, issues := blueprint.ParseMap(decode(t, `{"nodes": [{"id": "a", "type": "log", "title": "", "config": {}, `+test.members+`}]}`))
			if issues != nil {
				t.Fatalf("%v, want nil", issueTexts(issues))
			}
			if got := issueTexts(m.Nodes[0].Invalid); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Every accepted map compiles to a graph, or its cycle is named.
func FuzzParseMap(f *testing.F) {
	for _, seed := range []string{
		`{"nodes": []}`,
		`{"nodes": [{"id": "a", "type": "set", "title": "", "config": {}}]}`,
		`{"nodes": [{"id": "a", "type": "x", "title": "", "config": {}, "disabled": true, "onError": "branch", "retry": {"maxAttempts": 2}}, {"id": "b", "type": "x", "title": "", "config": {}}], "edges": [{"source": "a", "target": "b", "sourceHandle": "error"}]}`,
		`{"nodes": [{"id": "a", "type": "x", "title": "", "config": {}}, {"id": "b", "type": "x", "title": "", "config": {}}], "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "a"}]}`,
		`{"nodes": [{"id": "", "type": 1}], "edges": [{"source": "", "target": ""}]}`,
		`{"nodes": null, "edges": null}`, `[`, `"{{"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := blueprint.Decode(data)
		if err != nil {
			return
		}
		m, issues := blueprint.ParseMap(value)
		if (m == nil) != (len(issues) > 0) {
			t.Fatalf("map %v with issues %v", m, issues)
		}
		if m == nil {
			return
		}
		graph, issues := blueprint.Compile(m)
		if issues != nil {
			if !strings.HasPrefix(issues[0].Message, "form a cycle: ") {
				t.Fatalf("an accepted map does not compile: %s, want \"form a cycle: \" at the start", issueTexts(issues))
			}
			return
		}
		plan := blueprint.NewPlan(graph)
		for !plan.Done() {
			for _, i := range plan.Ready() {
				plan.Start(i)
				if i%3 == 2 {
					plan.Fail(i, graph.Node(i).OnError)
				} else {
					plan.Complete(i, "a")
				}
				if plan.Halted() {
					break
				}
			}
		}
	})
}
