package main

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// repeats are the firings that were redelivered.
type repeats struct {
	mu  sync.Mutex
	all map[string]*repeated // by firing
}

// repeated is one redelivered firing.
type repeated struct {
	asked  int      // number of requests
	runs   []string // acknowledged runs
	shape  *shape
	firing string
}

func newRepeats() *repeats { return &repeats{all: map[string]*repeated{}} }

// work redelivers deliveries that started a run, until loaded ends.
func (r *repeats) work(ctx, loaded context.Context, c *client, all []*source) {
	for process.Pause(loaded, time.Duration(50+c.random.IntN(250))*time.Millisecond) {
		if c.api.Address() == "" || len(c.book.opened()) >= mostOpen {
			continue
		}
		if n := c.random.IntN(8); n < len(all) && all[n].path == "" {
			r.look(ctx, c, all[n])
		} else if d := c.book.started(c.random.IntN(1000)); d != nil {
			r.again(ctx, c, d)
		}
	}
}

// look finds the firing of a letter, whose reply does not contain it, and redelivers it.
func (r *repeats) look(ctx context.Context, c *client, s *source) {
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
	r.again(ctx, c, &delivery{shape: s.shape, firing: firing})
}

// started returns a delivery that started a run, often a recent one; nil if there is none.
func (b *book) started(n int) *delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.firings) == 0 {
		return nil
	}
	if n%2 == 0 {
		return b.firings[max(0, len(b.firings)-1-n/2%20)]
	}
	return b.firings[n%len(b.firings)]
}

// again redelivers a firing. A response means one run, none at most one.
func (r *repeats) again(ctx context.Context, c *client, d *delivery) {
	r.mu.Lock()
	one := r.all[d.firing]
	if one == nil {
		one = &repeated{shape: d.shape, firing: d.firing}
		r.all[d.firing] = one
	}
	if one.asked == mostRepeats {
		r.mu.Unlock()
		return
	}
	one.asked++
	r.mu.Unlock()
	a := c.api.Mutate(ctx, "blueprintTriggers.redeliver", object{"firingId": d.firing})
	if a.Err == process.ErrDown {
		r.mu.Lock()
		one.asked--
		r.mu.Unlock()
		return
	}
	// A redelivery is verified again, with the current secrets.
	if d.source != nil && d.source.ring != nil && a.Status == 400 && strings.Contains(string(a.Body), "is refused again") && d.source.ring.isGone(d.oldest) {
		a.Status = 409
	}
	if !c.succeeded(a, "redeliver of "+d.firing) {
		return
	}
	id := a.Text("executionId")
	if earlier := c.book.run(id); earlier != nil && earlier.acked != "" {
		c.book.violated("I7", id, "firing %s was delivered again, and answered with a run that there was", d.firing)
	}
	c.book.knows(id, "redelivered", d.shape)
	r.mu.Lock()
	one.runs = append(one.runs, id)
	r.mu.Unlock()
	c.book.count(func(n *counts) { n.Redelivered++ })
}

// mostRepeats limits the redeliveries of one firing to fewer than explain returns.
const mostRepeats = 10

// judge compares the requested redeliveries with those that explain returns: each
// acknowledged one is one run, and there are no more than were requested.
func (r *repeats) judge(ctx context.Context, c *client) {
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
				c.book.violated("I7", id, "redeliveries of the firings %s and %s started it", owner[id], one.firing)
			}
			owner[id] = one.firing
			found = append(found, id)
		}
		for _, id := range one.runs {
			if !slices.Contains(found, id) {
				c.book.violated("I7", id, "it was acknowledged as a redelivery of firing %s, which explain does not list: %v", one.firing, found)
			}
		}
		if len(found) > one.asked {
			c.book.violated("I7", found[0], "firing %s was delivered again %d times at most, and started %v", one.firing, one.asked, found)
		}
	}
}
