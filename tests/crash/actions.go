package main

import (
	"context"

	"blueprintd/tests/process"
)

// act reads a run and acts on it as a user would: it answers questions, cancels
// some runs and retries some that failed. If last, after the load, it only answers.
func (c *client) act(ctx context.Context, r *run, last bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := c.api.Query(ctx, "execution.getExecutionStatus", object{"executionId": r.id})
	if !c.succeeded(a, "getExecutionStatus") {
		return
	}
	old := r.ended
	rec := c.history.observe(r, a)
	switch {
	case r.cancelled && rec.Status == "completed":
		c.history.violated("I1", r.id, "its cancellation was acknowledged, and it completed")
	case rec.Terminal() || rec.Status == "not_found":
		c.history.close(r)
		if old == "" && rec.Status == "failed" && !last && !r.isSpared() && c.random.IntN(3) == 0 {
			c.retry(ctx, r)
		}
	case rec.Status == "paused":
		for _, w := range rec.Waiting() {
			c.reply(ctx, r, w, last)
		}
	case !last && !r.isSpared() && c.random.IntN(60) == 0:
		c.cancel(ctx, r)
	}
}

// isSpared reports whether a run is never cancelled or retried.
func (r *run) isSpared() bool { return r.shape != nil && r.shape.spared }

// check reads a run that may have ended, and checks it.
func (c *client) check(ctx context.Context, r *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := c.api.Query(ctx, "execution.getExecutionStatus", object{"executionId": r.id})
	if c.succeeded(a, "getExecutionStatus") {
		c.history.observe(r, a)
	}
}

func (c *client) reply(ctx context.Context, r *run, w process.Awaiting, last bool) {
	if r.answered[w.NodeID] && w.Kind != "unknown-outcome" {
		c.history.violated("I1", r.id, "the answer to %s was acknowledged, but the run asks again", w.NodeID)
		return
	}
	input := object{}
	switch w.Kind {
	case "human":
		if r.shape != nil && r.shape.name == "expire" {
			return // its time limit ends it
		}
		// One in ten is never answered, depending on its id.
		if r.abandoned = hashOf(r.id)%10 == 0; r.abandoned {
			c.history.close(r)
			return
		}
		if !last && c.random.IntN(4) > 0 {
			return // not yet
		}
		input["name"] = "Ada"
	case "approval":
		input["approved"] = c.random.IntN(2) == 0
	case "unknown-outcome":
		switch c.random.IntN(3) {
		case 0:
			input["action"] = "retry"
			r.retries[w.NodeID]++
		case 1:
			input["action"], input["output"] = "mark-done", object{"marked": true}
		default:
			input["action"] = "abort"
		}
	default:
		c.history.violated("I2", r.id, "it waits for %s at %s, which no node of it asks for", w.Kind, w.NodeID)
		return
	}
	a := c.api.Mutate(ctx, "execution.resume", object{"executionId": r.id, "nodeId": w.NodeID, "input": input})
	if !c.succeeded(a, "resume of "+r.id) {
		return
	}
	r.answered[w.NodeID] = true
	c.history.observe(r, a)
	c.history.count(func(n *counts) {
		if w.Kind == "unknown-outcome" {
			n.UnknownOutcome++
		} else {
			n.Answers++
		}
	})
}

func (c *client) cancel(ctx context.Context, r *run) {
	r.cancelRequested = true
	a := c.api.Mutate(ctx, "execution.cancel", object{"executionId": r.id, "reason": "torture"})
	if !c.succeeded(a, "cancel of "+r.id) {
		return
	}
	r.cancelled = true
	c.history.count(func(n *counts) { n.Cancelled++ })
	c.history.observe(r, a)
}

func (c *client) retry(ctx context.Context, r *run) {
	a := c.api.Mutate(ctx, "execution.retry", object{"executionId": r.id})
	if !c.succeeded(a, "retry of "+r.id) {
		return
	}
	c.history.addRun(a.Text("executionId"), "retry", r.shape)
	c.history.count(func(n *counts) { n.Retried++ })
}
