package main

import (
	"cmp"
	"context"
	"slices"

	"blueprintd/tests/process"
)

// The sources with a limit on simultaneous runs: one that queues runs, and one that cancels
// the running one.
const (
	queued     = "queued"
	replacing  = "replacing"
	groupLimit = 2
)

// span is the time between the first and the last effect of a run.
type span struct {
	run         string
	first, last int64 // Unix nanoseconds
}

// checkGroups searches all effects for a moment with more simultaneous runs of a limited
// source than allowed. Runs that did not complete have no observable end.
func (s *scenario) checkGroups(made map[effect][]entry) {
	spans := map[string]*span{}
	for _, entries := range made {
		for _, e := range entries {
			id := runOf(e.Key)
			r := s.history.runs[id]
			if r == nil || r.shape == nil || r.shape.name != queued || r.status != "completed" {
				continue
			}
			one := spans[id]
			if one == nil {
				one = &span{id, e.At, e.At}
				spans[id] = one
			}
			one.first, one.last = min(one.first, e.At), max(one.last, e.At)
		}
	}
	s.history.counts.Limited += len(spans)
	s.history.checkSpans(spans)
}

func (h *history) checkSpans(spans map[string]*span) {
	var all []*span
	for _, one := range spans {
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b *span) int { return cmp.Compare(a.first, b.first) })
	var going []*span
	for _, one := range all {
		going = slices.DeleteFunc(going, func(other *span) bool { return other.last < one.first })
		if going = append(going, one); len(going) > groupLimit {
			var others []string
			for _, other := range going[:len(going)-1] {
				others = append(others, other.run)
			}
			h.violated("I16", one.run, "it ran at the same time as %v, but its trigger allows %d runs", others, groupLimit)
		}
		if len(going) == groupLimit {
			h.counts.LimitReached++
		}
	}
}

// checkLimits checks the ends of runs of limited sources: queued runs get their turn, and
// the newest run is never displaced.
func (c *client) checkLimits(ctx context.Context, s *source) {
	displaced := 0
	for _, r := range c.history.all() {
		switch {
		case r.shape != s.shape || r.status == "completed":
		case s.shape.name == replacing:
			displaced++
		case !r.cancelRequested && r.acknowledgedAs != "":
			c.history.violated("I16", r.id, "it is %s, but no client cancelled it", r.status)
		}
	}
	c.history.count(func(n *counts) { n.Displaced += displaced })
	if s.shape.name != replacing {
		return
	}
	for _, row := range c.firingRows(ctx, s.trigger) { // newest first
		if process.At(row, "decision") != "started" {
			continue
		}
		id, _ := process.At(row, "executionId").(string)
		if r := c.history.run(id); r != nil && r.status != "completed" {
			c.history.violated("I16", id, "it is the newest run but is %s", r.status)
		}
		return
	}
}
