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
		return v.all()
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
	found := make([]checkedConfig, len(m.Nodes))
	for i, wrong := 0, 0; i < len(m.Nodes); i++ {
		if wrong > MaxIssues { // more than will be told
			v.more = SeverityError
			break
		}
		found[i] = v.config(&m.Nodes[i])
		wrong += len(found[i].issues)
	}
	v.ways(found)
	for i := range m.Nodes {
		v.node(i, &m.Nodes[i], &found[i])
	}
	v.handles(m)
	return v.all()
}

type validator struct {
	catalogue Catalogue
	check     ConfigChecker
	known     map[string]bool // names that are there without being passed
	index     map[string]int  // of nodes by id
	graph     *Graph          // nil when there is a cycle
	led       map[way]bool    // of the references to nodes, which lead to where they stand
	issues    []Issue
	more      string // the severity of what was left out
}

// all gives what was found, with a last issue for what was left out.
func (v *validator) all() []Issue {
	if v.more != "" {
		v.issues = append(v.issues, Issue{Path: []any{}, Message: fmt.Sprintf("more is wrong; these are the first %d issues", MaxIssues), Severity: v.more})
	}
	return v.issues
}

func (v *validator) add(issue Issue, under ...any) {
	if issue.Severity == "" {
		issue.Severity = SeverityError
	}
	if len(v.issues) >= MaxIssues {
		if v.more != SeverityError {
			v.more = issue.Severity
		}
		return
	}
	issue.Path = append(slices.Clone(under), issue.Path...)
	v.issues = append(v.issues, issue)
}

// checkedConfig is what the templates of one node refer to and what is wrong
// with them.
type checkedConfig struct {
	references []Reference
	issues     []Issue
}

func (v *validator) config(node *Node) (found checkedConfig) {
	if kind := v.catalogue[node.Type]; kind != nil {
		found.references, found.issues = v.check(node.Config, kind.Untouched)
	}
	return found
}

// ways finds out, for all references to nodes at once, which of them lead to the
// nodes that refer to them.
func (v *validator) ways(found []checkedConfig) {
	v.led = map[way]bool{}
	if v.graph == nil {
		return
	}
	for i := range found {
		for _, ref := range found[i].references {
			if from, exists := v.index[ref.NodeID]; exists {
				v.led[way{from, i}] = false
			}
		}
	}
	ways := make([]way, 0, len(v.led))
	for w := range v.led {
		ways = append(ways, w)
	}
	for k, leads := range v.graph.leads(ways) {
		v.led[ways[k]] = leads
	}
}

func (v *validator) node(i int, node *Node, found *checkedConfig) {
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
	for _, issue := range found.issues {
		add(issue, "config")
	}
	warned := map[string]bool{}
	for _, ref := range found.references {
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
	case v.graph != nil && !v.led[way{to, i}]:
		return fmt.Sprintf("refers to the node %q, which does not lead to this one: its output is never there", ref.NodeID), SeverityWarning
	}
	return "", ""
}

// handles warns of edges that wait for a handle which their source never chooses.
func (v *validator) handles(m *Map) {
	cases := map[*Node]map[string]bool{} // the handles of each node's cases
	for i, edge := range m.Edges {
		source := &m.Nodes[v.index[edge.Source]]
		kind := v.catalogue[source.Type]
		switch {
		case edge.Handle == "" || kind == nil:
		case edge.Handle == ErrorHandle:
			if source.OnError != OnErrorBranch {
				v.add(Issue{Path: []any{"edges", i, "sourceHandle"}, NodeID: source.ID, Message: `is never taken: the source does not have "onError": "branch"`, Severity: SeverityWarning}, "blueprint_map")
			}
		case slices.Contains(kind.Handles, edge.Handle) || slices.Contains(kind.Handles, "*"):
		default:
			if cases[source] == nil {
				cases[source] = caseHandles(source)
			}
			if cases[source][edge.Handle] {
				continue
			}
			v.add(Issue{Path: []any{"edges", i, "sourceHandle"}, NodeID: source.ID, Message: fmt.Sprintf("is never taken: %q has no handle %q", source.Type, edge.Handle), Severity: SeverityWarning}, "blueprint_map")
		}
	}
}

// caseHandles gives the handles that the cases of a node choose.
func caseHandles(node *Node) map[string]bool {
	handles := map[string]bool{}
	list, _ := node.Config["cases"].([]any)
	for _, element := range list {
		object, _ := element.(map[string]any)
		if handle, ok := object["handle"].(string); ok {
			handles[handle] = true
		}
	}
	return handles
}
