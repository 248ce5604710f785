package blueprint

import (
	"fmt"
	"slices"
	"strings"
)

// The severities of issues.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// ConfigChecker compiles the templates of a config without running them and
// gives the top-level names that they use. Issue paths start at config.
type ConfigChecker func(config map[string]any, untouched func(path []any) bool) (names []string, issues []Issue)

// Validate tells everything that is wrong or doubtful about a blueprint before
// it runs. Errors keep the blueprint, or one node of it, from working; paths
// start at "blueprint_map" or "environment_variables".
func Validate(value any, variables []any, catalogue Catalogue, check ConfigChecker) []Issue {
	v := validator{catalogue: catalogue, check: check, known: map[string]bool{}}
	declared, issues := ParseVariables(variables)
	for _, issue := range issues {
		v.add(issue, "environment_variables")
	}
	for _, variable := range declared {
		v.known[variable.Name] = true
	}
	for _, name := range ReservedNames {
		v.known[name] = true
	}
	m, issues := ParseMap(value)
	for _, issue := range issues {
		v.add(issue, "blueprint_map")
	}
	if m == nil {
		return v.issues
	}
	if _, issues := Compile(m); issues != nil {
		v.add(issues[0], "blueprint_map")
	}
	if len(m.Nodes) == 0 {
		v.add(Issue{Path: []any{"nodes"}, Message: "is empty: there is nothing to run", Severity: SeverityWarning}, "blueprint_map")
	}
	// What set nodes write is known too, whichever of them runs first.
	for i := range m.Nodes {
		if values, ok := m.Nodes[i].Config["values"].(map[string]any); ok && m.Nodes[i].Type == "set" {
			for name := range values {
				v.known[name] = true
			}
		}
	}
	for i := range m.Nodes {
		v.node(i, &m.Nodes[i])
	}
	v.handles(m)
	return v.issues
}

type validator struct {
	catalogue Catalogue
	check     ConfigChecker
	known     map[string]bool
	issues    []Issue
}

func (v *validator) add(issue Issue, under ...any) {
	issue.Path = append(slices.Clone(under), issue.Path...)
	if issue.Severity == "" {
		issue.Severity = SeverityError
	}
	v.issues = append(v.issues, issue)
}

func (v *validator) node(i int, node *Node) {
	add := func(issue Issue, under ...any) {
		issue.NodeID = node.ID
		v.add(issue, append([]any{"blueprint_map", "nodes", i}, under...)...)
	}
	for _, issue := range node.Invalid {
		v.add(issue, "blueprint_map")
	}
	kind := v.catalogue[node.Type]
	if kind == nil {
		known := make([]string, 0, len(v.catalogue))
		for name := range v.catalogue {
			known = append(known, name)
		}
		slices.Sort(known)
		add(Issue{Message: fmt.Sprintf("unknown node type %q; known types: %s", node.Type, strings.Join(known, ", "))}, "type")
		return
	}
	if kind.Check != nil {
		for _, issue := range kind.Check(node.Config) {
			add(issue, "config")
		}
	}
	names, issues := v.check(node.Config, kind.Untouched)
	for _, issue := range issues {
		add(issue, "config")
	}
	for _, name := range names {
		if !v.known[name] {
			add(Issue{Message: fmt.Sprintf("uses the variable %q, which is not declared: every run must be given it", name), Severity: SeverityWarning}, "config")
		}
	}
}

// handles warns of edges that wait for a handle which their source never chooses.
func (v *validator) handles(m *Map) {
	byID := make(map[string]*Node, len(m.Nodes))
	for i := range m.Nodes {
		byID[m.Nodes[i].ID] = &m.Nodes[i]
	}
	for i, edge := range m.Edges {
		source := byID[edge.Source]
		kind := v.catalogue[source.Type]
		switch {
		case edge.Handle == "" || kind == nil:
		case edge.Handle == ErrorHandle:
			if source.OnError != OnErrorBranch {
				v.add(Issue{Path: []any{"edges", i, "sourceHandle"}, NodeID: source.ID, Message: `is never taken: the source does not have "onError": "branch"`, Severity: SeverityWarning}, "blueprint_map")
			}
		case slices.Contains(kind.Handles, edge.Handle) || slices.Contains(kind.Handles, "*"):
		default:
			if cases, ok := source.Config["cases"].([]any); ok && slices.ContainsFunc(cases, func(c any) bool {
				object, _ := c.(map[string]any)
				return object["handle"] == edge.Handle
			}) {
				continue
			}
			v.add(Issue{Path: []any{"edges", i, "sourceHandle"}, NodeID: source.ID, Message: fmt.Sprintf("is never taken: %q has no handle %q", source.Type, edge.Handle), Severity: SeverityWarning}, "blueprint_map")
		}
	}
}
