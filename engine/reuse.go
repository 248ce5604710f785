package engine

import (
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// startsFrom returns the nodes that a retry begins at: the one that was named, or what did
// not complete.
func (s *runRecord) startsFrom(p *program, from string) (starts []string, err error) {
	if from != "" {
		if p.locate(from) == nil || strings.Contains(from, "]/") && s.step(from) == nil {
			return nil, blueprint.FieldErrorf("fromNodeId", "the execution has no node %q", from)
		}
		return []string{from}, nil
	}
	for _, old := range s.Steps {
		if old.Status == blueprint.StepFailed || old.Status == blueprint.StepPending || old.Dropped {
			starts = append(starts, old.Node)
		}
	}
	if len(starts) == 0 {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "every node of the execution completed; name the node to begin at in fromNodeId")
	}
	return starts, nil
}

// step returns the step of a node, nil if there is none.
func (s *runRecord) step(address string) *step {
	at := slices.IndexFunc(s.Steps, func(at step) bool { return at.Node == address })
	if at < 0 {
		return nil
	}
	return &s.Steps[at]
}

// reusable returns the finished steps that a retry keeps, and the edited inputs that still
// count: not those of nodes downstream of starts, whose input is computed again. A for-each
// node runs again, with its finished items kept. If named, starts were named rather than
// found.
func (s *runRecord) reusable(p *program, starts []string, named bool) ([]step, map[string]any) {
	again := p.rerun(starts, named)
	begins := make(map[string]bool, len(starts)) // also for-each nodes that failed before their items began
	for _, start := range starts {
		begins[start] = true
	}
	var kept []step
	for _, old := range s.Steps {
		passable := old.Status == blueprint.StepFailed && p.locate(old.Node).OnError != blueprint.OnErrorStop
		if !old.Each && !begins[old.Node] && !again.contains(old.Node) && (old.Status == blueprint.StepCompleted || passable) {
			kept = append(kept, old)
		}
	}
	var edits map[string]any
	for address, value := range s.Begin.Edits {
		node := address
		if strings.HasSuffix(address, "]") && s.step(address) == nil {
			node += "/" // an item: not in the set, but perhaps the for-each node around it
		}
		if begins[address] || !again.contains(node) {
			if edits == nil {
				edits = map[string]any{}
			}
			edits[address] = value
		}
	}
	return slices.Clip(kept), edits
}

func (p *program) locate(address string) *compiled {
	b, _, i := p.resolve(address)
	if b == nil {
		return nil
	}
	return &b.nodes[i]
}

// resolve returns the graph of an address, its address prefix, and the node's index there.
func (p *program) resolve(address string) (b *body, prefix string, i int) {
	b = &p.body
	for {
		rest := address[len(prefix):]
		if i = b.graph.Index(rest); i >= 0 {
			return b, prefix, i
		}
		head, _, inner := strings.Cut(rest, "]/")
		at := strings.LastIndexByte(head, '[')
		if !inner || at < 0 {
			return nil, "", 0
		}
		if i = b.graph.Index(head[:at]); i < 0 || b.nodes[i].body == nil {
			return nil, "", 0
		}
		prefix += head + "]/"
		b = b.nodes[i].body
	}
}

// addressSet is a set of nodes by address, with everything inside them.
type addressSet map[string]bool

// contains reports whether a node, or a for-each node around it, is in the set.
func (a addressSet) contains(address string) bool {
	for {
		if a[address] {
			return true
		}
		at := strings.LastIndex(address, "]/")
		if at < 0 {
			return false
		}
		if at = strings.LastIndexByte(address[:at], '['); at < 0 {
			return false
		}
		address = address[:at]
	}
}

// rerun returns the nodes that run again with starts: those downstream of them and of
// the for-each nodes around them. A for-each node that was named starts again with all
// items; one that did not complete keeps its finished items.
func (p *program) rerun(starts []string, named bool) addressSet {
	again := addressSet{}
	type place struct {
		body   *body
		prefix string
	}
	from := map[place][]int{}
	add := func(address string) {
		if b, prefix, i := p.resolve(address); b != nil && !slices.Contains(from[place{b, prefix}], i) {
			from[place{b, prefix}] = append(from[place{b, prefix}], i)
		}
	}
	for _, address := range starts {
		add(address)
		for at := strings.LastIndex(address, "]/"); at >= 0; at = strings.LastIndex(address, "]/") {
			if at = strings.LastIndexByte(address[:at], '['); at < 0 {
				break
			}
			address = address[:at]
			add(address)
		}
	}
	for where, nodes := range from {
		for i, reached := range where.body.graph.Downstream(nodes...) {
			address := where.prefix + where.body.nodes[i].ID
			keepsItems := where.body.nodes[i].body != nil && slices.Contains(nodes, i) && !(named && slices.Contains(starts, address))
			if reached && !keepsItems {
				again[address] = true
			}
		}
	}
	return again
}
