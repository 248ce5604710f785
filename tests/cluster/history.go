package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// record is a run as getExecutionStatus returns it.
type record struct {
	process.RunState
	ID       string  `json:"id"`
	Progress float64 `json:"progress"`
	Steps    []step  `json:"steps"`
}

type step struct {
	NodeID   string `json:"nodeId"`
	NodeType string `json:"nodeType"`
	Status   string `json:"status"`
	Output   any    `json:"output"`
}

func (r *record) step(node string) *step {
	for i := range r.Steps {
		if r.Steps[i].NodeID == node {
			return &r.Steps[i]
		}
	}
	return nil
}

// outcome is what a client knows about the effect of a request.
type outcome string

const (
	acknowledged outcome = "acknowledged"
	refused      outcome = "refused" // it had no effect
	unknown      outcome = "unknown"
)

// reply is an answer to a question of a run.
type reply struct {
	node    string
	value   any
	outcome outcome
}

// run is what clients know of a run.
type run struct {
	id    string
	shape *shape

	mu        sync.Mutex
	as        string // how it was acknowledged; "" = only found in a list
	replies   []reply
	cancelled bool // a cancellation was acknowledged
	status    string
	ended     string // its first terminal record, as JSON
	record    *record
	endSeen   time.Time
}

// delivery is a delivery under a key, which is sent until it is acknowledged.
type delivery struct {
	shape *shape
	key   string
	input object
	run   string // the acknowledged run; "" = none yet
	sent  int
	began time.Time
}

type violation struct {
	At        time.Time `json:"at"`
	Invariant string    `json:"invariant"`
	Run       string    `json:"run,omitempty"`
	Text      string    `json:"text"`
}

// history is what the clients have seen.
type history struct {
	mu         sync.Mutex
	runs       map[string]*run
	open       []*run
	deliveries []*delivery
	unsettled  []*delivery // without an acknowledgement
	violations []violation
}

// add returns the run with an id and records how it was acknowledged.
func (h *history) add(id, as string, s *shape) *run {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.runs[id]
	if r == nil {
		r = &run{id: id, shape: s}
		h.runs[id] = r
		h.open = append(h.open, r)
	}
	if r.as == "" {
		r.as = as
	}
	if r.shape == nil {
		r.shape = s
	}
	return r
}

func (h *history) all() []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []*run
	for _, r := range h.runs {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *run) int { return strings.Compare(a.id, b.id) })
	return list
}

func (h *history) openRuns() []*run {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = slices.DeleteFunc(h.open, func(r *run) bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.ended != "" || r.status == "not_found"
	})
	return slices.Clone(h.open)
}

func (h *history) countUnsettled() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.unsettled)
}

// delivered records the run of a delivery.
func (c *cluster) delivered(d *delivery, id string) *run {
	r := c.history.add(id, "delivered under "+d.key, d.shape)
	c.history.mu.Lock()
	before := d.run
	if d.run == "" {
		d.run = id
	}
	c.history.mu.Unlock()
	if before != "" && before != id {
		c.violated("key", id, "the delivery %s to %s was acknowledged as %s before", d.key, d.shape.name, before)
	}
	return r
}

// observe compares a record with earlier observations. The caller holds r.mu.
func (c *cluster) observe(r *run, a process.Answer) *record {
	rec := &record{}
	body, err := json.Marshal(a.Value) // with sorted keys
	if err == nil {
		err = json.Unmarshal(body, rec)
	}
	if err != nil {
		c.violated("accepted", r.id, "its record cannot be read: %v: %.300s", err, body)
		return rec
	}
	r.status = rec.Status
	switch {
	case rec.Status == "not_found":
		c.violated("accepted", r.id, "it was acknowledged (%s) and does not exist", r.as)
	case r.ended != "" && r.ended != string(body):
		c.violated("ended", r.id, "its terminal record changed from %s to %s", r.ended, body)
	case r.ended == "" && rec.Terminal():
		r.ended, r.record, r.endSeen = string(body), rec, now()
		if r.cancelled && rec.Status == "completed" {
			c.violated("cancel", r.id, "its cancellation was acknowledged, and it completed")
		}
	}
	seen := map[string]bool{}
	for _, s := range rec.Steps {
		if seen[s.NodeID] {
			c.violated("step", r.id, "its node %s has two steps: %s", s.NodeID, body)
		}
		seen[s.NodeID] = true
	}
	return rec
}

// violated records a violation.
func (c *cluster) violated(invariant, run, format string, args ...any) {
	v := violation{now(), invariant, run, fmt.Sprintf(format, args...)}
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	if c.history.violations = append(c.history.violations, v); len(c.history.violations) <= shownViolations {
		fmt.Fprintf(c.out, "%s VIOLATION %s %s: %.600s\n", c.since(v.At), invariant, run, v.Text)
	}
	if c.onViolation != nil {
		c.onViolation(v)
	}
}

const shownViolations = 30

func numberOf(value any, path string) (float64, bool) {
	n, ok := process.At(value, path).(float64)
	return n, ok
}
