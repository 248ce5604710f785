package blueprint_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"blueprintd/blueprint"
)

// ending is the result of a node in a test: it fails, ends the run, or completes with a
// handle.
type ending struct {
	fails, finishes bool
	handle          string
	writes          []string // variables
}

// example is a random graph with the results of its nodes.
type example struct {
	m       *blueprint.Map
	graph   *blueprint.Graph
	endings []ending
}

// drawExample draws a random acyclic graph. With calm set, no node stops the run early.
func drawExample(t *rapid.T, calm bool) *example {
	n := rapid.IntRange(1, 12).Draw(t, "nodes")
	reactions := []blueprint.OnError{blueprint.OnErrorContinue, blueprint.OnErrorBranch}
	if !calm {
		reactions = append(reactions, blueprint.OnErrorStop)
	}
	x := &example{m: &blueprint.Map{}}
	for i := range n {
		x.m.Nodes = append(x.m.Nodes, blueprint.Node{
			ID: fmt.Sprintf("n%d", i), Disabled: rapid.IntRange(0, 4).Draw(t, "disabled") == 0, OnError: rapid.SampledFrom(reactions).Draw(t, "onError"),
		})
		x.endings = append(x.endings, ending{
			fails:    rapid.IntRange(0, 4).Draw(t, "fails") == 0,
			finishes: !calm && rapid.IntRange(0, 9).Draw(t, "finishes") == 0,
			handle:   rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "handle"),
			writes:   rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), 0, 3, rapid.ID[string]).Draw(t, "writes"),
		})
	}
	var order []int
	for i := range n {
		order = append(order, i)
	}
	order = rapid.Permutation(order).Draw(t, "order")
	for range rapid.IntRange(0, 2*n).Draw(t, "edges") {
		a := rapid.IntRange(0, n-1).Draw(t, "from")
		b := rapid.IntRange(0, n-1).Draw(t, "to")
		if a == b {
			continue
		}
		x.m.Edges = append(x.m.Edges, blueprint.Edge{
			Source: x.m.Nodes[order[min(a, b)]].ID, Target: x.m.Nodes[order[max(a, b)]].ID,
			Handle: rapid.SampledFrom([]string{"", "", "a", "b", "error"}).Draw(t, "sourceHandle"),
		})
	}
	var issues []blueprint.Issue
	if x.graph, issues = blueprint.Compile(x.m); issues != nil {
		t.Fatalf("an acyclic graph was refused: %v, want nil", issues)
	}
	return x
}

// edges returns the edges of the graph, including the implicit ones of a sequence.
func (x *example) edges() []blueprint.Edge {
	if !x.m.Sequential() {
		return x.m.Edges
	}
	var edges []blueprint.Edge
	for i := 1; i < len(x.m.Nodes); i++ {
		edges = append(edges, blueprint.Edge{Source: x.m.Nodes[i-1].ID, Target: x.m.Nodes[i].ID})
	}
	return edges
}

// walked is the result of a walk.
type walked struct {
	States  []blueprint.NodeState
	Inputs  [][]int
	Ends    []int
	Writers []map[string]int // what each started node saw
}

// walk drives a plan to its end in a random order and checks its invariants.
func (x *example) walk(t *rapid.T, label string) walked {
	plan := blueprint.NewPlan(x.graph)
	n := x.graph.Len()
	out := walked{Inputs: make([][]int, n), Writers: make([]map[string]int, n)}
	seen := make([]*blueprint.Writers, n)
	begun := make([]bool, n)
	var running []int
	for steps := 0; ; steps++ {
		if steps > 4*n {
			t.Fatalf("the walk does not end, want at most %v", 4*n)
		}
		for _, i := range plan.Ready() {
			if !plan.IsReady(i) || !plan.CanStart() {
				t.Fatalf("Ready and IsReady differ for node %d", i)
			}
			if len(running) > 0 && rapid.Bool().Draw(t, label+" waits") {
				continue
			}
			if begun[i] {
				t.Fatalf("node %d starts twice", i)
			}
			x.mayStart(t, plan, i)
			plan.Start(i)
			begun[i] = true
			running = append(running, i)
			seen[i] = x.graph.MergeWriters(x.before(plan, seen, i)...)
			out.Writers[i] = seen[i].All()
			ledTo(t, plan, n, i)
		}
		if first, ok := plan.First(); ok != plan.CanStart() || ok && first != plan.Ready()[0] {
			t.Fatalf("the first ready node is %d, %v of %v", first, ok, plan.Ready())
		}
		if plan.Done() {
			break
		}
		if len(running) == 0 {
			t.Fatalf("no node runs or can start, but the walk is not done")
		}
		at := rapid.IntRange(0, len(running)-1).Draw(t, label+" next")
		i := running[at]
		running = slices.Delete(running, at, at+1)
		out.Inputs[i] = plan.Inputs(i)
		switch end := x.endings[i]; {
		case end.fails:
			plan.Fail(i, x.m.Nodes[i].OnError)
		case end.finishes:
			plan.Finish(i)
		default:
			plan.Complete(i, end.handle)
		}
	}
	for i := range n {
		out.States = append(out.States, plan.State(i))
		if s := plan.State(i); s == blueprint.NodeStarted || s == blueprint.NodePending && !plan.Halted() {
			t.Fatalf("node %d is left in state %d", i, s)
		}
	}
	out.Ends = plan.Ends()
	return out
}

// ledTo compares Precedes with a backward search.
func ledTo(t *rapid.T, plan *blueprint.Plan, n, to int) {
	led := make([]bool, n)
	for queue := plan.Inputs(to); len(queue) > 0; queue = queue[1:] {
		if from := queue[0]; !led[from] {
			led[from] = true
			queue = append(queue, plan.Inputs(from)...)
		}
	}
	for from := range n {
		if plan.Precedes(from, to) != led[from] {
			t.Fatalf("node %d led to node %d: %v, want %v", from, to, plan.Precedes(from, to), led[from])
		}
	}
}

// before returns the Writers after the taken predecessors of a node.
func (x *example) before(plan *blueprint.Plan, seen []*blueprint.Writers, i int) []*blueprint.Writers {
	var sources []*blueprint.Writers
	for _, from := range plan.Inputs(i) {
		switch plan.State(from) {
		case blueprint.NodePassed:
			sources = append(sources, x.graph.MergeWriters(x.before(plan, seen, from)...))
		case blueprint.NodeCompleted:
			values := map[string]any{}
			for _, name := range x.endings[from].writes {
				values[name] = true
			}
			sources = append(sources, seen[from].Write(from, values))
		default:
			sources = append(sources, seen[from])
		}
	}
	return sources
}

// mayStart checks by the edges alone that a node may start.
func (x *example) mayStart(t *rapid.T, plan *blueprint.Plan, i int) {
	led, taken := false, false
	for _, edge := range x.edges() {
		if edge.Target != x.m.Nodes[i].ID {
			continue
		}
		led = true
		from := x.graph.Index(edge.Source)
		if s := plan.State(from); s == blueprint.NodePending || s == blueprint.NodeStarted {
			t.Fatalf("node %d starts before node %d has settled, want other than %v and other than %v", i, from, blueprint.NodePending, blueprint.NodeStarted)
		}
		taken = taken || x.takes(from, plan.State(from), edge.Handle)
	}
	if led && !taken {
		t.Fatalf("node %d starts and no edge to it was taken", i)
	}
}

// takes is an independent implementation of which edges are taken.
func (x *example) takes(from int, state blueprint.NodeState, handle string) bool {
	switch state {
	case blueprint.NodePassed:
		return handle == ""
	case blueprint.NodeCompleted:
		return handle == "" || handle == x.endings[from].handle
	case blueprint.NodeFailed:
		return x.m.Nodes[from].OnError == blueprint.OnErrorContinue && handle == "" || x.m.Nodes[from].OnError == blueprint.OnErrorBranch && handle == "error"
	default:
		return false
	}
}

// model computes the result of a walk that is not stopped early from the predecessors of
// each node.
func (x *example) model() walked {
	n := x.graph.Len()
	out := walked{States: make([]blueprint.NodeState, n), Inputs: make([][]int, n), Writers: make([]map[string]int, n)}
	reaches := x.reachability()
	known := make([]bool, n)
	var visit func(i int)
	after := make([]map[string]int, n)
	visit = func(i int) {
		if known[i] {
			return
		}
		known[i] = true
		led := false
		var inputs []int
		for _, edge := range x.edges() {
			if edge.Target != x.m.Nodes[i].ID {
				continue
			}
			led = true
			from := x.graph.Index(edge.Source)
			visit(from)
			if x.takes(from, out.States[from], edge.Handle) && !slices.Contains(inputs, from) {
				inputs = append(inputs, from)
			}
		}
		candidates := map[string][]int{}
		for _, from := range inputs {
			for name, writer := range after[from] {
				candidates[name] = append(candidates[name], writer)
			}
		}
		visible := map[string]int{}
		for name, writers := range candidates {
			last := -1
			for _, w := range writers {
				if !slices.ContainsFunc(writers, func(other int) bool { return reaches[w][other] }) {
					last = max(last, w)
				}
			}
			visible[name] = last
		}
		after[i] = visible
		switch {
		case led && len(inputs) == 0:
			out.States[i] = blueprint.NodeSkipped
			return
		case x.m.Nodes[i].Disabled:
			out.States[i] = blueprint.NodePassed
			return
		case x.endings[i].fails:
			out.States[i] = blueprint.NodeFailed
		default:
			out.States[i] = blueprint.NodeCompleted
			after[i] = maps.Clone(visible)
			for _, name := range x.endings[i].writes {
				after[i][name] = i
			}
		}
		out.Inputs[i], out.Writers[i] = inputs, visible
	}
	for i := range n {
		visit(i)
	}
	for i := range n {
		if out.States[i] == blueprint.NodeSkipped {
			continue
		}
		leads := false
		for _, edge := range x.edges() {
			leads = leads || edge.Source == x.m.Nodes[i].ID && x.takes(i, out.States[i], edge.Handle)
		}
		if !leads {
			out.Ends = append(out.Ends, i)
		}
	}
	return out
}

// reachability reports for each pair of nodes whether a path of at least one edge leads
// from one to the other.
func (x *example) reachability() [][]bool {
	n := x.graph.Len()
	reaches := make([][]bool, n)
	for i := range reaches {
		reaches[i] = make([]bool, n)
	}
	for _, edge := range x.edges() {
		reaches[x.graph.Index(edge.Source)][x.graph.Index(edge.Target)] = true
	}
	for k := range n {
		for i := range n {
			for j := range n {
				reaches[i][j] = reaches[i][j] || reaches[i][k] && reaches[k][j]
			}
		}
	}
	return reaches
}

// Every walk ends, and starts no node twice or too early.
func TestEveryWalkEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { drawExample(t, false).walk(t, "walk") })
}

// Without an early stop the result follows from the edges, in any order of completion.
func TestOutcomeDoesNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawExample(t, true)
		want := fmt.Sprintf("%+v", x.model())
		for _, label := range []string{"first", "second"} {
			if got := fmt.Sprintf("%+v", x.walk(t, label)); got != want {
				t.Fatalf("%s walk: got\n%s\nwant\n%s", label, got, want)
			}
		}
	})
}

// Compile finds a cycle if and only if removing nodes without incoming edges leaves
// nodes.
func TestCycleIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "nodes")
		m := &blueprint.Map{}
		for i := range n {
			m.Nodes = append(m.Nodes, blueprint.Node{ID: fmt.Sprintf("n%d", i)})
		}
		incoming := make([]int, n)
		joined := map[[2]int]bool{}
		for range rapid.IntRange(1, 2*n).Draw(t, "edges") {
			a, b := rapid.IntRange(0, n-1).Draw(t, "from"), rapid.IntRange(0, n-1).Draw(t, "to")
			m.Edges = append(m.Edges, blueprint.Edge{Source: m.Nodes[a].ID, Target: m.Nodes[b].ID})
			if !joined[[2]int{a, b}] {
				incoming[b]++
			}
			joined[[2]int{a, b}] = true
		}
		left := n
		for progress := true; progress; {
			progress = false
			for i := range n {
				if incoming[i] != 0 {
					continue
				}
				incoming[i], left, progress = -1, left-1, true
				for j := range n {
					if joined[[2]int{i, j}] {
						incoming[j]--
					}
				}
			}
		}
		graph, issues := blueprint.Compile(m)
		if (graph == nil) != (left > 0) || (issues != nil) != (left > 0) {
			t.Fatalf("%d nodes are on cycles, Compile gave %v, %v", left, graph, issues)
		}
		if issues == nil {
			return
		}
		route, ok := strings.CutPrefix(issues[0].Message, "form a cycle: ")
		names := strings.Split(route, " -> ")
		if !ok || len(names) < 2 || names[0] != names[len(names)-1] {
			t.Fatalf("%q names no cycle, want length at least 2 and %v", issues[0].Message, names[len(names)-1])
		}
		for i := 1; i < len(names); i++ {
			var a, b int
			if _, err := fmt.Sscanf(names[i-1]+" "+names[i], "n%d n%d", &a, &b); err != nil || !joined[[2]int{a, b}] {
				t.Fatalf("%q: no such edge", issues[0].Message)
			}
		}
	})
}

func TestLongCycleIsAbbreviated(t *testing.T) {
	m := &blueprint.Map{}
	const n = 1000
	for i := range n {
		m.Nodes = append(m.Nodes, blueprint.Node{ID: fmt.Sprintf("n%d", i)})
		m.Edges = append(m.Edges, blueprint.Edge{Source: fmt.Sprintf("n%d", i), Target: fmt.Sprintf("n%d", (i+1)%n)})
	}
	_, issues := blueprint.Compile(m)
	const want = "form a cycle: n0 -> n1 -> n2 -> n3 -> n4 -> n5 -> n6 -> n7 -> n8 -> n9 -> (981 more) -> n991 -> n992 -> n993 -> n994 -> n995 -> n996 -> n997 -> n998 -> n999 -> n0"
	if len(issues) != 1 || issues[0].Message != want {
		t.Fatalf("got %v, want length 1 and Message %v", issues, want)
	}
}
