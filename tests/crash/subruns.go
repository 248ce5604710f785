package main

import (
	"encoding/json"
	"strings"

	"blueprintd/tests/process"
)

// setOrigin records how a run was started, as a listing shows it.
func (h *history) setOrigin(r *run, parent, retryOf string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.parent == "" && parent != "" {
		h.counts.SubRuns++
	}
	r.parent, r.retryOf = parent, retryOf
}

// output returns the output of a step that was observed as completed.
func (r *run) output(address string) (value any, done bool) {
	finished, done := r.done[address]
	if !done {
		return nil, false
	}
	var s struct{ Output any }
	json.Unmarshal([]byte(finished.step), &s)
	return s.Output, true
}

// checkSubRuns compares sub-runs with the steps that started them, after all runs
// have ended: a step starts one run, a run is started by one step, and a step that
// waits for a run returns its output.
func (h *history) checkSubRuns() {
	claimed := map[string]string{} // run -> the step with its output
	for _, p := range h.all() {
		for address, one := range p.done {
			var s step
			if json.Unmarshal([]byte(one.step), &s); p.retryOf != "" || s.NodeType != "blueprint" {
				continue // the steps of a retried run are those of another
			}
			text, _ := process.At(value(s.Output), "text").(string)
			id, good := strings.CutSuffix(text, " done")
			child := h.runs[id]
			switch by := p.id + "/" + address; {
			case process.At(value(s.Output), "marked") == true:
			case !good || child == nil || child.parent != p.id:
				h.violated("I14", p.id, "the output of its step %s is %s, which does not name a run that it started", address, s.Output)
			case child.status != "completed":
				h.violated("I14", p.id, "its step %s completed with run %s, which is %s", address, id, child.status)
			case claimed[id] != "":
				h.violated("I14", id, "it was started by %s and by %s", claimed[id], by)
			default:
				claimed[id] = by
			}
		}
	}
	started := map[string]string{} // step -> run
	for _, r := range h.all() {
		if r.parent == "" {
			continue
		}
		p := h.runs[r.parent]
		if p == nil {
			h.violated("I14", r.id, "it was started by %s, which does not exist", r.parent)
			continue
		}
		output, _ := r.output("before")
		at, known := process.At(output, "at").(string)
		if !known {
			continue // it ended before it could name its parent
		}
		by := p.id + "/" + at
		if other := started[by]; other != "" {
			h.violated("I14", r.id, "the step %s started it and %s", by, other)
		}
		if started[by] = r.id; claimed[r.id] != "" && claimed[r.id] != by {
			h.violated("I14", r.id, "the step %s started it, but %s has its output", by, claimed[r.id])
		}
		if r.status != "completed" && r.status != "failed" {
			h.violated("I14", r.id, "the step %s started it, and it is %s", by, r.status)
		}
		if p.status != "completed" && p.status != "failed" {
			h.violated("I14", p.id, "it is %s, and the run %s that it started is %s", p.status, r.id, r.status)
		}
	}
}

func value(data json.RawMessage) (v any) {
	json.Unmarshal(data, &v)
	return v
}

// checkEvents compares the steps that published events with the ledgers of the
// subscribed triggers: each event started exactly one run. started maps the key of an
// event to that run.
func (h *history) checkEvents(started map[string]string) {
	for key, execution := range started {
		id, address, _ := strings.Cut(key, "/")
		if r := h.runs[id]; r == nil || address == "" {
			h.violated("I7", execution, "it received an event of %s, which is not a step of any run", key)
		}
	}
	for _, r := range h.all() {
		for address, one := range r.done {
			var s step
			if json.Unmarshal([]byte(one.step), &s); s.NodeType != "emit-event" || r.retryOf != "" {
				continue
			}
			if n := process.At(value(s.Output), "delivered"); n != 1.0 || started[r.id+"/"+address] == "" {
				h.violated("I7", r.id, "its step %s published an event that was delivered to %v runs; the trigger started %q for it", address, n, started[r.id+"/"+address])
			}
		}
	}
}
