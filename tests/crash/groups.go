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
	crowded    = "crowded"
	groupLimit = 2
)

// span is the time between the first and the last effect of a run.
type span struct {
	run         string
	first, last int64 // Unix nanoseconds
}

// judgeGroups searches all effects for a moment with more simultaneous runs of a limited
// source than allowed. Runs that did not complete have no observable end.
func (s *scene) judgeGroups(made map[effect][]entry) {
	spans := map[string]*span{}
	for _, entries := range made {
		for _, e := range entries {
			id := before(e.Key)
			r := s.book.runs[id]
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
	s.book.counts.Limited += len(spans)
	s.book.judgeSpans(spans)
}

func (b *book) judgeSpans(spans map[string]*span) {
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
			b.violated("I16", one.run, "it worked at the same time as %v, and %d runs of its trigger may", others, groupLimit)
		}
		if len(going) == groupLimit {
			b.counts.Met++
		}
	}
}

// judgeLimits checks the ends of runs of limited sources: queued runs get their turn, and
// the newest run is never displaced.
func (c *client) judgeLimits(ctx context.Context, s *source) {
	displaced := 0
	for _, r := range c.book.all() {
		switch {
		case r.shape != s.shape || r.status == "completed":
		case s.shape.name == crowded:
			displaced++
		case !r.doomed && r.acked != "":
			c.book.violated("I16", r.id, "it is %s, but no client cancelled it", r.status)
		}
	}
	c.book.count(func(n *counts) { n.Displaced += displaced })
	if s.shape.name != crowded {
		return
	}
	for _, row := range c.history(ctx, s.trigger) { // newest first
		if process.At(row, "decision") != "started" {
			continue
		}
		id, _ := process.At(row, "executionId").(string)
		if r := c.book.run(id); r != nil && r.status != "completed" {
			c.book.violated("I16", id, "no newer run could take its place, and it is %s", r.status)
		}
		return
	}
}
