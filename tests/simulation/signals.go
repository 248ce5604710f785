package simulation

import (
	"context"

	"blueprintd/blueprint"
)

// commandContext returns the context of the next request, which names its client.
func (w *world) commandContext() context.Context {
	return context.WithValue(w.ctx, clientKey{}, w.requests+1)
}

// answered checks that an acknowledged answer has settled a question on the disk.
func (w *world) answered(h *history, node string) {
	if h.acked[node]++; h.acked[node] > h.resolved[node] {
		w.fail("I23: %d answers to %s of %s were acknowledged, but %d are on the disk", h.acked[node], node, h.name, h.resolved[node])
	}
}

// checkAnswers counts the questions that an entry settles: without a time limit, a question
// is only settled by an answer, and each answer settles one.
func (w *world) checkAnswers(h *history, e *entry) {
	kind := h.questions[e.Node]
	if kind != blueprint.AwaitHuman && kind != blueprint.AwaitUnknownOutcome || e.Kind == "start" || e.Kind == "log" {
		return
	}
	h.resolved[e.Node]++
	here := at{h.place(e.Node), h.attempt[e.Node]}
	expires := kind == blueprint.AwaitHuman && h.script.outcome(here.place, here.attempt).expires > 0
	if !expires && !h.halts && h.resolved[e.Node] > h.sent[e.Node] {
		w.fail("I23: %d answers were sent to %s of %s, but %d are on the disk", h.sent[e.Node], e.Node, h.name, h.resolved[e.Node])
	}
}

// displaces reports whether a newer run of its group may have cancelled a run.
func (w *world) displaces(h *history) bool {
	return w.cluster != nil && w.cluster.displaces && h.group != ""
}

// checkGroup checks that no more runs of a concurrency group are at work than its limit.
func (w *world) checkGroup(h *history) {
	if w.cluster == nil || h.group == "" || w.permanentRefusals > 0 { // a damaged run begins again beside the next one
		return
	}
	if w.cluster.displaces {
		return // until the oldest one has ended
	}
	var at []string
	for _, other := range w.order {
		if other.group == h.group && other.began && !other.terminal && !other.suspended && !other.cancelled {
			at = append(at, other.name)
		}
	}
	if len(at) > w.cluster.limit {
		w.fail("I25: %v of a concurrency group are at work, but its limit is %d", at, w.cluster.limit)
	}
}
