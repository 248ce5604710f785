package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// maxSubscription bounds the subscription to one run.
const maxSubscription = 3 * time.Second

// follow subscribes to one run after another until loaded ends. After a kill it resumes the
// subscription on the next server.
func (c *client) follow(ctx, loaded context.Context) {
	for process.Pause(loaded, time.Duration(5+c.random.IntN(20))*time.Millisecond) {
		for _, r := range c.history.someOpen(c.random, 1) {
			late := now().Add(maxSubscription)
			for now().Before(late) && loaded.Err() == nil && !c.subscribe(ctx, r, time.Until(late)) {
				process.Pause(loaded, 20*time.Millisecond)
			}
		}
	}
}

// subscribe reads the records of a run until the stream ends, and reports whether
// the run has ended.
func (c *client) subscribe(ctx context.Context, r *run, most time.Duration) (over bool) {
	address := c.api.Address()
	if address == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	input, err := json.Marshal(object{"json": object{"executionId": r.id}})
	if err != nil {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/trpc/execution.subscribe?input="+url.QueryEscape(string(input)), nil)
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+apiKey)
	response, err := c.api.HTTP.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		c.succeeded(answer{Status: response.StatusCode}, "execution.subscribe")
		return false
	}
	c.history.count(func(n *counts) { n.Streams++ })
	return c.history.readStream(r, response.Body)
}

// readStream reads a stream of server-sent events to its end, and reports whether the
// server ended it because the run has ended.
func (h *history) readStream(r *run, in io.Reader) (over bool) {
	s := &stream{}
	event, lines := "", bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return false // cut off: the events before it count
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			event = ""
			continue
		}
		if name, found := strings.CutPrefix(line, "event: "); found {
			event = name
		}
		data, found := strings.CutPrefix(line, "data: ")
		h.checkSecrets(r.id, "its stream", data)
		switch {
		case !found:
		case event == "return":
			if !s.ended {
				h.violated("I12", r.id, "its stream was ended before the run, at %q", s.status)
			}
			return true
		case event == "serialized-error":
			if !strings.Contains(data, `"httpStatus":503`) {
				h.violated("I12", r.id, "its stream was ended with %.300s", data)
			}
			return false
		case event == "":
			var value any
			if err := json.Unmarshal([]byte(data), &value); err != nil {
				h.violated("I12", r.id, "its stream sent %.300s: %v", data, err)
				return false
			}
			h.observeEvent(r, s, process.At(value, "json"))
		}
	}
}

// stream is the content of one subscription so far.
type stream struct {
	status   string
	progress float64
	ended    bool
}

// observeEvent compares a record from a subscription with the stream so far and with
// earlier observations of the run. Other clients may already have seen a later
// state, but no later observation may contradict this one.
func (h *history) observeEvent(r *run, s *stream, value any) {
	received := now()
	data, err := json.Marshal(value)
	rec := &record{}
	if err == nil {
		err = json.Unmarshal(data, rec)
	}
	if err != nil || rec.ID != r.id {
		h.violated("I12", r.id, "its stream reports %.300s (%v)", data, err)
		return
	}
	if s.ended || rec.Progress < s.progress {
		h.violated("I12", r.id, "after %s at %v its stream reports %s at %v", s.status, s.progress, rec.Status, rec.Progress)
	}
	s.status, s.progress, s.ended = rec.Status, rec.Progress, rec.Terminal()
	h.count(func(n *counts) { n.Events++ })

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == "" {
		r.progress = max(r.progress, rec.Progress)
		if h.observeSteps(r, rec, received, true); rec.Terminal() {
			r.status, r.ended = rec.Status, string(data)
			h.ended(r, rec)
		}
		return
	}
	if rec.Terminal() && r.ended != string(data) {
		h.violated("I12", r.id, "its stream reports the end %s, its status reports %s", data, r.ended)
	}
	for _, step := range rec.Steps {
		if text, _ := json.Marshal(&step); step.Status == "completed" && r.done[step.NodeID].step != string(text) {
			h.violated("I12", r.id, "its stream reports that step %s had ended, %s; its status reports %s", step.NodeID, text, fmt.Sprintf("%q", r.done[step.NodeID].step))
		}
	}
}
