package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// checkRuns compares the records of all runs with what was asked of them and with the
// calls.
func (c *cluster) checkRuns() {
	s := &c.summary
	for _, r := range c.history.all() {
		s.Runs++
		if r.as != "" {
			s.Acknowledged++
		}
		if r.record == nil || r.shape == nil {
			continue // reported as unfinished, or not of the load
		}
		if r.record.Status == "completed" {
			s.Completed++
		} else {
			s.Failed++
		}
		if r.record.Status == "failed" && !r.mayFail() {
			c.violated("fails", r.id, "it failed: %s", r.ended)
		}
		if r.record.Status == "completed" {
			for _, node := range r.shape.effects {
				if len(c.service.under(r.id+"/"+node)) == 0 {
					c.violated("calls", r.id, "it completed, but its node %s never called", node)
				}
			}
		}
		c.checkOutputs(r)
		if r.shape.name == callShape {
			first, second := c.service.under(r.id+"/first"), c.service.under(r.id+"/second")
			if len(first) > 0 && len(second) > 0 {
				pause := second[0].from.Sub(first[len(first)-1].to)
				if s.Pause.add(pause); pause > maxPause {
					c.violated("late", r.id, "it went on %.1f s after its first call, want %s at most: %s", pause.Seconds(), maxPause, c.story(r.id+"/second"))
				}
			}
		}
		c.checkReplies(r)
	}
}

// maxPause is how long a run may rest between two calls: three processes that have it may
// die one after the other.
const maxPause = 3 * maxTakeover

// mayFail reports whether a run may have failed: it was cancelled, by a request whose
// outcome may be unknown.
func (r *run) mayFail() bool { return r.cancelled || strings.Contains(r.ended, "torture") }

// checkOutputs checks that each calling node has the output of one of its calls, and that
// later nodes got the same output.
func (c *cluster) checkOutputs(r *run) {
	for i := range r.record.Steps {
		s := &r.record.Steps[i]
		n, called := numberOf(s.Output, "body.n")
		if !called || s.NodeType != "http-request" || s.Status != "completed" {
			continue
		}
		calls := c.service.under(r.id + "/" + s.NodeID)
		if int(n) < 1 || int(n) > len(calls) {
			c.violated("calls", r.id, "its node %s has the output of call %v, and there were %d", s.NodeID, n, len(calls))
		}
		for node, before := range r.shape.follows {
			if before != s.NodeID {
				continue
			}
			for _, later := range c.service.under(r.id + "/" + node) {
				if later.prior != any(n) {
					c.violated("step", r.id, "its node %s has the output of call %v, but call %d of node %s had that of call %v", s.NodeID, n, later.number, node, later.prior)
				}
			}
		}
	}
}

// checkReplies checks that of the answers to a question one had effect, an acknowledged one
// if there is any.
func (c *cluster) checkReplies(r *run) {
	if r.shape.name != approvalShape {
		return
	}
	asked := r.record.step("ask")
	var accepted, unsure []any
	for _, reply := range r.replies {
		switch {
		case reply.node != "ask":
		case reply.outcome == acknowledged:
			accepted = append(accepted, reply.value)
		case reply.outcome == unknown:
			unsure = append(unsure, reply.value)
		}
	}
	c.summary.Answers += len(accepted)
	if asked == nil || asked.Status != "completed" {
		if len(accepted) > 0 && !r.mayFail() {
			c.violated("answer", r.id, "the answer %v was acknowledged, and has no effect: %s", accepted[0], r.ended)
		}
		return
	}
	got := process.At(asked.Output, "approved")
	if len(accepted) > 1 {
		c.violated("answer", r.id, "%d answers were acknowledged: %v", len(accepted), accepted)
	}
	if len(accepted) > 0 && !slices.Contains(accepted, got) || len(accepted) == 0 && !slices.Contains(unsure, got) {
		c.violated("answer", r.id, "it has the answer %v; acknowledged: %v, unknown: %v", got, accepted, unsure)
	}
	wrong := "no"
	if got == false {
		wrong = "yes"
	}
	if len(c.service.under(r.id+"/"+wrong)) > 0 {
		c.violated("answer", r.id, "its answer is %v, but node %s called", got, wrong)
	}
}

// checkEvents checks that each published event started one run.
func (c *cluster) checkEvents() {
	received := map[string]string{}
	for _, r := range c.history.all() {
		if r.shape == nil || r.shape.name != listenerShape || r.record == nil {
			continue
		}
		s := r.record.step("before")
		if s == nil {
			continue
		}
		of, _ := process.At(s.Output, "of").(string)
		if emitter := c.history.runs[of]; emitter == nil || emitter.shape == nil || emitter.shape.name != emitterShape {
			c.violated("event", r.id, "it received an event of %q, which is no run that publishes one", of)
		}
		if received[of] != "" {
			c.violated("event", r.id, "the event of %s started it and %s", of, received[of])
		}
		received[of] = r.id
	}
	c.summary.Events = len(received)
	for _, r := range c.history.all() {
		if r.shape != nil && r.shape.name == emitterShape && r.record != nil && r.emitted() && received[r.id] == "" {
			c.violated("event", r.id, "its event started no run")
		}
	}
}

// checkCalls checks the calls under each key: one is repeated only if its process had a
// fault, and never once the run has gone on.
func (c *cluster) checkCalls() {
	for _, text := range c.service.wrong {
		c.violated("calls", "", "%s", text)
	}
	for key, calls := range c.service.all() {
		c.summary.Calls += len(calls)
		c.summary.RepeatedCalls += len(calls) - 1
		r := c.history.runs[calls[0].run]
		if r == nil && calls[0].read {
			continue // a node without effects may act before its run is stored
		}
		if r == nil {
			c.violated("accepted", calls[0].run, "its node %s called, but the run does not exist", calls[0].node)
			continue
		}
		for i, call := range calls {
			if call.caller == "" {
				c.summary.UnknownCallers++
			}
			if since := c.cutOffSince(call); !since.IsZero() && call.from.Sub(since) > maxLease {
				c.violated("lease", r.id, "node %s called %.1f s after its process was cut off from the database: %s", call.node, call.from.Sub(since).Seconds(), c.story(key))
			}
			if i == 0 || call.read {
				continue
			}
			if !c.excused(calls[i-1], call) {
				c.violated("repeat", r.id, "node %s called again, although its process had no fault: %s", call.node, c.story(key))
			}
		}
		if r.shape == nil {
			continue
		}
		if r.shape.name == onceShape && len(calls) > 1 {
			c.violated("once", r.id, "node %s called %d times: %s", calls[0].node, len(calls), c.story(key))
		}
		for node, before := range r.shape.follows {
			if before != calls[0].node {
				continue
			}
			laterCalls := c.service.under(r.id + "/" + node)
			if len(laterCalls) == 0 {
				continue
			}
			first, last := laterCalls[0], calls[len(calls)-1]
			// A frozen process may send a call late, which was checked before it froze.
			if last.from.After(first.from) && !c.disturbedAt(last.caller, first.from, last.from) {
				c.violated("repeat", r.id, "node %s called again after node %s had: %s", before, node, c.story(key))
			}
		}
	}
}

// maxLease is how long a process may call after it was cut off: its lease, and how late a
// call may arrive from a busy machine.
const maxLease = 7*time.Second + 1500*time.Millisecond

// cutOffSince returns since when the caller of a call had no connection to the database;
// zero if it had one.
func (c *cluster) cutOffSince(of call) (since time.Time) {
	for _, n := range c.nodes {
		if n.name != of.caller {
			continue
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		for _, d := range n.disturbances {
			if (d.kind == faultCut || d.kind == faultHalfOpen) && d.from.Before(of.from) && (d.to.IsZero() || d.to.After(of.from)) {
				since = d.from
			}
		}
	}
	return since
}

// excused reports whether the process of a call had a fault before the next call under its
// key.
func (c *cluster) excused(first, second call) bool {
	return first.caller == "" || c.disturbedAt(first.caller, first.from, second.from)
}

func (c *cluster) disturbedAt(name string, from, to time.Time) bool {
	for _, n := range c.nodes {
		if n.name == name {
			return n.between(from, to)
		}
	}
	return true
}

// story lists the calls under a key with the faults around them.
func (c *cluster) story(key string) string {
	calls := c.service.under(key)
	var parts []string
	for _, call := range calls {
		end := "answered"
		if !call.answered {
			end = "given up"
		}
		parts = append(parts, fmt.Sprintf("%s call %d by %s, %s after %d ms", strings.TrimSpace(c.since(call.from)), call.number, cmp.Or(call.caller, "?"), end, call.to.Sub(call.from).Milliseconds()))
	}
	return strings.Join(parts, "; ") + "; faults: " + c.around(calls[0].from, calls[len(calls)-1].from)
}

// checkLimits checks that the runs of a shape with a limit were never more at once: a run
// works at least from its first call to the first call of its last calling node.
func (c *cluster) checkLimits() {
	type edge struct {
		at     time.Time
		change int
		run    string
	}
	for _, s := range c.shapes {
		if s.limit == 0 {
			continue
		}
		var edges []edge
		for _, r := range c.history.all() {
			if r.shape != s {
				continue
			}
			first, last := c.service.under(r.id+"/first"), c.service.under(r.id+"/second")
			if len(first) == 0 || len(last) == 0 || !last[0].from.After(first[0].from) {
				continue
			}
			edges = append(edges, edge{first[0].from, 1, r.id}, edge{last[0].from, -1, r.id})
		}
		slices.SortFunc(edges, func(a, b edge) int { return a.at.Compare(b.at) })
		working, reported := map[string]bool{}, false
		for _, e := range edges {
			if e.change < 0 {
				delete(working, e.run)
				continue
			}
			working[e.run] = true
			c.summary.MostAtOnce[s.name] = max(c.summary.MostAtOnce[s.name], len(working))
			if len(working) > s.limit && !reported {
				reported = true
				var all []string
				for id := range working {
					all = append(all, fmt.Sprintf("%s from %s", id, strings.TrimSpace(c.since(c.service.under(id + "/first")[0].from))))
				}
				c.violated("limit", e.run, "%d runs of %s work at once at %s, want %d at most: %s; faults: %s", len(working), s.name, strings.TrimSpace(c.since(e.at)), s.limit, strings.Join(all, ", "), c.around(e.at, e.at))
			}
		}
	}
}
