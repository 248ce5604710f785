package project

import (
	"fmt"
	"testing"

	"blueprintd/blueprint"
)

// largeMap is a chain of nodes with much to look at: references to the node
// before, an expression, and a title each.
func largeMap(n int) (m map[string]any, variables []any) {
	var nodes, edges []any
	for i := range n {
		id := fmt.Sprintf("n%d", i)
		text := fmt.Sprintf("{{v%d}} to {{= v%d ?? 1 }}", i%100, i%100)
		if i > 0 {
			text += fmt.Sprintf(" {{nodes.n%d.output}}", i-1)
			edges = append(edges, map[string]any{"source": fmt.Sprintf("n%d", i-1), "target": id})
		}
		nodes = append(nodes, map[string]any{"id": id, "type": "log", "title": "Node " + id, "config": map[string]any{"message": text, "data": map[string]any{"key": "value", "url": "https://example.com/"}}})
	}
	for i := range 100 {
		variables = append(variables, map[string]any{"name": fmt.Sprintf("v%d", i)})
	}
	return map[string]any{"nodes": nodes, "edges": edges}, variables
}

// worstMap is as large, and everything in it is dubious: each node names one that
// is not there and a variable that is not, has a title that others have, and never
// runs.
func worstMap(n int) (m map[string]any) {
	nodes := []any{map[string]any{"id": "s", "type": "stop", "title": "T", "config": map[string]any{}}}
	var edges []any
	for i := range n - 1 {
		id := fmt.Sprintf("n%d", i)
		nodes = append(nodes, map[string]any{"id": id, "type": "log", "title": "T", "onEror": 1, "config": map[string]any{"message": fmt.Sprintf("{{w%d}} {{nodes.m%d.output ?? 1}} {{nodes.n%d.output}}", i, i, n-i), "mesage": 1}})
		edges = append(edges, map[string]any{"source": "s", "target": id, "sourceHandle": id})
	}
	return map[string]any{"nodes": nodes, "edges": edges}
}

func BenchmarkValidate(b *testing.B) {
	types := Catalogue()
	for _, n := range []int{1000, blueprint.MaxNodes} {
		m, variables := largeMap(n)
		b.Run(fmt.Sprintf("good-%d", n), func(b *testing.B) {
			for b.Loop() {
				if issues := blueprint.Validate(m, variables, types, CheckConfig); len(issues) > 0 {
					b.Fatal(issues[0])
				}
			}
		})
		worst := worstMap(n)
		b.Run(fmt.Sprintf("worst-%d", n), func(b *testing.B) {
			for b.Loop() {
				if issues := blueprint.Validate(worst, nil, types, CheckConfig); len(issues) < blueprint.MaxIssues {
					b.Fatal(len(issues))
				}
			}
		})
	}
}

// Ten times as many nodes take ten times as much work: what is allocated tells,
// by number and, for lists that are gone through again and again, by the looks at
// the configs of nodes.
func TestValidateIsLinear(t *testing.T) {
	types := Catalogue()
	work := func(n int) (allocated float64, looks int) {
		m, variables := largeMap(n)
		check := func(config map[string]any, untouched func([]any) bool) ([]blueprint.Reference, []blueprint.Issue) {
			looks++
			return CheckConfig(config, untouched)
		}
		if issues := blueprint.Validate(m, variables, types, check); len(issues) > 0 {
			t.Fatalf("%v, want none", issues[0])
		}
		once := looks
		return testing.AllocsPerRun(1, func() { blueprint.Validate(m, variables, types, check) }), once
	}
	small, few := work(blueprint.MaxNodes / 10)
	large, many := work(blueprint.MaxNodes)
	t.Logf("%.0f and %.0f allocations, %d and %d looks at a config", small, large, few, many)
	if large > 11*small {
		t.Errorf("%d nodes take %.0f allocations, a tenth of them %.0f; want at most %v", blueprint.MaxNodes, large, small, 11*small)
	}
	if many > 10*few {
		t.Errorf("%d nodes take %d looks at a config, a tenth of them %d; want at most %v", blueprint.MaxNodes, many, few, 10*few)
	}
}
