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
	Key      string // behind a name of ScopeKeys, if it is spelled out
	Optional bool   // it has a default
	Spot     Spot   // where in the string at Path
}

// ConfigChecker compiles the templates of a config without running them and
// gives what they refer to. Issue paths start at config.
type ConfigChecker func(config map[string]any, untouched func(path []any) bool) ([]Reference, []Issue)

// Validate tells everything that is wrong or doubtful about a blueprint before
// it runs. Errors keep the blueprint, or one node of it, from working; paths
// start at "blueprint_map" or "environment_variables".
func Validate(value any, variables []any, catalogue Catalogue, check ConfigChecker) []Issue {
	v := &validator{catalogue: catalogue, check: check, known: map[string]bool{}, found: &findings{}, used: &usage{names: map[string]bool{}}, under: []any{"blueprint_map"}}
	declared, issues := ParseVariables(variables)
	for _, issue := range issues {
		v.found.add(issue, "environment_variables")
	}
	for _, variable := range declared {
		v.known[variable.Name] = true
	}
	for _, name := range ReservedNames {
		v.known[name] = true
	}
	if v.validate(value) && issues == nil && v.found.more == "" {
		v.variables(variables, declared)
	}
	return v.found.all()
}

// validate looks at one map: that of the blueprint, or one that stands in the
// config of a node. It reports whether all of its nodes could be looked at.
func (v *validator) validate(value any) (known bool) {
	m, issues := ParseMap(value)
	for _, issue := range issues {
		v.add(issue)
	}
	if m == nil {
		return false
	}
	v.index = make(map[string]int, len(m.Nodes))
	for i := range m.Nodes {
		v.index[m.Nodes[i].ID] = i
	}
	if v.graph, issues = Compile(m); issues != nil {
		v.add(issues[0])
	}
	if len(m.Nodes) == 0 && v.outer == nil {
		v.add(Issue{Path: []any{"nodes"}, Message: "is empty: there is nothing to run", Severity: SeverityWarning})
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
			v.found.more = SeverityError
			break
		}
		found[i] = v.config(&m.Nodes[i])
		wrong += len(found[i].issues)
	}
	v.ways(found)
	for i := range m.Nodes {
		v.node(i, &m.Nodes[i], &found[i])
	}
	v.edges(m)
	v.habits(m)
	v.addresses(m)
	return !v.found.strange
}

// addresses finds ids that could not be told from the address of an item's node.
func (v *validator) addresses(m *Map) {
	items := slices.ContainsFunc(m.Nodes, func(n Node) bool {
		kind := v.catalogue[n.Type]
		return kind != nil && kind.Body != nil
	})
	for i := range m.Nodes {
		if items && strings.Contains(m.Nodes[i].ID, "]/") {
			v.add(Issue{Path: []any{"nodes", i, "id"}, NodeID: m.Nodes[i].ID, Message: `must not contain "]/" in a blueprint with a for-each node: give the node another id`})
		}
	}
}

type validator struct {
	catalogue Catalogue
	check     ConfigChecker
	found     *findings
	used      *usage
	under     []any           // where the map stands
	outer     *validator      // of the map that this one stands in; nil for the blueprint's own
	at        int             // the node of outer in whose config it stands
	known     map[string]bool // names that are there without being passed
	index     map[string]int  // of nodes by id
	graph     *Graph          // nil when there is a cycle
	led       map[way]bool    // of the references to nodes, which lead to where they stand
}

// findings are what is wrong or doubtful.
type findings struct {
	issues  []Issue
	more    string // the severity of what was left out
	strange bool   // a node of a type that is not known: nobody can tell what it uses
	hints   int    // names that were compared with all that are known
}

// all returns what was found, with a last issue for what was left out.
func (f *findings) all() []Issue {
	if f.more != "" {
		f.issues = append(f.issues, Issue{Path: []any{}, Message: fmt.Sprintf("more is wrong; these are the first %d issues", MaxIssues), Severity: f.more})
	}
	return f.issues
}

func (f *findings) add(issue Issue, under ...any) {
	if issue.Severity == "" {
		issue.Severity = SeverityError
	}
	if len(f.issues) >= MaxIssues {
		if f.more != SeverityError {
			f.more = issue.Severity
		}
		return
	}
	issue.Path = append(slices.Clone(under), issue.Path...)
	f.issues = append(f.issues, issue)
}

// add notes an issue whose path starts at the map.
func (v *validator) add(issue Issue) { v.found.add(issue, v.under...) }

// checkedConfig is what the templates of one node refer to and what is wrong
// with them.
type checkedConfig struct {
	references []Reference
	issues     []Issue
}

func (v *validator) config(node *Node) (found checkedConfig) {
	if kind := v.catalogue[node.Type]; kind != nil {
		found.references, found.issues = v.check(node.Config, kind.Verbatim)
		if kind.References != nil {
			found.references = append(found.references, kind.References(node.Config)...)
		}
		v.used.note(found.references)
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

// leads reports whether edges lead from one node to another.
func (v *validator) leads(from, to int) bool {
	known, asked := v.led[way{from, to}]
	if !asked { // by a map within
		known = v.graph.leads([]way{{from, to}})[0]
		v.led[way{from, to}] = known
	}
	return known
}

func (v *validator) node(i int, node *Node, found *checkedConfig) {
	add := func(issue Issue, under ...any) {
		issue.NodeID = node.ID
		issue.Path = slices.Concat([]any{"nodes", i}, under, issue.Path)
		v.add(issue)
	}
	for _, issue := range node.Invalid {
		v.add(issue)
	}
	kind := v.catalogue[node.Type]
	if kind == nil {
		known := make([]string, 0, len(v.catalogue))
		for name := range v.catalogue {
			known = append(known, name)
		}
		slices.Sort(known)
		v.found.strange = true
		severity := SeverityError
		if node.Disabled { // it never runs
			severity = SeverityWarning
		}
		add(Issue{Severity: severity, Message: fmt.Sprintf("unknown node type %q; known types: %s", node.Type, strings.Join(known, ", ")) + DidYouMean(node.Type, known)}, "type")
		return
	}
	if kind.Check != nil {
		for _, issue := range kind.Check(node.Config) {
			add(issue, "config")
		}
	}
	if node.Timeout > 0 && (kind.Answer != nil || kind.Body != nil || kind.Waits != "") {
		add(Issue{Message: "has no effect on a node that only waits", Severity: SeverityWarning}, "timeoutMs")
	}
	for _, issue := range found.issues {
		add(issue, "config")
	}
	warned := map[string]bool{}
	for _, ref := range found.references {
		if message, severity := v.reference(i, ref); message != "" && !warned[message] {
			warned[message] = true
			add(Issue{Path: ref.Path, Message: message, Severity: severity, Spot: ref.Spot}, "config")
		}
	}
	v.secrets(i, node)
	if kind.Body != nil {
		v.body(i, node, kind)
	}
}

// maxNested is how deeply maps may stand in each other.
const maxNested = 16

// body looks at the map in the config of node i.
func (v *validator) body(i int, node *Node, kind *NodeType) {
	raw, path := kind.Body(node.Config)
	if raw == nil || path == nil { // it has none, or one that nobody wrote
		return
	}
	depth := 1
	for outer := v.outer; outer != nil; outer = outer.outer {
		depth++
	}
	under := slices.Concat(v.under, []any{"nodes", i, "config"}, path)
	if depth > maxNested {
		v.found.add(Issue{NodeID: node.ID, Message: fmt.Sprintf("%s nodes stand in each other more than %d deep", node.Type, maxNested)}, under...)
		return
	}
	inner := &validator{catalogue: v.catalogue, check: v.check, found: v.found, under: under, outer: v, at: i, used: v.used, known: map[string]bool{}}
	inner.validate(raw)
}

// knows reports whether a name is there without being passed.
func (v *validator) knows(name string) bool {
	for ; v != nil; v = v.outer {
		if v.known[name] {
			return true
		}
	}
	return false
}
