package blueprint

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The severities of issues.
const (
	SeverityError   = "error"
	SeverityWarning = "warning"
)

// Reference is a reference to a name in a config.
type Reference struct {
	Path     []any  // from config
	Name     string // top-level
	NodeID   string // of nodes.<id>; "" for other names
	Key      string // a constant key of a name in ScopeKeys
	Optional bool   // it has a default
	Spot     Spot   // where in the string at Path
}

// ConfigChecker compiles a config's templates and returns references; paths start at it.
type ConfigChecker func(config map[string]any, verbatim func(path []any) bool) ([]Reference, []Issue)

// Validate returns the errors and warnings for a blueprint. Paths start at
// "blueprint_map" or "environment_variables".
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

// validate validates a map, that of the blueprint or one in the config of a node. It
// reports whether all nodes were validated and of known types.
func (v *validator) validate(value any) (known bool) {
	p := parseMap(value)
	for _, issue := range p.issues {
		v.add(issue)
	}
	m := p.m
	if m == nil {
		return false
	}
	v.parsed = p
	v.index = p.index
	var issues []Issue
	if !p.unclear {
		if v.graph, issues = Compile(p.connected()); issues != nil {
			v.add(issues[0])
		}
		if len(p.issues) > 0 { // which nodes lead to which follows from edges that may be missing
			v.graph = nil
		}
	}
	if len(m.Nodes) == 0 && v.outer == nil && len(p.issues) == 0 {
		v.add(Issue{Path: []any{"nodes"}, Message: "is empty: there is nothing to run", Severity: SeverityWarning})
	}
	// Variables of set nodes are known too, in any order.
	for i := range m.Nodes {
		if values, ok := m.Nodes[i].Config["values"].(map[string]any); ok && m.Nodes[i].Type == "set" {
			for name := range values {
				v.known[name] = true
			}
		}
	}
	found := make([]checkedConfig, len(m.Nodes))
	for i, wrong := 0, 0; i < len(m.Nodes); i++ {
		if wrong > MaxIssues { // more than are reported
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

// addresses rejects ids that would be ambiguous in the addresses of for-each items.
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
	under     []any      // path of the map
	outer     *validator // of the enclosing map; nil for the blueprint's own
	at        int        // the node of outer that contains the map
	parsed    *mapParser
	known     map[string]bool // names that need not be passed
	index     map[string]int  // of nodes by id
	graph     *Graph          // nil with a cycle
	led       map[way]bool    // results of Graph.leads
}

type findings struct {
	issues  []Issue
	more    string // severity of the omitted issues
	strange bool   // there is a node of an unknown type, which may use anything
	hints   int    // searches for similar names so far
}

// all returns the issues, with a last one if some were omitted.
func (f *findings) all() []Issue {
	if f.more != "" {
		f.issues = append(f.issues, Issue{Path: []any{}, Message: fmt.Sprintf("there are more issues; these are the first %d", MaxIssues), Severity: f.more})
	}
	return f.issues
}

func (f *findings) add(issue Issue, under ...any) {
	issue.Severity = cmp.Or(issue.Severity, SeverityError)
	if len(f.issues) >= MaxIssues {
		if f.more != SeverityError {
			f.more = issue.Severity
		}
		return
	}
	issue.Path = append(slices.Clone(under), issue.Path...)
	f.issues = append(f.issues, issue)
}

// add adds an issue whose path starts at the map.
func (v *validator) add(issue Issue) { v.found.add(issue, v.under...) }

// checkedConfig holds the references and issues of a node's config.
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

// ways computes for all references whether the referenced node leads to the referring one.
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
	ways := slices.Collect(maps.Keys(v.led))
	for k, leads := range v.graph.leads(ways) {
		v.led[ways[k]] = leads
	}
}

// leads reports whether edges lead from one node to another.
func (v *validator) leads(from, to int) bool {
	known, computed := v.led[way{from, to}]
	if !computed { // by a nested map
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
	unusable := v.parsed.unusable[i]
	if unusable {
		v.found.strange = true
	}
	kind := v.catalogue[node.Type]
	if kind == nil && (node.Type != "" || !unusable) {
		known := slices.Sorted(maps.Keys(v.catalogue))
		v.found.strange = true
		severity := SeverityError
		if node.Disabled { // it never runs
			severity = SeverityWarning
		}
		add(Issue{Severity: severity, Message: fmt.Sprintf("unknown node type %q; known types: %s", node.Type, strings.Join(known, ", ")) + DidYouMean(node.Type, known)}, "type")
	}
	if kind == nil || unusable {
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

// maxNested is the maximum nesting of maps.
const maxNested = 16

// body validates the map in the config of node i.
func (v *validator) body(i int, node *Node, kind *NodeType) {
	raw, path := kind.Body(node.Config)
	if raw == nil || path == nil { // none, or a generated one
		return
	}
	depth := 1
	for outer := v.outer; outer != nil; outer = outer.outer {
		depth++
	}
	under := slices.Concat(v.under, []any{"nodes", i, "config"}, path)
	if depth > maxNested {
		v.found.add(Issue{NodeID: node.ID, Message: fmt.Sprintf("%s nodes are nested more than %d deep", node.Type, maxNested)}, under...)
		return
	}
	inner := &validator{catalogue: v.catalogue, check: v.check, found: v.found, under: under, outer: v, at: i, used: v.used, known: map[string]bool{}}
	inner.validate(raw)
}

// uncertain reports whether a node has no valid config that may set variables.
func (v *validator) uncertain() bool {
	for ; v != nil; v = v.outer {
		if len(v.parsed.unusable) > 0 {
			return true
		}
	}
	return false
}

// knows reports whether a name need not be passed.
func (v *validator) knows(name string) bool {
	for ; v != nil; v = v.outer {
		if v.known[name] {
			return true
		}
	}
	return false
}
