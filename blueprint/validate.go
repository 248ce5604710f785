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

// Reference is one place in a config that refers to a name.
type Reference struct {
	Path     []any  // from config
	Name     string // top level
	NodeID   string // of nodes.<id>; "" for other names
	Optional bool   // it has a default
}

// ConfigChecker compiles the templates of a config without running them and
// gives what they refer to. Issue paths start at config.
type ConfigChecker func(config map[string]any, untouched func(path []any) bool) ([]Reference, []Issue)

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
	v.index = make(map[string]int, len(m.Nodes))
	for i := range m.Nodes {
		v.index[m.Nodes[i].ID] = i
	}
	if v.graph, issues = Compile(m); issues != nil {
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
	known     map[string]bool // names that are there without being passed
	index     map[string]int  // of nodes by id
	graph     *Graph          // nil when there is a cycle
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
	if node.Timeout > 0 && (kind.Answer != nil || node.Type == "wait") {
		add(Issue{Message: "has no effect on a node that only waits", Severity: SeverityWarning}, "timeoutMs")
	}
	references, issues := v.check(node.Config, kind.Untouched)
	for _, issue := range issues {
		add(issue, "config")
	}
	warned := map[string]bool{}
	for _, ref := range references {
		if message, severity := v.reference(i, ref); message != "" && !warned[message] {
			warned[message] = true
			add(Issue{Path: ref.Path, Message: message, Severity: severity}, "config")
		}
	}
}

// reference tells what is doubtful about something that node i refers to.
func (v *validator) reference(i int, ref Reference) (message, severity string) {
	switch to, exists := v.index[ref.NodeID]; {
	case !v.known[ref.Name] && !ref.Optional:
		return fmt.Sprintf("uses the variable %q, which is not declared: every run must be given it", ref.Name), SeverityWarning
	case ref.NodeID == "":
		return "", ""
	case !exists && ref.Optional:
		return fmt.Sprintf("refers to the node %q, which does not exist", ref.NodeID), SeverityWarning
	case !exists:
		return fmt.Sprintf("refers to the node %q, which does not exist", ref.NodeID), SeverityError
	case v.graph != nil && (to == i || !v.graph.Downstream(to)[i]):
		return fmt.Sprintf("refers to the node %q, which does not lead to this one: its output is never there", ref.NodeID), SeverityWarning
	}
	return "", ""
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
