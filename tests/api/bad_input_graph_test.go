package api

import (
	"fmt"
	"runtime"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// largeGraphs are blueprint maps of about n nodes in the shapes that cost most.
var largeGraphs = map[string]func(n int) object{
	"a chain": func(n int) object {
		return chain(n, func(i int) object { return node(fmt.Sprint("n", i), "set", object{"values": object{"x": i}}) })
	},
	"a chain that refers back": func(n int) object {
		return chain(n, func(i int) object {
			return node(fmt.Sprint("n", i), "transform", object{"expression": fmt.Sprintf("nodes?.n%d == nil", max(0, i-1))})
		})
	},
	"a chain of templates that refer to the first": func(n int) object {
		return chain(n, func(i int) object {
			return node(fmt.Sprint("n", i), "template", object{"text": `{{nodes.n0.output.text ?? "x"}}`})
		})
	},
	"a sequence without edges": func(n int) object {
		m := chain(n, func(i int) object {
			return node(fmt.Sprint("n", i), "template", object{"text": "{{inputData.a ?? 1}}"})
		})
		delete(m, "edges")
		return m
	},
	"a fan": func(n int) object {
		return fan(n, func(i int) object { return node(fmt.Sprint("n", i), "template", object{"text": "{{execution.id}}"}) })
	},
	"a fan of one variable": func(n int) object {
		return fan(n, func(i int) object { return node(fmt.Sprint("n", i), "set", object{"values": object{"x": i}}) })
	},
	"a ladder of one variable": func(n int) object {
		nodes, edges := []any{node("j0", "merge", object{})}, []any{}
		for i := 1; 3*i < n; i++ {
			a, b, j := fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("j", i)
			nodes = append(nodes, node(a, "set", object{"values": object{"x": 1}}), node(b, "set", object{"values": object{"x": 2}}), node(j, "template", object{"text": "{{x}}"}))
			above := fmt.Sprint("j", i-1)
			edges = append(edges, object{"source": above, "target": a}, object{"source": above, "target": b}, object{"source": a, "target": j}, object{"source": b, "target": j})
		}
		return object{"nodes": nodes, "edges": edges}
	},
	"a switch with a case for each node": func(n int) object {
		m := fan(n, func(i int) object { return node(fmt.Sprint("n", i), "merge", object{}) })
		cases := make([]any, n)
		for i := range cases {
			cases[i] = object{"equals": i, "handle": fmt.Sprint("h", i)}
			m["edges"].([]any)[2*i].(object)["sourceHandle"] = fmt.Sprint("h", i)
		}
		m["nodes"].([]any)[0] = node("root", "switch", object{"value": 1, "cases": cases})
		return m
	},
}

func chain(n int, each func(i int) object) object {
	nodes, edges := make([]any, n), make([]any, 0, n)
	for i := range nodes {
		nodes[i] = each(i)
		if i > 0 {
			edges = append(edges, object{"source": fmt.Sprint("n", i-1), "target": fmt.Sprint("n", i)})
		}
	}
	return object{"nodes": nodes, "edges": edges}
}

func fan(n int, each func(i int) object) object {
	nodes, edges := []any{node("root", "merge", object{})}, []any{}
	for i := range n {
		nodes = append(nodes, each(i))
		edges = append(edges, object{"source": "root", "target": fmt.Sprint("n", i)}, object{"source": fmt.Sprint("n", i), "target": "end"})
	}
	return object{"nodes": append(nodes, node("end", "merge", object{"mode": "first"})), "edges": edges}
}

// TestLargeGraphs creates, validates and runs blueprints of two sizes, with -thorough
// nearly 5,000 and 10,000 nodes: twice the nodes take about twice the memory, counted
// over everything that the server allocates, and the work that goes with it.
func TestLargeGraphs(t *testing.T) {
	s := servertest.New(t, func(o *server.Options) { o.MaxBody = 20 << 20 })
	sizes := [2]int{800, 1_600}
	if *thorough {
		sizes = [2]int{4_990, 9_980}
	}
	for name, shape := range largeGraphs {
		t.Run(name, func(t *testing.T) {
			cost := map[string][2]float64{}
			for k, n := range sizes {
				m := shape(n)
				var id string
				for _, part := range []struct {
					name string
					do   func()
				}{
					{"create", func() { id = s.Root.IDOf(t, "blueprint.create", object{"title": name, "blueprint_map": m}) }},
					{"validate", func() {
						if answer := s.Root.OK(t, "blueprint.validate", object{"blueprint_map": m}); at(answer, "valid") != true {
							t.Errorf("%.500s, want valid true", servertest.Encoded(t, answer))
						}
					}},
					{"execute", func() {
						if answer := s.Root.OK(t, "blueprint.execute", object{"id": id}); at(answer, "result.status") != string(blueprint.StatusCompleted) {
							t.Errorf("%.500s, want result.status %v", servertest.Encoded(t, answer), string(blueprint.StatusCompleted))
						}
					}},
				} {
					c := cost[part.name]
					c[k] = allocated(part.do)
					cost[part.name] = c
				}
			}
			for part, c := range cost {
				t.Logf("%s: %.1f and %.1f MiB", part, c[0]/(1<<20), c[1]/(1<<20))
				if c[1] > 2.8*c[0] {
					t.Errorf("%s: %.1f MiB for %d nodes, %.1f MiB for %d; want at most %v", part, c[0]/(1<<20), sizes[0], c[1]/(1<<20), sizes[1], 2.8*c[0])
				}
			}
		})
	}
}

// allocated returns the number of bytes that the process allocates while f runs. Tests that
// call it are not parallel: allocations of others would count.
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc - before.TotalAlloc)
}
