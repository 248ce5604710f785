package blueprint

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// Results for many ways at once equal those of single searches.
func TestLeads(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + random.IntN(200)
		m := &Map{}
		order := random.Perm(n)
		for i := range n {
			m.Nodes = append(m.Nodes, Node{ID: fmt.Sprint(i)})
		}
		for range random.IntN(2 * n) {
			if a, b := random.IntN(n), random.IntN(n); a < b {
				m.Edges = append(m.Edges, Edge{Source: fmt.Sprint(order[a]), Target: fmt.Sprint(order[b])})
			}
		}
		g, issues := Compile(m)
		if issues != nil {
			t.Fatalf("%v, want nil", issues)
		}
		ways := make([]way, 500)
		for k := range ways {
			ways[k] = way{random.IntN(n), random.IntN(n)}
		}
		for k, leads := range g.leads(ways) {
			if w := ways[k]; leads != (w.from != w.to && g.Downstream(w.from)[w.to]) {
				t.Fatalf("%+v: %v", w, leads)
			}
		}
		for _, edge := range g.edges {
			if g.rank[edge.from] >= g.rank[edge.to] {
				t.Fatalf("node %d is not before node %d, want less than %v", edge.from, edge.to, g.rank[edge.to])
			}
		}
	}
}

// Of millions of mistakes the first thousand are reported.
func TestManyMistakes(t *testing.T) {
	numbers := make([]any, 1_000_000)
	for i := range numbers {
		numbers[i] = true
	}
	templates := make([]any, 10_000)
	for i := range templates {
		templates[i] = map[string]any{"id": fmt.Sprint(i), "type": "t", "title": "", "config": map[string]any{}}
	}
	check := func(map[string]any, func([]any) bool) ([]Reference, []Issue) {
		issues := make([]Issue, 100)
		for i := range issues {
			issues[i] = Issue{Path: []any{"a"}, Message: "is bad"}
		}
		return nil, issues
	}
	catalogue := Catalogue{"t": &NodeType{Type: "t"}}
	one := []any{map[string]any{"id": "a", "type": "t", "title": "", "config": map[string]any{}}}
	for name, find := range map[string]func() []Issue{
		"edges":     func() []Issue { _, issues := ParseMap(map[string]any{"nodes": one, "edges": numbers}); return issues },
		"variables": func() []Issue { _, issues := ParseVariables(numbers); return issues },
		"nodes":     func() []Issue { _, issues := ParseMap(map[string]any{"nodes": numbers[:MaxNodes]}); return issues },
		"edges of all": func() []Issue {
			return Validate(map[string]any{"nodes": one, "edges": numbers}, numbers, catalogue, check)
		},
		"templates":     func() []Issue { return Validate(map[string]any{"nodes": templates}, nil, catalogue, check) },
		"unknown types": func() []Issue { return Validate(map[string]any{"nodes": templates}, nil, Catalogue{}, check) },
	} {
		t.Run(name, func(t *testing.T) {
			issues := find()
			if len(issues) < MaxIssues || len(issues) > MaxIssues+1 {
				t.Errorf("%d issues, want at least %v and at most %v", len(issues), MaxIssues, MaxIssues+1)
			}
			if last := issues[len(issues)-1]; len(issues) > MaxIssues && (last.Severity != SeverityError || !strings.Contains(last.Message, "there are more issues")) {
				t.Errorf("the last is %+v", last)
			}
		})
	}
}
