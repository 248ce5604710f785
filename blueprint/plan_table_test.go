package blueprint_test

import (
	"fmt"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// graphOf parses a graph: "a" is a node, "a! continue" one with a
// reaction, "a off" a disabled one, "a -> b" an edge, "a -x> b" one with a
// handle.
func graphOf(t testing.TB, text string) *blueprint.Graph {
	t.Helper()
	m := &blueprint.Map{}
	for _, line := range strings.Split(text, ";") {
		words := strings.Fields(line)
		if len(words) == 3 && strings.HasSuffix(words[1], ">") {
			m.Edges = append(m.Edges, blueprint.Edge{Source: words[0], Target: words[2], Handle: strings.Trim(words[1], "->")})
			continue
		}
		node := blueprint.Node{ID: words[0], OnError: blueprint.OnErrorStop}
		for _, word := range words[1:] {
			if word == "off" {
				node.Disabled = true
			} else {
				node.OnError = blueprint.OnError(word)
			}
		}
		m.Nodes = append(m.Nodes, node)
	}
	graph, issues := blueprint.Compile(m)
	if issues != nil {
		t.Fatalf("%v, want nil", issues)
	}
	return graph
}

// play runs a plan by a script: "a" completes node a, "a:x" with handle x,
// "a!" fails it, "a." ends the run with it, "a-" drops it, "halt" halts. Nodes
// start as soon as they can.
func play(graph *blueprint.Graph, script string) string {
	plan := blueprint.NewPlan(graph)
	start := func() {
		for _, i := range plan.Ready() {
			plan.Start(i)
		}
	}
	start()
	for _, word := range strings.Fields(script) {
		name := strings.TrimRight(word, "!.-")
		name, handle, _ := strings.Cut(name, ":")
		i := graph.Index(name)
		switch {
		case word == "halt":
			plan.Halt()
		case strings.HasSuffix(word, "!"):
			plan.Fail(i, graph.Node(i).OnError)
		case strings.HasSuffix(word, "."):
			plan.Finish(i)
		case strings.HasSuffix(word, "-"):
			plan.Skip(i)
		default:
			plan.Complete(i, handle)
		}
		start()
	}
	words := []string{"pending", "started", "completed", "failed", "skipped", "passed"}
	var out []string
	for i := range graph.Len() {
		out = append(out, graph.Node(i).ID+"="+words[plan.State(i)])
	}
	var ends []string
	for _, i := range plan.Ends() {
		ends = append(ends, graph.Node(i).ID)
	}
	return fmt.Sprintf("%s; ends %s; over %v", strings.Join(out, " "), strings.Join(ends, ","), plan.Done())
}

func TestPlan(t *testing.T) {
	for _, test := range []struct{ name, graph, script, want string }{
		{"one node", "a", "a", "a=completed; ends a; over true"},
		{"a sequence runs in order", "a; b; c", "a b", "a=completed b=completed c=started; ends ; over false"},
		{"a sequence to its end", "a; b; c", "a b c", "a=completed b=completed c=completed; ends c; over true"},
		{"a disabled node passes on", "a; b off; c", "a c", "a=completed b=passed c=completed; ends c; over true"},
		{"all disabled", "a off; b off", "", "a=passed b=passed; ends b; over true"},
		{"roots start together", "a; b; c; a -> c; b -> c", "b a", "a=completed b=completed c=started; ends ; over false"},
		{"a join waits for both", "a; b; c; a -> c; b -> c", "a", "a=completed b=started c=pending; ends ; over false"},
		{"a handle chooses", "a; b; c; a -x> b; a -y> c", "a:x b", "a=completed b=completed c=skipped; ends b; over true"},
		{"no handle takes only plain edges", "a; b; c; a -x> b; a -> c", "a c", "a=completed b=skipped c=completed; ends c; over true"},
		{"plain edges are always taken", "a; b; c; a -x> b; a -> c", "a:x b c", "a=completed b=completed c=completed; ends b,c; over true"},
		{"main is the default handle", "a; b; a -> b", "a:main b", "a=completed b=completed; ends b; over true"},
		{"a dead branch ends at its join", "a; b; c; d; a -x> b; b -> d; a -y> c; c -> d", "a:x b d", "a=completed b=completed c=skipped d=completed; ends d; over true"},
		{"all edges dead", "a; b; c; a -x> b; b -> c", "a", "a=completed b=skipped c=skipped; ends a; over true"},
		{"a disabled node takes no handle", "a off; b; c; a -x> b; a -> c", "c", "a=passed b=skipped c=completed; ends c; over true"},
		{"a disabled node on a dead branch is skipped", "a; b off; c; a -x> b; b -> c", "a", "a=completed b=skipped c=skipped; ends a; over true"},
		{"two edges to one node", "a; b; a -x> b; a -y> b", "a:y b", "a=completed b=completed; ends b; over true"},
		{"a failure stops", "a; b; c; a -> b; a -> c", "a b!", "a=completed b=failed c=started; ends ; over false"},
		{"running nodes end after a failure", "a; b; c; d; a -> b; a -> c; c -> d", "a b! c", "a=completed b=failed c=completed d=pending; ends c; over true"},
		{"continue", "a continue; b; c; a -> b; a -error> c", "a! b", "a=failed b=completed c=skipped; ends b; over true"},
		{"branch", "a branch; b; c; a -> b; a -error> c", "a! c", "a=failed b=skipped c=completed; ends c; over true"},
		{"branch without failure", "a branch; b; c; a -> b; a -error> c", "a b", "a=completed b=completed c=skipped; ends b; over true"},
		{"branch without such an edge", "a branch; b; a -> b", "a!", "a=failed b=skipped; ends a; over true"},
		{"branch in a sequence", "a branch; b", "a!", "a=failed b=skipped; ends a; over true"},
		{"continue at the end is an end", "a continue", "a!", "a=failed; ends a; over true"},
		{"finish skips the rest", "a; b; c", "a.", "a=completed b=skipped c=skipped; ends a; over true"},
		{"finish lets running nodes end", "a; b; c; b -> c", "a. b", "a=completed b=completed c=skipped; ends a,b; over true"},
		{"finish after a failure leaves the rest pending", "a; b; c; b -> c", "a! b.", "a=failed b=completed c=pending; ends b; over true"},
		{"a dropped node takes no edges", "a; b; a -> b", "a-", "a=skipped b=skipped; ends ; over true"},
		{"halt leaves the rest pending", "a; b", "halt a", "a=completed b=pending; ends a; over true"},
		{"drop after halt", "a; b; a -> b", "halt a-", "a=skipped b=pending; ends ; over true"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := play(graphOf(t, test.graph), test.script); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestPlanPanicsOnMisuse(t *testing.T) {
	for name, mistake := range map[string]func(p *blueprint.Plan){
		"start too early":            func(p *blueprint.Plan) { p.Start(1) },
		"start twice":                func(p *blueprint.Plan) { p.Start(0); p.Start(0) },
		"start after halt":           func(p *blueprint.Plan) { p.Halt(); p.Start(0) },
		"settle unstarted":           func(p *blueprint.Plan) { p.Complete(0, "") },
		"settle twice":               func(p *blueprint.Plan) { p.Start(0); p.Complete(0, ""); p.Fail(0, blueprint.OnErrorContinue) },
		"drop a node that never ran": func(p *blueprint.Plan) { p.Skip(1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			mistake(blueprint.NewPlan(graphOf(t, "a; b")))
		})
	}
}

// Inputs lists each source once, in the order of the edges.
func TestInputsOfAWideJoin(t *testing.T) {
	var lines, joins []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("n%d", i))
		for range 3 {
			joins = append(joins, fmt.Sprintf("n%d -> end", 99-i))
		}
	}
	graph := graphOf(t, strings.Join(lines, ";")+";end;"+strings.Join(joins, ";"))
	plan := blueprint.NewPlan(graph)
	for _, i := range plan.Ready() {
		plan.Start(i)
		plan.Complete(i, "")
	}
	inputs := plan.Inputs(100)
	for at, from := range inputs {
		if from != 99-at {
			t.Fatalf("input %d is node %d, want %v", at, from, 99-at)
		}
	}
	if len(inputs) != 100 {
		t.Fatalf("%d inputs, want 100", len(inputs))
	}
}

func TestDownstream(t *testing.T) {
	graph := graphOf(t, "a; b; c; d; a -> b; b -> c; a -> d")
	for from, want := range map[string]string{"a": "[true true true true]", "b": "[false true true false]", "d": "[false false false true]"} {
		t.Run(from, func(t *testing.T) {
			if got := fmt.Sprint(graph.Downstream(graph.Index(from))); got != want {
				t.Errorf("downstream of %s: %s, want %s", from, got, want)
			}
		})
	}
	if graph.Index("nobody") != -1 {
		t.Error("an unknown id has an index")
	}
}

// The Writers of ten thousand nodes that each set a variable share memory.
func TestWritersOfALongSequence(t *testing.T) {
	graph := graphOf(t, "a")
	var seen *blueprint.Writers
	for i := range blueprint.MaxNodes {
		seen = graph.MergeWriters(seen.Write(i, map[string]any{fmt.Sprintf("v%d", i): nil, "all": nil}))
	}
	for name, want := range map[string]int{"v0": 0, "v7": 7, "all": blueprint.MaxNodes - 1} {
		t.Run(name, func(t *testing.T) {
			if got, ok := seen.Of(name); !ok || got != want {
				t.Errorf("%s was written by %d, want %d", name, got, want)
			}
		})
	}
	if _, ok := seen.Of("nobody"); ok {
		t.Error("an unset variable has a writer")
	}
	if got := len(seen.All()); got != blueprint.MaxNodes+1 {
		t.Errorf("%d variables, want %v", got, blueprint.MaxNodes+1)
	}
}

func TestMergeWriters(t *testing.T) {
	graph := graphOf(t, "late; b; a; join; a -> b; a -> join; b -> join; late -> join")
	late, a, b := graph.Index("late"), graph.Index("a"), graph.Index("b")
	write := func(w *blueprint.Writers, node int, name string) *blueprint.Writers {
		return w.Write(node, map[string]any{name: nil})
	}
	seenA := write(nil, a, "x")
	for _, test := range []struct {
		name    string
		sources []*blueprint.Writers
		want    int
	}{
		{"the later in the map", []*blueprint.Writers{write(nil, a, "x"), write(nil, late, "x")}, a},
		{"the one downstream", []*blueprint.Writers{write(seenA, b, "x"), seenA}, b},
		{"downstream without a common part", []*blueprint.Writers{write(nil, a, "x"), write(nil, b, "x")}, b},
		{"one writer", []*blueprint.Writers{nil, seenA}, a},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range 2 {
				got, ok := graph.MergeWriters(test.sources...).Of("x")
				if !ok || got != test.want {
					t.Errorf("got node %d, want %d", got, test.want)
				}
				test.sources[0], test.sources[1] = test.sources[1], test.sources[0]
			}
		})
	}
	if graph.MergeWriters() != nil || graph.MergeWriters(nil, nil) != nil {
		t.Error("merging nothing is not nil")
	}
}
