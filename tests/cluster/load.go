package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"time"

	"blueprintd/tests/process"
)

const apiKey = "key-of-the-torturer"

// client loads the server through the processes that are ready, one after the other.
type client struct {
	*cluster
	name   string
	random *rand.Rand
	apis   map[string]*process.Client // by address
	sent   int
}

var turn atomic.Int64

func (c *cluster) client(name string, stream uint64) *client {
	return &client{cluster: c, name: name, random: rand.New(rand.NewPCG(c.seed, stream)), apis: map[string]*process.Client{}}
}

// patience is how long a client waits for an answer; a frozen process gives none.
const patience = 12 * time.Second

// api returns a client of the next process that is ready; nil if none is.
func (c *client) api() *process.Client {
	for range c.nodes {
		n := c.nodes[int(turn.Add(1))%len(c.nodes)]
		address := n.readyAddress()
		if address == "" {
			continue
		}
		api := c.apis[address]
		if api == nil {
			api = process.NewClient(address, apiKey, &http.Client{Timeout: patience, Transport: &http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: 2 * time.Second}})
			c.apis[address] = api
		}
		return api
	}
	return nil
}

// judge counts an answer and says what it means for the effect of its request.
func (c *client) judge(a process.Answer, what string) outcome {
	c.count(func(s *summary) {
		s.Requests++
		if a.Err != nil {
			s.Lost++
		} else if a.Status == http.StatusServiceUnavailable {
			s.Refused++
		}
	})
	switch {
	case a.Err != nil, a.Status == http.StatusServiceUnavailable:
		return unknown
	case a.OK():
		return acknowledged
	}
	if a.Status != http.StatusConflict {
		c.violated("refused", "", "%s was refused: %s", what, a)
	}
	return refused
}

// maxOpen is the number of open runs from which clients start no more. maxUnsettled is the
// number of deliveries without an acknowledgement from which they repeat these first.
const (
	maxOpen      = 200
	maxUnsettled = 50
)

// work loads the server until loaded ends.
func (c *client) work(ctx, loaded context.Context) {
	for process.Pause(loaded, time.Duration(10+c.random.IntN(60))*time.Millisecond) {
		switch dice := c.random.IntN(100); {
		case dice < 8, dice < 60 && c.history.countUnsettled() >= maxUnsettled:
			c.sendUnsettled(ctx)
		case dice < 14:
			c.repeatOld(ctx)
		case dice < 60 && len(c.history.openRuns()) < maxOpen:
			c.start(ctx)
		default:
			if open := c.history.openRuns(); len(open) > 0 {
				c.act(ctx, open[c.random.IntN(len(open))], false)
			}
		}
	}
}

func (c *client) choose() *shape {
	total := 0
	for _, s := range c.shapes {
		total += s.weight
	}
	n := c.random.IntN(total)
	for _, s := range c.shapes {
		if n -= s.weight; n < 0 {
			return s
		}
	}
	return nil
}

// start begins a run by a delivery with a key, or without one.
func (c *client) start(ctx context.Context) {
	c.sent++
	s := c.choose()
	input := object{"wait": 500 + c.random.IntN(5500), "client": c.name, "n": c.sent}
	if c.random.IntN(6) == 0 && s.limit == 0 {
		api := c.api()
		if api == nil {
			return
		}
		m := object{"nodes": s.nodes, "options": object{"blueprintId": s.id, "inputData": input}}
		if s.edges != nil {
			m["edges"] = s.edges
		}
		a := api.Mutate(ctx, "execution.executeBlueprintWithLogging", m)
		if c.judge(a, "executeBlueprintWithLogging") == acknowledged {
			c.history.add(a.Text("executionId"), "logged", s)
		}
		return
	}
	d := &delivery{shape: s, key: fmt.Sprintf("%s-%d", c.name, c.sent), input: input, began: now()}
	c.history.mu.Lock()
	c.history.deliveries = append(c.history.deliveries, d)
	c.history.mu.Unlock()
	if c.random.IntN(8) == 0 { // twice at once, through two processes
		done := make(chan struct{})
		other := c.api()
		go func() {
			defer close(done)
			c.deliver(ctx, d, other)
		}()
		c.deliver(ctx, d, c.api())
		<-done
	} else {
		c.deliver(ctx, d, c.api())
	}
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	if d.run == "" {
		c.history.unsettled = append(c.history.unsettled, d)
	}
}

// deliver sends a delivery through a process.
func (c *client) deliver(ctx context.Context, d *delivery, api *process.Client) {
	if api == nil {
		return
	}
	c.history.mu.Lock()
	d.sent++
	c.history.mu.Unlock()
	a := api.Do(ctx, http.MethodPost, "/webhooks/blueprint/"+d.shape.trigger, d.input, "Idempotency-Key", d.key)
	if a.Err == nil && a.Status == http.StatusInternalServerError && a.Text("executionId") != "" {
		a.Status = http.StatusOK // of a waiting delivery: its run failed
	}
	if c.judge(a, "a delivery to "+d.shape.name) != acknowledged {
		return
	}
	id := a.Text("executionId")
	if id == "" {
		id = a.Text("execution") // of a respond node
	}
	if id == "" {
		c.violated("key", "", "a delivery to %s was answered %s", d.shape.name, a)
		return
	}
	c.delivered(d, id)
}

// sendUnsettled repeats a delivery that was not acknowledged.
func (c *client) sendUnsettled(ctx context.Context) {
	c.history.mu.Lock()
	var d *delivery
	if n := len(c.history.unsettled); n > 0 {
		i := c.random.IntN(n)
		d = c.history.unsettled[i]
		c.history.unsettled = append(c.history.unsettled[:i], c.history.unsettled[i+1:]...)
	}
	c.history.mu.Unlock()
	if d == nil {
		return
	}
	c.deliver(ctx, d, c.api())
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	if d.run == "" {
		c.history.unsettled = append(c.history.unsettled, d)
	}
}

// repeatOld repeats an acknowledged delivery.
func (c *client) repeatOld(ctx context.Context) {
	c.history.mu.Lock()
	var d *delivery
	if n := len(c.history.deliveries); n > 0 {
		d = c.history.deliveries[n-1-c.random.IntN(min(n, 200))]
	}
	c.history.mu.Unlock()
	if d != nil {
		c.deliver(ctx, d, c.api())
		c.count(func(s *summary) { s.Repeated++ })
	}
}

// act reads a run, answers its question, or cancels it. Without faults, at the end, it only
// answers.
func (c *client) act(ctx context.Context, r *run, last bool) {
	api := c.api()
	if api == nil {
		return
	}
	a := api.Query(ctx, "execution.getExecutionStatus", object{"executionId": r.id})
	if c.judge(a, "getExecutionStatus") != acknowledged {
		return
	}
	r.mu.Lock()
	rec := c.observe(r, a)
	r.mu.Unlock()
	switch {
	case rec.Status == "paused":
		for _, w := range rec.Waiting() {
			c.answer(ctx, r, w, last)
		}
	case rec.Status == "running" && !last && c.random.IntN(40) == 0:
		c.cancel(ctx, r)
	}
}

// answer answers a question of a run, sometimes twice at once with different answers.
func (c *client) answer(ctx context.Context, r *run, w process.Awaiting, last bool) {
	if !last && c.random.IntN(4) > 0 {
		return // not yet
	}
	inputs := []object{{"approved": c.random.IntN(2) == 0}}
	switch w.Kind {
	case "approval":
		if c.random.IntN(4) == 0 {
			inputs = append(inputs, object{"approved": inputs[0]["approved"] != true})
		}
	case "unknown-outcome":
		inputs = []object{{"action": "mark-done", "output": object{"marked": true}}}
		c.count(func(s *summary) { s.UnknownOutcomes++ })
	default:
		c.violated("waits", r.id, "it waits for %s at %s, which no node of it asks for", w.Kind, w.NodeID)
		return
	}
	done := make(chan struct{})
	for _, input := range inputs {
		api := c.api()
		go func() {
			defer func() { done <- struct{}{} }()
			if api == nil {
				return
			}
			a := api.Mutate(ctx, "execution.resume", object{"executionId": r.id, "nodeId": w.NodeID, "input": input})
			got := c.judge(a, "resume")
			r.mu.Lock()
			defer r.mu.Unlock()
			r.replies = append(r.replies, reply{w.NodeID, input["approved"], got})
		}()
	}
	for range inputs {
		<-done
	}
}

func (c *client) cancel(ctx context.Context, r *run) {
	api := c.api()
	if api == nil {
		return
	}
	a := api.Mutate(ctx, "execution.cancel", object{"executionId": r.id, "reason": "torture"})
	if c.judge(a, "cancel") != acknowledged {
		return
	}
	c.count(func(s *summary) { s.Cancelled++ })
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cancelled = true; r.record != nil && r.record.Status == "completed" {
		c.violated("cancel", r.id, "its cancellation was acknowledged, and it completed")
	}
}
