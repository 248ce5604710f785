package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// How long runs may take to end once the faults have stopped: all of them, and until the
// next change of any. No wait and no call of the load takes a tenth of that.
const (
	mostToSettle = 60 * time.Second
	mostQuiet    = 15 * time.Second
)

// settle waits until all runs have ended, lists runs that no client knows of, stops
// the server gracefully, restarts it and reads every run again.
func (s *scene) settle(ctx context.Context, p *program.Process) (*program.Process, error) {
	c := s.client(1000)
	if s.ticking != nil {
		s.ticking.rest(ctx, c)
	}
	s.finish(ctx)
	c.list(ctx, 0)
	faultless, changed, before := now(), now(), ""
	for (len(s.book.opened()) > 0 || c.list(ctx, 0) > 0 || s.ticking == nil && s.book.undelivered(s.has) > 0) && now().Sub(faultless) < mostToSettle && now().Sub(changed) < mostQuiet {
		s.progress("settling")
		standing := ""
		c.list(ctx, 100) // runs started by these
		for _, r := range s.book.opened() {
			c.tend(ctx, r, true)
			standing += fmt.Sprintln(r.id, r.status, r.progress)
		}
		if standing != before {
			changed, before = now(), standing
		}
		if !process.Pause(ctx, 100*time.Millisecond) {
			return p, ctx.Err()
		}
	}
	for _, r := range s.book.opened() {
		s.book.violated("I2", r.id, "%.0f s after the faults stopped, %.0f s after anything changed, it is still %q: %s", now().Sub(faultless).Seconds(), now().Sub(changed).Seconds(), r.status, c.api.Query(ctx, "execution.getExecutionStatus", object{"executionId": r.id}).Body)
	}
	s.api.Open("")
	if err := p.Stop(mostToStop); err != nil {
		s.book.violated("up", "", "the server did not end well: %v", err)
	}
	next, err := s.up(ctx)
	if err != nil || next == nil {
		return next, err
	}
	if n := c.list(ctx, 0); n != 0 {
		s.book.violated("I2", "", "%d runs appeared after all had settled", n)
	}
	for _, r := range s.book.all() {
		c.look(ctx, r)
		if r.left && r.status != "paused" {
			s.book.violated("I2", r.id, "it was not answered, and it is %s", r.status)
		}
	}
	if s.ticking != nil {
		s.ticking.judge(ctx, c)
	}
	if shape := s.edited(); shape != nil {
		c.judgeStored(ctx, shape)
	}
	raised := map[string]string{}
	for _, shape := range s.shapes {
		for _, trigger := range shape.triggers() {
			started := c.firings(ctx, shape, trigger)
			if trigger == shape.event && shape.startEvent == customEvent {
				maps.Copy(raised, started)
			}
		}
	}
	s.book.judgeEvents(raised)
	s.book.judgeFamilies()
	s.judgeSources(ctx, c)
	s.book.count(func(n *counts) { n.Heard += len(raised) })
	if s.links != nil {
		s.links.look(ctx, c, true)
		for _, one := range s.links.all {
			s.links.try(ctx, c, one)
		}
	}
	if s.dashboardUser != nil {
		s.dashboardUser.leave(ctx)
	}
	s.fetchAccounts(ctx)
	return next, nil
}

// list reads the log of executions, records those that were never acknowledged, and returns
// their number. most limits how many it reads; 0 reads all, and then every known run must
// be listed.
func (c *client) list(ctx context.Context, most int) int {
	byBlueprint := map[string]*shape{}
	for _, s := range c.shapes {
		byBlueprint[s.id] = s
	}
	limit, found := 100, 0
	if most > 0 {
		limit = most
	}
	listed := map[string]bool{}
	for offset := 0; ; offset += limit {
		a := c.api.Query(ctx, "execution.listRecentExecutions", object{"limit": limit, "offset": offset})
		if !c.succeeded(a, "listRecentExecutions") {
			return found
		}
		logs, _ := process.At(a.Value, "logs").([]any)
		for _, log := range logs {
			id, _ := process.At(log, "executionData", "executionId").(string)
			blueprint, _ := process.At(log, "blueprintId").(string)
			listed[id] = true
			r := c.book.run(id)
			if r == nil {
				found++
				r = c.book.knows(id, "", byBlueprint[blueprint])
			}
			parent, _ := process.At(log, "executionMetadata", "parentExecutionId").(string)
			retryOf, _ := process.At(log, "executionMetadata", "retryOf").(string)
			c.book.related(r, parent, retryOf)
			if status := process.At(log, "status"); most == 0 && r.ended != "" && status != r.status {
				c.book.violated("I5", id, "it is %s, and the listing says %v", r.status, status)
			}
		}
		if most > 0 {
			return found
		}
		if len(logs) < limit {
			break
		}
	}
	for _, r := range c.book.all() {
		if !listed[r.id] {
			c.book.violated("I1", r.id, "it was acknowledged (%s) and is not in the listing", r.acked)
		}
	}
	return found
}

// history returns the rows of a trigger's firing ledger.
func (c *client) history(ctx context.Context, trigger string) []any {
	var all []any
	for {
		a := c.api.Query(ctx, "blueprintTriggers.history", object{"triggerId": trigger, "limit": 100, "offset": len(all)})
		if !c.succeeded(a, "history") {
			return all
		}
		rows, _ := process.At(a.Value, "firings").([]any)
		if all = append(all, rows...); len(rows) < 100 {
			return all
		}
	}
}

// firings reads the ledger of a trigger of the load and checks it: each row that
// started a run names a run of that trigger, no key started two, and the rows agree
// with the responses that clients received. It returns the executions by key.
func (c *client) firings(ctx context.Context, s *shape, trigger string) (started map[string]string) {
	started = map[string]string{}
	runs, refused := map[string]bool{}, map[string]int{}
	for _, row := range c.history(ctx, trigger) {
		key, _ := process.At(row, "key").(string)
		execution, _ := process.At(row, "executionId").(string)
		if process.At(row, "decision") == "refused" {
			refused[key]++
		}
		if process.At(row, "decision") != "started" {
			continue
		}
		if other := started[key]; other != "" {
			c.book.violated("I7", execution, "key %s of trigger %s also started %s", key, trigger, other)
		}
		if r := c.book.run(execution); r == nil || r.shape != s || runs[execution] {
			c.book.violated("I7", execution, "firing %v of trigger %s started it, but it is no run of that trigger or was started twice", process.At(row, "id"), trigger)
		}
		started[key], runs[execution] = execution, true
	}
	for _, d := range c.book.deliveries {
		if d.trigger == trigger && d.execution != "" && started[d.id] != d.execution {
			c.book.violated("I7", d.execution, "delivery %s of trigger %s was acknowledged, and the ledger says it started %q", d.id, trigger, started[d.id])
		}
		if d.trigger == trigger && refused[d.id] < d.refused {
			c.book.violated("I15", d.execution, "key %s of trigger %s was refused %d times, and the ledger says %d", d.id, trigger, d.refused, refused[d.id])
		}
	}
	return started
}
