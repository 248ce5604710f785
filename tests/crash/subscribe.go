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

// mostToFollow bounds the subscription to one run.
const mostToFollow = 3 * time.Second

// follow subscribes to one run after another until loaded ends. After a kill it resumes the
// subscription on the next server.
func (c *client) follow(ctx, loaded context.Context) {
	for process.Pause(loaded, time.Duration(5+c.random.IntN(20))*time.Millisecond) {
		for _, r := range c.book.some(c.random, 1) {
			late := now().Add(mostToFollow)
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
	c.book.count(func(n *counts) { n.Streams++ })
	return c.book.listen(r, response.Body)
}

// listen reads a stream of server-sent events to its end, and reports whether the
// server ended it because the run has ended.
func (b *book) listen(r *run, in io.Reader) (over bool) {
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
		b.keepsSecrets(r.id, "its stream", data)
		switch {
		case !found:
		case event == "return":
			if !s.ended {
				b.violated("I12", r.id, "its stream was ended before the run, at %q", s.status)
			}
			return true
		case event == "serialized-error":
			if !strings.Contains(data, `"httpStatus":503`) {
				b.violated("I12", r.id, "its stream was ended with %.300s", data)
			}
			return false
		case event == "":
			var value any
			if err := json.Unmarshal([]byte(data), &value); err != nil {
				b.violated("I12", r.id, "its stream said %.300s: %v", data, err)
				return false
			}
			b.absorb(r, s, process.At(value, "json"))
		}
	}
}

// stream is the content of one subscription so far.
type stream struct {
	status   string
	progress float64
	ended    bool
}

// absorb compares a record from a subscription with the stream so far and with
// earlier observations of the run. Other clients may already have seen a later
// state, but no later observation may contradict this one.
func (b *book) absorb(r *run, s *stream, value any) {
	heard := now()
	data, err := json.Marshal(value)
	rec := &record{}
	if err == nil {
		err = json.Unmarshal(data, rec)
	}
	if err != nil || rec.ID != r.id {
		b.violated("I12", r.id, "its stream told of %.300s (%v)", data, err)
		return
	}
	if s.ended || rec.Progress < s.progress {
		b.violated("I12", r.id, "after %s at %v its stream told of %s at %v", s.status, s.progress, rec.Status, rec.Progress)
	}
	s.status, s.progress, s.ended = rec.Status, rec.Progress, rec.terminal()
	b.count(func(n *counts) { n.Events++ })

	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended == "" {
		r.progress = max(r.progress, rec.Progress)
		if b.observeSteps(r, rec, heard, true); rec.terminal() {
			r.status, r.ended = rec.Status, string(data)
			b.ended(r, rec)
		}
		return
	}
	if rec.terminal() && r.ended != string(data) {
		b.violated("I12", r.id, "its stream told of the end %s, its status of %s", data, r.ended)
	}
	for _, step := range rec.Steps {
		if text, _ := json.Marshal(&step); step.Status == "completed" && r.done[step.NodeID].step != string(text) {
			b.violated("I12", r.id, "its stream told that step %s had ended, %s; its status of %s", step.NodeID, text, fmt.Sprintf("%q", r.done[step.NodeID].step))
		}
	}
}
