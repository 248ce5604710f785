package main

import (
	"fmt"
	"testing"
	"time"

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
	types := catalogue()
	for _, n := range []int{1000, blueprint.MaxNodes} {
		m, variables := largeMap(n)
		b.Run(fmt.Sprintf("good-%d", n), func(b *testing.B) {
			for b.Loop() {
				if issues := blueprint.Validate(m, variables, types, checkConfig); len(issues) > 0 {
					b.Fatal(issues[0])
				}
			}
		})
		worst := worstMap(n)
		b.Run(fmt.Sprintf("worst-%d", n), func(b *testing.B) {
			for b.Loop() {
				if issues := blueprint.Validate(worst, nil, types, checkConfig); len(issues) < blueprint.MaxIssues {
					b.Fatal(len(issues))
				}
			}
		})
	}
}

// The largest map takes no more than ten times as long as one of a tenth, with
// room for what else the machine does.
func TestValidateIsLinear(t *testing.T) {
	types := catalogue()
	took := func(n int) time.Duration {
		m, variables := largeMap(n)
		least := time.Hour
		for range 3 {
			began := time.Now()
			if issues := blueprint.Validate(m, variables, types, checkConfig); len(issues) > 0 {
				t.Fatal(issues[0])
			}
			least = min(least, time.Since(began))
		}
		return least
	}
	small, large := took(blueprint.MaxNodes/10), took(blueprint.MaxNodes)
	t.Logf("%v and %v", small, large)
	if large > 40*small {
		t.Errorf("%d nodes take %v, a tenth of them %v", blueprint.MaxNodes, large, small)
	}
}
