package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"blueprintd/tests/process"
)

// edited is the name of the shape whose blueprint changes during its runs.
const edited = "edited"

// edition returns the nodes of the nth edition of the edited shape. The output of a run
// contains the editions with which it began and ended.
func edition(ledger string, n int) []any {
	return []any{
		process.Node("before", "set", object{"values": object{"kept": "{{execution.id}}", "edition": n}}),
		process.Node("wait", "wait", object{"durationMs": "{{inputData.wait ?? 50}}"}),
		process.Node("call", "http-request", object{"method": "POST", "url": ledger + "/call?node=call", "body": object{"from": "{{execution.id}}/call", "edition": n}}),
		process.Node("edition", "template", object{"text": fmt.Sprintf("edition {{edition}} of %d", n)}),
		process.Node("after", "template", object{"text": "{{kept}} done"}),
	}
}

// editor changes the edited shape repeatedly.
type editor struct {
	random *rand.Rand
	ledger string
}

// work publishes editions until loaded ends.
func (e *editor) work(ctx, loaded context.Context, c *client, s *shape) {
	for process.Pause(loaded, time.Duration(50+e.random.IntN(400))*time.Millisecond) {
		e.publish(ctx, c, s)
	}
}

func (e *editor) publish(ctx context.Context, c *client, s *shape) {
	s.mu.Lock()
	s.sent++
	n := s.sent
	s.mu.Unlock()
	nodes := edition(e.ledger, n)
	a := c.api.Mutate(ctx, "blueprint.update", object{"id": s.id, "blueprint_map": object{"nodes": nodes}})
	if a.Err == process.ErrDown {
		s.mu.Lock()
		s.unsent++
		s.mu.Unlock()
	}
	if !c.succeeded(a, "blueprint.update") {
		return
	}
	s.mu.Lock()
	s.nodes, s.published = nodes, n
	s.mu.Unlock()
	c.history.count(func(n *counts) { n.Updates++ })
}

// editions returns the latest acknowledged edition and the latest sent one; both are 0 for
// a shape that is not edited.
func (s *shape) editions() (published, tried int) {
	if s == nil {
		return 0, 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.published, s.sent
}

// checkEdition checks the editions of a completed run of the edited shape: it began with an
// edition of at least minEdition, and kept it.
func (h *history) checkEdition(r *run, text string, tried int) {
	var began, ended int
	if _, err := fmt.Sscanf(text, "edition %d of %d", &began, &ended); err != nil {
		h.violated("I11", r.id, "its edition step says %q", text)
		return
	}
	if began != ended {
		h.violated("I11", r.id, "it began with edition %d and continued with edition %d", began, ended)
	}
	if began < r.minEdition || began > tried {
		h.violated("I11", r.id, "it ran edition %d, when %d was published before and edition %d was sent last", began, r.minEdition, tried)
	}
}

// checkStored checks that an acknowledged change of the edited shape is stored.
func (c *client) checkStored(ctx context.Context, s *shape) {
	a := c.api.Query(ctx, "blueprint.get", object{"id": s.id})
	if !c.succeeded(a, "blueprint.get") {
		return
	}
	nodes, _ := process.At(a.Value, "blueprint_map", "nodes").([]any)
	published, tried := s.editions()
	c.history.checkStored(nodes, published, tried)
}

func (h *history) checkStored(nodes []any, published, tried int) {
	stored := -1.0
	if len(nodes) > 0 {
		stored, _ = process.At(nodes[0], "config", "values", "edition").(float64)
	}
	if stored < float64(published) || stored > float64(tried) {
		h.violated("I1", "", "edition %d of the blueprint was acknowledged, edition %d was sent last, and %v is stored", published, tried, stored)
	}
}
