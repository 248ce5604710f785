package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// redeliveries are the firings that were redelivered.
type redeliveries struct {
	mu  sync.Mutex
	all map[string]*redelivery // by firing
}

// redelivery is one redelivered firing.
type redelivery struct {
	requests int      // number of requests
	runs     []string // acknowledged runs
	shape    *shape
	firing   string
}

func newRedeliveries() *redeliveries { return &redeliveries{all: map[string]*redelivery{}} }

// work redelivers deliveries that started a run, until loaded ends.
func (r *redeliveries) work(ctx, loaded context.Context, c *client, all []*source) {
	for process.Pause(loaded, time.Duration(50+c.random.IntN(250))*time.Millisecond) {
		if c.api.Address() == "" || len(c.history.openRuns()) >= maxOpen {
			continue
		}
		if n := c.random.IntN(8); n < len(all) && all[n].path == "" {
			r.redeliverEmail(ctx, c, all[n])
		} else if d := c.history.randomStarted(c.random.IntN(1000)); d != nil {
			r.redeliver(ctx, c, d)
		}
	}
}

// redeliverEmail finds the firing of an email, whose reply does not contain it, and redelivers it.
func (r *redeliveries) redeliverEmail(ctx context.Context, c *client, s *source) {
	a := c.api.Query(ctx, "blueprintTriggers.history", object{"triggerId": s.trigger, "decision": "started", "source": "email"})
	if !c.succeeded(a, "history") {
		return
	}
	rows, _ := process.At(a.Value, "firings").([]any)
	if len(rows) == 0 {
		return
	}
	row := rows[c.random.IntN(len(rows))]
	firing, _ := process.At(row, "id").(string)
	r.redeliver(ctx, c, &delivery{shape: s.shape, firing: firing})
}

// randomStarted returns a delivery that started a run, often a recent one; nil if there is none.
func (h *history) randomStarted(n int) *delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.firings) == 0 {
		return nil
	}
	if n%2 == 0 {
		return h.firings[max(0, len(h.firings)-1-n/2%20)]
	}
	return h.firings[n%len(h.firings)]
}

// redeliver redelivers a firing. A response means one run, none at most one.
func (r *redeliveries) redeliver(ctx context.Context, c *client, d *delivery) {
	r.mu.Lock()
	one := r.all[d.firing]
	if one == nil {
		one = &redelivery{shape: d.shape, firing: d.firing}
		r.all[d.firing] = one
	}
	if one.requests == maxRedeliveries {
		r.mu.Unlock()
		return
	}
	one.requests++
	r.mu.Unlock()
	a := c.api.Mutate(ctx, "blueprintTriggers.redeliver", object{"firingId": d.firing})
	if a.Err == process.ErrDown {
		r.mu.Lock()
		one.requests--
		r.mu.Unlock()
		return
	}
	// A redelivery is verified again, with the current secrets.
	if d.source != nil && d.source.ring != nil && a.Status == 400 && strings.Contains(string(a.Body), "is refused again") && d.source.ring.isExpired(d.oldest) {
		a.Status = 409
	}
	if !c.succeeded(a, "redeliver of "+d.firing) {
		return
	}
	id := a.Text("executionId")
	if earlier := c.history.run(id); earlier != nil && earlier.acknowledgedAs != "" {
		c.history.violated("I7", id, "firing %s was delivered again, but answered with an existing run", d.firing)
	}
	c.history.addRun(id, "redelivered", d.shape)
	r.mu.Lock()
	one.runs = append(one.runs, id)
	r.mu.Unlock()
	c.history.count(func(n *counts) { n.Redelivered++ })
}

// maxRedeliveries limits the redeliveries of one firing to fewer than explain returns.
const maxRedeliveries = 10

// check compares the requested redeliveries with those that explain returns: each
// acknowledged one is one run, and there are no more than were requested.
func (r *redeliveries) check(ctx context.Context, c *client) {
	owner := map[string]string{} // run -> firing
	for _, one := range r.all {
		a := c.explain(ctx, one.firing)
		if a.Value == nil {
			continue
		}
		list, _ := process.At(a.Value, "redeliveries").([]any)
		var found []string
		for _, row := range list {
			id, _ := process.At(row, "executionId").(string)
			if process.At(row, "decision") != "started" || id == "" {
				continue
			}
			if owner[id] != "" {
				c.history.violated("I7", id, "redeliveries of the firings %s and %s started it", owner[id], one.firing)
			}
			owner[id] = one.firing
			found = append(found, id)
		}
		for _, id := range one.runs {
			if !slices.Contains(found, id) {
				c.history.violated("I7", id, "it was acknowledged as a redelivery of firing %s, which explain does not list: %v", one.firing, found)
			}
		}
		if len(found) > one.requests {
			c.history.violated("I7", found[0], "firing %s was redelivered at most %d times, but started %v", one.firing, one.requests, found)
		}
	}
}
