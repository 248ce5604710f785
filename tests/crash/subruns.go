package main

import (
	"encoding/json"
	"strings"

	"blueprintd/tests/process"
)

// related records how a run was started, as a listing shows it.
func (b *book) related(r *run, parent, retryOf string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.parent == "" && parent != "" {
		b.counts.SubRuns++
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

// judgeFamilies compares sub-runs with the steps that started them, after all runs
// have ended: a step starts one run, a run is started by one step, and a step that
// waits for a run returns its output.
func (b *book) judgeFamilies() {
	claimed := map[string]string{} // run -> the step with its output
	for _, p := range b.all() {
		for address, one := range p.done {
			var s step
			if json.Unmarshal([]byte(one.step), &s); p.retryOf != "" || s.NodeType != "blueprint" {
				continue // the steps of a retried run are those of another
			}
			text, _ := process.At(value(s.Output), "text").(string)
			id, good := strings.CutSuffix(text, " done")
			child := b.runs[id]
			switch by := p.id + "/" + address; {
			case process.At(value(s.Output), "marked") == true:
			case !good || child == nil || child.parent != p.id:
				b.violated("I14", p.id, "its step %s gave %s, which is not that of a run which it started", address, s.Output)
			case child.status != "completed":
				b.violated("I14", p.id, "its step %s completed with run %s, which is %s", address, id, child.status)
			case claimed[id] != "":
				b.violated("I14", id, "it was started by %s and by %s", claimed[id], by)
			default:
				claimed[id] = by
			}
		}
	}
	started := map[string]string{} // step -> run
	for _, r := range b.all() {
		if r.parent == "" {
			continue
		}
		p := b.runs[r.parent]
		if p == nil {
			b.violated("I14", r.id, "it was started by %s, which does not exist", r.parent)
			continue
		}
		output, _ := r.output("before")
		at, told := process.At(output, "at").(string)
		if !told {
			continue // it ended before it could name its parent
		}
		by := p.id + "/" + at
		if other := started[by]; other != "" {
			b.violated("I14", r.id, "the step %s started it and %s", by, other)
		}
		if started[by] = r.id; claimed[r.id] != "" && claimed[r.id] != by {
			b.violated("I14", r.id, "the step %s started it, and %s got its output", by, claimed[r.id])
		}
		if r.status != "completed" && r.status != "failed" {
			b.violated("I14", r.id, "the step %s started it, and it is %s", by, r.status)
		}
		if p.status != "completed" && p.status != "failed" {
			b.violated("I14", p.id, "it is %s, and the run %s that it started is %s", p.status, r.id, r.status)
		}
	}
}

func value(data json.RawMessage) (v any) {
	json.Unmarshal(data, &v)
	return v
}

// judgeEvents compares the steps that published events with the ledgers of the
// subscribed triggers: each event started exactly one run. started maps the key of an
// event to that run.
func (b *book) judgeEvents(started map[string]string) {
	for key, execution := range started {
		id, address, _ := strings.Cut(key, "/")
		if r := b.runs[id]; r == nil || address == "" {
			b.violated("I7", execution, "it received an event of %s, which is not a step of any run", key)
		}
	}
	for _, r := range b.all() {
		for address, one := range r.done {
			var s step
			if json.Unmarshal([]byte(one.step), &s); s.NodeType != "emit-event" || r.retryOf != "" {
				continue
			}
			if n := process.At(value(s.Output), "delivered"); n != 1.0 || started[r.id+"/"+address] == "" {
				b.violated("I7", r.id, "its step %s published an event that was delivered to %v runs; the trigger started %q for it", address, n, started[r.id+"/"+address])
			}
		}
	}
}
