package blueprint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// maxHints is for how many names a nearer one is looked for.
const maxHints = 50

// meant is DidYouMean for the name of a variable, meantNode for that of a node.
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

// reference tells what is doubtful about something that node i refers to.
func (v *validator) reference(i int, ref Reference) (message, severity string) {
	if _, here := v.index[ref.NodeID]; !here && v.outer != nil && ref.NodeID != "" {
		return v.outer.reference(v.at, ref) // what leads to the node that runs this map leads here
	}
	switch to, exists := v.index[ref.NodeID]; {
	case !v.knows(ref.Name) && !ref.Optional:
		return fmt.Sprintf("uses the variable %q, which is not declared: every run must be given it", ref.Name) + v.meant(ref.Name), SeverityWarning
	case ref.NodeID == "" && v.outer == nil && (ref.Name == "item" || ref.Name == "index"):
		return fmt.Sprintf("uses %s, which is there only for the nodes of a for-each node", ref.Name), severityOf(ref)
	case ref.NodeID == "":
		return wrongKey(ref)
	case !exists && ref.Optional:
		return fmt.Sprintf("refers to the node %q, which does not exist", ref.NodeID) + v.meantNode(ref.NodeID), SeverityWarning
	case !exists:
		return fmt.Sprintf("refers to the node %q, which does not exist", ref.NodeID) + v.meantNode(ref.NodeID), SeverityError
	case v.graph != nil && !v.leads(to, i):
		return fmt.Sprintf("refers to the node %q, which does not lead to this one: its output is never there", ref.NodeID), SeverityWarning
	}
	return wrongKey(ref)
}

// wrongKey tells of a key that is never there.
func wrongKey(ref Reference) (message, severity string) {
	known := ScopeKeys[ref.Name]
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

// severityOf is for a reference that leads nowhere: without a default the node
// that has it fails.
func severityOf(ref Reference) string {
	if ref.Optional {
		return SeverityWarning
	}
	return SeverityError
}
