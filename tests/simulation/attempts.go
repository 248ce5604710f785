package simulation

import (
	"strings"

	"blueprintd/blueprint"
)

// matchesAnyAttempt reports whether a step of an item is possible in one of the attempts of its
// for-each nodes. Which one is unknown: a restarted item keeps the results of its nodes, so
// it is a mixture of its attempts. The output of a node for its input must be that of one
// of them.
func (h *history) matchesAnyAttempt(m *model, x *blueprint.Execution, s *blueprint.Step, cancelled bool) bool {
	n := h.script.blueprint.find(s.NodeID)
	if s.Status != blueprint.StepCompleted && s.Status != blueprint.StepFailed {
		return true
	}
	failed := s.Status == blueprint.StepFailed
	if old, ok := h.kept[s.NodeID]; ok && old.status == s.Status && old.attempt == s.Attempt && (failed && *old.failure == *s.Error || !failed && (old.pass && blueprint.Equal(s.Input, s.Output) || blueprint.Equal(old.output, s.Output))) {
		return true
	}
	switch {
	case failed && s.Error.Code == "aborted" && h.asked[at{h.place(s.NodeID), s.Attempt}]:
		return true
	case failed && cancelled && s.Error.Code == "cancelled", n.body != nil && !failed:
		return true
	case n.body != nil && strings.HasPrefix(s.Error.Message, "item "):
		return hasFailedItem(x, s)
	}
	for _, place := range h.places(s.NodeID) {
		results := []*nodeResult{{place: place, status: blueprint.StepFailed, uncertainItem: true, attempt: s.Attempt}}
		if n.body == nil { // with nothing of a budget spent before it, or all
			results = []*nodeResult{m.single(n, place, s.Input, 0), m.single(n, place, s.Input, m.spent)}
		}
		for _, f := range results {
			if failed && plausible(m, h, x, s, f, cancelled) || !failed && f.status == s.Status && f.attempt == s.Attempt && same(f.output, s.Output) {
				return true
			}
		}
	}
	return false
}

// single computes the outcome of a node at a place for an input and a spent part of the
// budget. It does not change the budget.
func (m *model) single(n *node, place string, input any, spent int64) *nodeResult {
	w := &graphResult{graph: &graph{nodes: []node{*n}}, place: strings.TrimSuffix(place, n.ID), results: []nodeResult{{place: place, begun: true, input: input}}}
	all := m.spent
	m.spent = spent
	m.attempts(w, 0)
	m.spent = all
	return &w.results[0]
}

// places returns the places of an address: one for each attempt of the for-each nodes that
// contain it.
func (h *history) places(address string) []string {
	places := []string{""}
	rest, prefix := address, ""
	for {
		loop, item, inner, within := cut(rest)
		if !within {
			for i := range places {
				places[i] += rest
			}
			return places
		}
		most := max(h.script.blueprint.find(prefix+loop).tries(), h.highest[prefix+loop]) // a user may have requested more attempts
		var more []string
		for _, place := range places {
			for round := range most {
				more = append(more, place+atRound(loop, item, round+1))
			}
		}
		places, prefix, rest = more, prefix+atItem(loop, item), inner
	}
}
