package blueprint

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// habits warns about likely mistakes: duplicate titles, misspelled members, and retries
// of nodes that must run once.
func (v *validator) habits(m *Map) {
	titled := map[string]int{}
	raw, _ := m.Raw["nodes"].([]any)
	for i := range m.Nodes {
		node := &m.Nodes[i]
		warn := func(message string, spot Spot, path ...any) {
			v.add(Issue{Path: append([]any{"nodes", i}, path...), NodeID: node.ID, Message: message, Severity: SeverityWarning, Spot: spot})
		}
		kind := v.catalogue[node.Type]
		if first, twice := titled[node.Title]; twice && (kind == nil || node.Title != kind.Title) { // not a default title
			warn(fmt.Sprintf("is also the title of nodes[%d]: their steps are hard to distinguish", first), Spot{}, "title")
		} else if strings.TrimSpace(node.Title) != "" {
			titled[node.Title] = i
		}
		if kind != nil && node.Retry != nil && node.Retry.MaxAttempts > 1 && effectOf(node, kind) == EffectOnce {
			warn("has little effect: this node must not act twice, so it is retried only if nothing was sent", Spot{}, "retry")
		}
		if i >= len(raw) {
			continue
		}
		object, _ := raw[i].(map[string]any)
		misspelt(object, nodeMembers, func(name, meant string) { warn(meant, Spot{OnKey: true}, name) })
		retry, _ := object["retry"].(map[string]any)
		misspelt(retry, retryMembers, func(name, meant string) { warn(meant, Spot{OnKey: true}, "retry", name) })
	}
	edges, _ := m.Raw["edges"].([]any)
	for i := range edges {
		object, _ := edges[i].(map[string]any)
		misspelt(object, edgeMembers, func(name, meant string) {
			v.add(Issue{Path: []any{"edges", i, name}, Message: meant, Severity: SeverityWarning, Spot: Spot{OnKey: true}})
		})
	}
}

func effectOf(node *Node, kind *NodeType) Effect {
	if node.Effect != "" {
		return node.Effect
	}
	return kind.Effect
}

// The known members. Others are kept without effect.
var (
	nodeMembers     = []string{"id", "type", "title", "config", "disabled", "retry", "timeoutMs", "onError", "effect"}
	retryMembers    = []string{"maxAttempts", "delayMs", "backoff"}
	edgeMembers     = []string{"source", "target", "sourceHandle"}
	variableMembers = []string{"name", "type", "default", "description", "required", "secret"}
)

// otherNames are common mistakes for members.
var otherNames = map[string]string{"retries": "retry", "attempts": "maxAttempts", "configuration": "config"}

// meantMember returns the hint for an unknown member. Members that are absent are more
// likely meant than present ones.
func meantMember(name string, absent, present []string) string {
	plain := strings.NewReplacer("_", "", "-", "").Replace(name)
	for _, known := range [][]string{absent, present} {
		if other := otherNames[strings.ToLower(plain)]; slices.Contains(known, other) {
			return "; did you mean " + strconv.Quote(other) + "?"
		}
		if hint := DidYouMean(plain, known); hint != "" {
			return hint
		}
	}
	return ""
}

// misspelt finds unknown members with a name similar to a known one.
func misspelt(object map[string]any, members []string, found func(name, message string)) {
	if len(object) > 100 {
		return
	}
	var unknown, absent, present []string
	for name := range object {
		if !slices.Contains(members, name) && name != "id" {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return
	}
	for _, name := range members {
		if _, given := object[name]; !given {
			absent = append(absent, name)
		} else if len(name) > 3 {
			present = append(present, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		if hint := meantMember(name, absent, present); hint != "" {
			found(name, "has no effect"+hint)
		}
	}
}

// usage records the variables that nodes use.
type usage struct {
	names  map[string]bool
	opaque bool // some node may use any of them
}

// AnyVariable is the name of a reference to potentially all variables.
const AnyVariable = "*"

func (u *usage) note(refs []Reference) {
	for _, ref := range refs {
		u.names[ref.Name] = true
		u.opaque = u.opaque || ref.Name == AnyVariable
	}
}

// variables warns of unused and misspelled variables, and of secrets in the defaults.
func (v *validator) variables(list []any, declared []Variable) {
	warn := func(message string, spot Spot, path ...any) {
		v.found.add(Issue{Path: path, Message: message, Severity: SeverityWarning, Spot: spot}, "environment_variables")
	}
	for i, variable := range declared {
		if !v.used.opaque && !v.used.names[variable.Name] {
			warn("is used by no node", Spot{}, i, "name")
		}
		object, _ := list[i].(map[string]any)
		misspelt(object, variableMembers, func(name, message string) { warn(message, Spot{OnKey: true}, i, name) })
		if !variable.Secret && variable.HasDefault {
			plainSecrets([]any{i, "default"}, variable.Name, variable.Default, nil, func(path []any, what string, spot Spot) {
				warn("looks like "+what+` in plain text: mark the variable with "secret": true and leave its default out of files`, spot, path...)
			})
		}
	}
}

// secrets warns of secrets in the config of node i.
func (v *validator) secrets(i int, node *Node) {
	var untouched func([]any) bool
	if kind := v.catalogue[node.Type]; kind != nil {
		untouched = kind.Verbatim
	}
	for _, key := range slices.Sorted(maps.Keys(node.Config)) {
		plainSecrets([]any{key}, key, node.Config[key], untouched, func(path []any, what string, spot Spot) {
			hint := "use {{name}} of a secret variable, or a connection"
			if node.Type == "code" && key == "source" { // templates are not resolved there
				hint = "use variables.name of a secret variable"
			}
			v.add(Issue{
				Path: append([]any{"nodes", i, "config"}, path...), NodeID: node.ID, Severity: SeverityWarning, Spot: spot,
				Message: "looks like " + what + " in plain text: " + hint,
			})
		})
	}
}

// edges warns about duplicate edges, edges that are never taken and the nodes that
// therefore never run, and nodes without edges.
func (v *validator) edges(m *Map) {
	cases := map[*Node]map[string]bool{}      // handles of the cases per node
	reasons := make([]string, len(m.Edges))   // why an edge is never taken
	first := make(map[Edge]int, len(m.Edges)) // the edges, without their ids
	for i, edge := range m.Edges {
		if v.parsed.loose[i] {
			continue
		}
		reasons[i] = v.neverTaken(&m.Nodes[v.index[edge.Source]], edge.Handle, cases)
		edge.ID = ""
		if same, twice := first[edge]; twice {
			v.add(Issue{Path: []any{"edges", i}, NodeID: edge.Source, Message: fmt.Sprintf("duplicates edges[%d]", same), Severity: SeverityWarning})
		} else {
			first[edge] = i
		}
	}
	lost := map[int]string{}
	if v.graph != nil && !m.Sequential() {
		lost = v.lost(m, reasons)
	}
	for i, reason := range reasons {
		if reason == "" {
			continue
		}
		path := []any{"edges", i}
		if m.Edges[i].Handle != "" {
			path = append(path, "sourceHandle")
		}
		v.add(Issue{Path: path, NodeID: m.Edges[i].Source, Message: "is never taken" + lost[i] + ": " + reason, Severity: SeverityWarning})
	}
	switch {
	case v.graph == nil:
	case m.Sequential():
		v.behindStop(m)
	case len(m.Nodes) > 1:
		for i := range m.Nodes {
			if node := &m.Nodes[i]; !node.Disabled && len(v.graph.in[i]) == 0 && len(v.graph.out[i]) == 0 {
				v.add(Issue{Path: []any{"nodes", i}, NodeID: node.ID, Message: "is connected to no other node: it runs at the start, in parallel with the others", Severity: SeverityWarning})
			}
		}
	}
}

// lost describes for edges that are never taken the node that therefore never runs, and
// the number of nodes after it. If several edges keep a node from running, the last
// is described; a node after several of them is counted once.
func (v *validator) lost(m *Map, reasons []string) map[int]string {
	g := v.graph
	runs := make([]bool, len(m.Nodes))
	for _, i := range g.order {
		runs[i] = len(g.in[i]) == 0
		for _, e := range g.in[i] {
			runs[i] = runs[i] || runs[g.edges[e].from] && reasons[e] == ""
		}
	}
	texts, counted := map[int]string{}, make([]bool, len(m.Nodes))
	for _, i := range g.order {
		last := -1
		for _, e := range g.in[i] {
			if reasons[e] != "" {
				last = max(last, e)
			}
		}
		if runs[i] || counted[i] || last < 0 {
			continue
		}
		counted[i] = true
		behind := 0
		for queue := []int{i}; len(queue) > 0; queue = queue[1:] {
			for _, e := range g.out[queue[0]] {
				if to := g.edges[e].to; !runs[to] && !counted[to] {
					counted[to] = true
					behind++
					queue = append(queue, to)
				}
			}
		}
		texts[last] = fmt.Sprintf(", so the node %s never runs", strconv.Quote(m.Nodes[i].ID))
		if behind > 0 {
			texts[last] += fmt.Sprintf(", nor what only follows it (%d)", behind)
		}
	}
	return texts
}

// behindStop warns about nodes after a stop node in a map without edges.
func (v *validator) behindStop(m *Map) {
	for i := range m.Nodes {
		if m.Nodes[i].Type != "stop" || m.Nodes[i].Disabled || m.Nodes[i].OnError != OnErrorStop || i == len(m.Nodes)-1 {
			continue
		}
		message := fmt.Sprintf("never runs: the node %s before it ends the run", strconv.Quote(m.Nodes[i].ID))
		if more := len(m.Nodes) - i - 2; more > 0 {
			message += fmt.Sprintf(", also for the %d after it", more)
		}
		v.add(Issue{Path: []any{"nodes", i + 1}, NodeID: m.Nodes[i+1].ID, Message: message, Severity: SeverityWarning})
		return
	}
}

// neverTaken returns why an edge with a handle is never taken, "" if it may be.
func (v *validator) neverTaken(source *Node, handle string, cases map[*Node]map[string]bool) string {
	kind := v.catalogue[source.Type]
	switch {
	case source.Disabled:
		if handle != "" {
			return "a disabled node takes only edges without a sourceHandle"
		}
		return ""
	case source.Type == "stop" && source.OnError == OnErrorStop:
		return "the source ends the run"
	case handle == "" || kind == nil:
		return ""
	case handle == ErrorHandle:
		if source.OnError != OnErrorBranch {
			return `the source does not have "onError": "branch"`
		}
		return ""
	case slices.Contains(kind.Handles, handle) || slices.Contains(kind.Handles, "*"):
		return ""
	}
	own, seen := cases[source]
	if !seen {
		own = caseHandles(source)
		cases[source] = own
	}
	if own[handle] {
		return ""
	}
	known := slices.Clone(kind.Handles)
	for name := range own {
		known = append(known, name)
	}
	slices.Sort(known)
	return fmt.Sprintf("%q has no handle %q", source.Type, handle) + DidYouMean(handle, known[:min(len(known), 100)])
}

// caseHandles returns the handles that the cases of a node choose.
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

// maxHints limits the searches for similar names.
const maxHints = 50

// meant is DidYouMean for the name of a variable.
func (v *validator) meant(name string) string {
	if v.found.hints++; v.found.hints > maxHints {
		return ""
	}
	var known []string
	for o := v; o != nil; o = o.outer {
		known = slices.AppendSeq(known, maps.Keys(o.known))
	}
	slices.Sort(known)
	return DidYouMean(name, known)
}

func (v *validator) meantNode(id string) string {
	if v.found.hints++; v.found.hints > maxHints {
		return ""
	}
	return DidYouMean(id, slices.Sorted(maps.Keys(v.index)))
}

// reference checks a reference of node i.
func (v *validator) reference(i int, ref Reference) (message, severity string) {
	if _, here := v.index[ref.NodeID]; !here && v.outer != nil && ref.NodeID != "" {
		return v.outer.reference(v.at, ref) // predecessors of the enclosing node are in scope
	}
	switch to, exists := v.index[ref.NodeID]; {
	case !exists && ref.NodeID != "" && v.parsed.unclear: // it may be the node without a valid id
		return "", ""
	case !v.knows(ref.Name) && !ref.Optional:
		if v.uncertain() {
			return "", ""
		}
		return fmt.Sprintf("uses the variable %q, which is not declared: every run must pass it", ref.Name) + v.meant(ref.Name), SeverityWarning
	case ref.NodeID == "" && v.outer == nil && (ref.Name == "item" || ref.Name == "index"):
		return fmt.Sprintf("uses %s, which only exists inside a for-each node", ref.Name), severityOf(ref)
	case ref.NodeID == "":
		return wrongKey(ref, ScopeKeys[ref.Name])
	case !exists && ref.Optional:
		return fmt.Sprintf("refers to the node %q, which does not exist", ref.NodeID) + v.meantNode(ref.NodeID), SeverityWarning
	case !exists:
		return fmt.Sprintf("refers to the node %q, which does not exist", ref.NodeID) + v.meantNode(ref.NodeID), SeverityError
	case ref.Name == "nodes" && ref.Key == KeyLink:
		return v.wrongLink(to, i, ref)
	case v.graph != nil && !v.leads(to, i):
		return fmt.Sprintf("refers to the node %q, which does not lead to this one: its output is never available", ref.NodeID), SeverityWarning
	}
	known := ScopeKeys[ref.Name]
	if !v.asks(v.index[ref.NodeID]) {
		known = slices.DeleteFunc(slices.Clone(known), func(key string) bool { return key == KeyLink })
	}
	return wrongKey(ref, known)
}

// asks reports whether a node asks a person, or may because its type is unknown.
func (v *validator) asks(node int) bool {
	if v.graph == nil {
		return true
	}
	kind := v.catalogue[v.graph.Node(node).Type]
	return kind == nil || kind.Asks()
}

// wrongLink checks a reference of node i to the approval link of another one.
func (v *validator) wrongLink(to, i int, ref Reference) (message, severity string) {
	switch {
	case !v.asks(to):
		return fmt.Sprintf("refers to the link of the node %q, which has none: only human and approval-gate nodes have a link", ref.NodeID), severityOf(ref)
	case v.graph != nil && v.leads(to, i) && to != i:
		return fmt.Sprintf("refers to the link of the node %q, which is answered before this node runs: send the link before it, or beside it", ref.NodeID), SeverityWarning
	}
	return "", ""
}

// wrongKey checks the key of a reference to something that has the known keys.
func wrongKey(ref Reference, known []string) (message, severity string) {
	if ref.Key == "" || known == nil || slices.Contains(known, ref.Key) {
		return "", ""
	}
	name, hint := ref.Name, DidYouMean(ref.Key, known)
	if ref.NodeID != "" {
		name += "." + ref.NodeID
	}
	if hint == "" {
		hint = "; it has " + strings.Join(known, ", ")
	}
	return fmt.Sprintf("%s has no key %q", name, ref.Key) + hint, severityOf(ref)
}

// severityOf returns the severity of a broken reference: without a default the node fails.
func severityOf(ref Reference) string {
	if ref.Optional {
		return SeverityWarning
	}
	return SeverityError
}
