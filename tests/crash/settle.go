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
	maxSettle = 60 * time.Second
	maxQuiet  = 15 * time.Second
)

// settle waits until all runs have ended, lists runs that no client knows of, stops
// the server gracefully, restarts it and reads every run again.
func (s *scenario) settle(ctx context.Context, p *program.Process) (*program.Process, error) {
	c := s.client(1000)
	if s.clock != nil {
		s.clock.finish(ctx, c)
	}
	s.finishSenders(ctx)
	c.list(ctx, 0)
	faultless, changed, before := now(), now(), ""
	for (len(s.history.openRuns()) > 0 || c.list(ctx, 0) > 0 || s.clock == nil && s.history.undelivered(s.hasShape) > 0) && now().Sub(faultless) < maxSettle && now().Sub(changed) < maxQuiet {
		s.progress("settling")
		standing := ""
		c.list(ctx, 100) // runs started by these
		for _, r := range s.history.openRuns() {
			c.act(ctx, r, true)
			standing += fmt.Sprintln(r.id, r.status, r.progress)
		}
		if standing != before {
			changed, before = now(), standing
		}
		if !process.Pause(ctx, 100*time.Millisecond) {
			return p, ctx.Err()
		}
	}
	for _, r := range s.history.openRuns() {
		s.history.violated("I2", r.id, "%.0f s after the faults stopped, %.0f s after anything changed, it is still %q: %s", now().Sub(faultless).Seconds(), now().Sub(changed).Seconds(), r.status, c.api.Query(ctx, "execution.getExecutionStatus", object{"executionId": r.id}).Body)
	}
	s.api.Open("")
	if err := p.Stop(maxStop); err != nil {
		s.history.violated("up", "", "the server did not stop cleanly: %v", err)
	}
	next, err := s.start(ctx)
	if err != nil || next == nil {
		return next, err
	}
	if n := c.list(ctx, 0); n != 0 {
		s.history.violated("I2", "", "%d runs appeared after all had settled", n)
	}
	for _, r := range s.history.all() {
		c.check(ctx, r)
		if r.abandoned && r.status != "paused" {
			s.history.violated("I2", r.id, "it was not answered, and it is %s", r.status)
		}
	}
	if s.clock != nil {
		s.clock.check(ctx, c)
	}
	if shape := s.edited(); shape != nil {
		c.checkStored(ctx, shape)
	}
	published := map[string]string{}
	for _, shape := range s.shapes {
		for _, trigger := range shape.triggers() {
			started := c.firings(ctx, shape, trigger)
			if trigger == shape.event && shape.startEvent == customEvent {
				maps.Copy(published, started)
			}
		}
	}
	s.history.checkEvents(published)
	s.history.checkSubRuns()
	s.checkSources(ctx, c)
	s.history.count(func(n *counts) { n.CustomEvents += len(published) })
	if s.connections != nil {
		s.connections.list(ctx, c, true)
		for _, one := range s.connections.all {
			s.connections.test(ctx, c, one)
		}
	}
	if s.dashboardUser != nil {
		s.dashboardUser.checkAll(ctx)
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
			r := c.history.run(id)
			if r == nil {
				found++
				r = c.history.addRun(id, "", byBlueprint[blueprint])
			}
			parent, _ := process.At(log, "executionMetadata", "parentExecutionId").(string)
			retryOf, _ := process.At(log, "executionMetadata", "retryOf").(string)
			c.history.setOrigin(r, parent, retryOf)
			if status := process.At(log, "status"); most == 0 && r.ended != "" && status != r.status {
				c.history.violated("I5", id, "it is %s, but the listing has %v", r.status, status)
			}
		}
		if most > 0 {
			return found
		}
		if len(logs) < limit {
			break
		}
	}
	for _, r := range c.history.all() {
		if !listed[r.id] {
			c.history.violated("I1", r.id, "it was acknowledged (%s) and is not in the listing", r.acknowledgedAs)
		}
	}
	return found
}

// firingRows returns the rows of a trigger's firing ledger.
func (c *client) firingRows(ctx context.Context, trigger string) []any {
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
	for _, row := range c.firingRows(ctx, trigger) {
		key, _ := process.At(row, "key").(string)
		execution, _ := process.At(row, "executionId").(string)
		if process.At(row, "decision") == "refused" {
			refused[key]++
		}
		if process.At(row, "decision") != "started" {
			continue
		}
		if other := started[key]; other != "" {
			c.history.violated("I7", execution, "key %s of trigger %s also started %s", key, trigger, other)
		}
		if r := c.history.run(execution); r == nil || r.shape != s || runs[execution] {
			c.history.violated("I7", execution, "firing %v of trigger %s started it, but it is not a run of that trigger, or was started twice", process.At(row, "id"), trigger)
		}
		started[key], runs[execution] = execution, true
	}
	for _, d := range c.history.deliveries {
		if d.trigger == trigger && d.execution != "" && started[d.id] != d.execution {
			c.history.violated("I7", d.execution, "delivery %s of trigger %s was acknowledged, but according to the ledger it started %q", d.id, trigger, started[d.id])
		}
		if d.trigger == trigger && refused[d.id] < d.refused {
			c.history.violated("I15", d.execution, "key %s of trigger %s was refused %d times, but according to the ledger %d times", d.id, trigger, d.refused, refused[d.id])
		}
	}
	return started
}
