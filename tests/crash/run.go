package main

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// record is a run as getExecutionStatus returns it.
type record struct {
	process.RunState
	ID             string  `json:"id"`
	Progress       float64 `json:"progress"`
	StartTime      *string `json:"startTime"`
	EndTime        *string `json:"endTime"`
	TotalSteps     int     `json:"totalSteps"`
	CompletedSteps int     `json:"completedSteps"`
	FailedSteps    int     `json:"failedSteps"`
	Steps          []step  `json:"steps"`
}

type step struct {
	NodeID   string          `json:"nodeId"`
	NodeType string          `json:"nodeType"`
	Status   string          `json:"status"`
	Start    *string         `json:"startTime"`
	End      *string         `json:"endTime"`
	Attempt  int             `json:"attempt"`
	Output   json.RawMessage `json:"output"`
	Error    *stepError      `json:"error,omitempty"`
}

type stepError struct {
	Message string `json:"message"`
	Code    string `json:"code,omitempty"`
}

// run is what clients know of an execution. A client holds mu while it reads the execution
// or acts on it, so that observations are ordered.
type run struct {
	id    string
	shape *shape // nil = not part of the load

	mu              sync.Mutex
	acknowledgedAs  string  // how it was acknowledged; "" = only observed in a listing
	progress        float64 // the highest observed
	status          string  // the last observed
	ended           string  // the first terminal record, as JSON
	done            map[string]finished
	retries         map[string]int  // node -> number of requested repetitions, successful or not
	answered        map[string]bool // nodes whose answer was acknowledged
	cancelled       bool            // a cancellation was acknowledged
	cancelRequested bool            // a cancellation was sent
	abandoned       bool            // its user never answers
	acknowledgedEnd string          // it was acknowledged with this end
	minEdition      int             // the edition published before it began; 0 = any

	parent  string // the run that started it; guarded by the history's lock
	retryOf string // the run that it retries; guarded likewise
}

// finished is a step that was observed as completed.
type finished struct {
	at   time.Time // first observed
	step string    // as JSON
}

// observe compares a status record with all earlier observations and returns it. The caller
// holds r.mu.
func (h *history) observe(r *run, a answer) *record {
	received := now()
	data, err := json.Marshal(a.Value)
	rec := &record{}
	if err == nil {
		err = json.Unmarshal(data, rec)
	}
	if err != nil {
		h.violated("I1", r.id, "its record cannot be read: %v: %.300s", err, data)
		return rec
	}
	before := r.status
	r.status = rec.Status
	if rec.Status == "not_found" {
		h.violated("I1", r.id, "it was acknowledged (%s) and does not exist", r.acknowledgedAs)
		return rec
	}
	if r.ended != "" {
		if r.ended != string(data) {
			h.violated("I5", r.id, "its terminal record changed from %s to %s", r.ended, data)
		}
		return rec
	}
	if rec.Progress < r.progress {
		h.violated("I6", r.id, "its progress fell from %v to %v (status %s, then %s)", r.progress, rec.Progress, before, rec.Status)
	}
	r.progress = max(r.progress, rec.Progress)
	if (rec.Progress == 100) != (rec.Status == "completed") {
		h.violated("I6", r.id, "its progress is %v, its status %s", rec.Progress, rec.Status)
	}
	h.observeSteps(r, rec, received, false)
	if rec.Terminal() {
		r.ended = string(data)
		h.ended(r, rec)
	}
	return rec
}

// observeSteps checks the steps of a record: their order and counts, and that completed
// steps stay unchanged. For a record that may be older than earlier observations (past), it
// ignores steps that the record shows as unfinished.
func (h *history) observeSteps(r *run, rec *record, received time.Time, past bool) {
	steps := map[string]*step{}
	completed, failed := 0, 0
	for i := range rec.Steps {
		s := &rec.Steps[i]
		steps[s.NodeID] = s
		switch {
		case containerOf(s.NodeID) != "": // those of items are listed separately
		case s.Status == "completed":
			completed++
		case s.Status == "failed":
			failed++
		}
	}
	if completed != rec.CompletedSteps || failed != rec.FailedSteps {
		h.violated("I8", r.id, "completedSteps %d and failedSteps %d, but of its steps %d are completed and %d failed", rec.CompletedSteps, rec.FailedSteps, completed, failed)
	}
	for id, s := range steps {
		data, _ := json.Marshal(s)
		old, known := r.done[id]
		switch {
		case known && past && s.Status != "completed":
		case known && old.step != string(data):
			h.violated("I4", r.id, "the finished step %s (%s) changed from %s to %s", id, s.NodeType, old.step, data)
			delete(r.done, id) // report a step once
			if s.Status == "completed" {
				r.done[id] = finished{old.at, string(data)}
			}
		case !known && s.Status == "completed":
			r.done[id] = finished{received, string(data)}
		}
		if r.shape == nil || s.Status == "pending" || s.Status == "skipped" {
			continue
		}
		// An item that ends the whole run leaves the for-each node skipped, but not as if
		// it had never begun.
		if holder := containerOf(id); holder != "" && (steps[holder] == nil || steps[holder].Start == nil) {
			h.violated("I3", r.id, "step %s is %s, and %s has not begun", id, s.Status, holder)
		}
		for _, place := range r.shape.follows[pattern(id)] {
			before := siblingOf(id, place)
			p := steps[before]
			if p == nil {
				p = &step{Status: "missing"}
			}
			if p.Status != "completed" && p.Status != "skipped" {
				h.violated("I3", r.id, "step %s is %s, but %s before it is %s", id, s.Status, before, p.Status)
			} else if !h.clockSteps && p.Status == "completed" && p.End != nil && s.Start != nil && *s.Start < *p.End {
				h.violated("I3", r.id, "step %s started at %s, before %s ended at %s", id, *s.Start, before, *p.End)
			}
		}
	}
}

// unexpectedCodes are step failures that the load never causes: an unusable connection,
// credential or blueprint.
var unexpectedCodes = []string{
	"connection_unavailable", "host_not_allowed", "token_refused", "login_failed", "address_refused", "tls_failed", "too_many_redirects", "blueprint_unavailable",
	"bad_config", "bad_state", "unknown_tool", "too_many_steps", "not_a_list", "not_boolean", "script_error", "syntax_error", "memory_exceeded", "sandbox_unavailable", "sandbox_failed", "unauthorized", "invalid_request", "internal",
}

// ended checks the first terminal record of a run.
func (h *history) ended(r *run, rec *record) {
	h.count(func(c *counts) {
		if rec.Status == "completed" {
			c.Completed++
		} else {
			c.Failed++
		}
		for _, s := range rec.Steps {
			switch {
			case s.Status != "completed":
			case s.NodeType == "for-each":
				items, _ := value(s.Output).([]any)
				c.Items += len(items)
			case s.NodeType == "code":
				c.Scripts++
			}
		}
	})
	for _, s := range rec.Steps {
		if s.Error != nil && slices.Contains(unexpectedCodes, s.Error.Code) {
			h.violated("I13", r.id, "its step %s failed (%s): %s", s.NodeID, s.Error.Code, s.Error.Message)
		}
	}
	if rec.EndTime == nil || rec.StartTime == nil {
		h.violated("I5", r.id, "it is %s without start or end time", rec.Status)
	}
	if r.acknowledgedEnd != "" && r.acknowledgedEnd != rec.Status {
		h.violated("I5", r.id, "the response reported %s, but it is %s", r.acknowledgedEnd, rec.Status)
	}
	if r.shape == nil || r.acknowledgedAs == "" || r.acknowledgedAs == "retry" || rec.Status != "completed" {
		return // a retried run has outputs of another one
	}
	var edition struct{ Text string }
	last := false
	for _, s := range rec.Steps {
		if s.Status != "completed" {
			continue
		}
		if last = last || s.NodeID == r.shape.last; s.NodeID == "edition" {
			json.Unmarshal(s.Output, &edition)
		}
		if ending, speaks := r.shape.outputs[s.NodeID]; speaks {
			var output struct{ Text string }
			if json.Unmarshal(s.Output, &output); output.Text != r.id+ending {
				h.violated("I3", r.id, "its step %s says %q, want %q", s.NodeID, output.Text, r.id+ending)
			}
		}
	}
	if r.shape.name == edited {
		_, tried := r.shape.editions()
		h.checkEdition(r, edition.Text, tried)
	}
	if !last {
		h.violated("I3", r.id, "it completed without its step %s", r.shape.last)
	}
}
