package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"blueprintd/tests/process"
)

// How long runs may take to end once all faults are healed and all processes are ready: all
// of them, and until the next change of any.
const (
	maxSettle = 120 * time.Second
	maxQuiet  = 20 * time.Second
)

// settle waits until all runs have ended, reads what the server knows about them and checks
// it.
func (c *cluster) settle(ctx context.Context, created time.Time) {
	var clients []*client
	var sending sync.WaitGroup
	for i := range c.clients {
		clients = append(clients, c.client(fmt.Sprint("settle", i), uint64(200+i)))
	}
	client := clients[0]
	for _, client := range clients { // the load has left some
		sending.Go(func() {
			for range c.history.countUnsettled() {
				client.sendUnsettled(ctx)
			}
		})
	}
	sending.Wait()
	began, changed, told, before := now(), now(), now(), ""
	var unfinished map[string]string
	for process.Pause(ctx, 200*time.Millisecond) && now().Sub(began) < maxSettle && now().Sub(changed) < maxQuiet {
		for range c.history.unsettled {
			client.sendUnsettled(ctx)
		}
		var err error
		if unfinished, err = c.find(ctx, true); err != nil {
			continue
		}
		if len(unfinished) == 0 && len(c.history.unsettled) == 0 {
			break
		}
		var paused []*run
		standing := fmt.Sprint(len(c.history.unsettled), len(c.service.all()))
		for id, status := range unfinished {
			if status == "paused" {
				paused = append(paused, c.history.add(id, "", nil))
			}
		}
		c.actOnAll(ctx, clients, paused)
		if standing += fmt.Sprint(len(unfinished), len(paused)); standing != before {
			changed, before = now(), standing
		}
		if now().Sub(told) > 5*time.Second {
			told = now()
			c.addEvent("settling: %d runs have not ended, %d deliveries are not acknowledged", len(unfinished), len(c.history.unsettled))
		}
	}
	c.summary.Settled = now().Sub(began)
	for id, status := range unfinished {
		c.violated("ends", id, "%.0f s after all faults, %.0f s after anything changed, it is still %s: %.2000s", now().Sub(began).Seconds(), now().Sub(changed).Seconds(), status,
			client.api().Query(ctx, "execution.getExecutionStatus", object{"executionId": id}).Body)
	}
	for _, d := range c.history.unsettled {
		c.violated("key", "", "the delivery %s to %s, sent %d times, is still not acknowledged", d.key, d.shape.name, d.sent)
	}
	c.checkTicks(ctx, client, created)
	c.awaitRest(ctx)
	if _, err := c.find(ctx, false); err != nil {
		c.fail(err)
		return
	}
	c.actOnAll(ctx, clients, c.history.all())
	client.list(ctx)
	for _, s := range c.shapes {
		if s.cron == "" {
			c.checkFirings(ctx, client, s)
		}
	}
	c.checkStatistics(ctx, client)
	c.checkRuns()
	c.checkEvents()
	c.checkCalls()
	c.checkLimits()
}

// actOnAll acts on all runs, with several clients at once.
func (c *cluster) actOnAll(ctx context.Context, clients []*client, runs []*run) {
	var working sync.WaitGroup
	for i, client := range clients {
		working.Go(func() {
			for j := i; j < len(runs); j += len(clients) {
				client.act(ctx, runs[j], true)
			}
		})
	}
	working.Wait()
}

func (r *run) emitted() bool {
	s := r.record.step("emit")
	return s != nil && s.Status == "completed"
}

// awaitRest waits until runs that schedules have started meanwhile have ended.
func (c *cluster) awaitRest(ctx context.Context) {
	var unfinished map[string]string
	for began := now(); now().Sub(began) < maxQuiet && process.Pause(ctx, 200*time.Millisecond); {
		var err error
		if unfinished, err = c.find(ctx, true); err == nil && len(unfinished) == 0 {
			return
		}
	}
	for id, status := range unfinished {
		c.violated("ends", id, "it is still %s %s after the last tick", status, maxQuiet)
	}
}

// find reads the runs from the database itself, all or those that have not ended, and
// returns the status of each. It adds those that were never acknowledged.
func (c *cluster) find(ctx context.Context, unfinished bool) (map[string]string, error) {
	byBlueprint := map[string]*shape{}
	for _, s := range c.shapes {
		byBlueprint[s.id] = s
	}
	query := "SELECT e.id, b.id, e.status FROM executions e JOIN blueprints b ON b.seq = e.blueprint_seq"
	if unfinished {
		query += " WHERE e.end_time IS NULL"
	}
	rows, err := c.database.sql.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]string{}
	for rows.Next() {
		var id, blueprint, status string
		if err := rows.Scan(&id, &blueprint, &status); err != nil {
			return nil, err
		}
		found[id] = status
		c.history.add(id, "", byBlueprint[blueprint])
	}
	return found, rows.Err()
}

// list reads the list of runs, which has every run once.
func (c *client) list(ctx context.Context) {
	listed := map[string]int{}
	for offset := 0; ; offset += 100 {
		a := c.api().Query(ctx, "execution.listRecentExecutions", object{"limit": 100, "offset": offset})
		if c.judge(a, "listRecentExecutions") != acknowledged {
			c.violated("accepted", "", "the list of runs cannot be read: %s", a)
			return
		}
		logs, _ := process.At(a.Value, "logs").([]any)
		for _, log := range logs {
			id, _ := process.At(log, "executionData", "executionId").(string)
			listed[id]++
		}
		if len(logs) < 100 {
			break
		}
	}
	for _, r := range c.history.all() {
		if listed[r.id] != 1 {
			c.violated("accepted", r.id, "it was acknowledged (%s) and is listed %d times", r.as, listed[r.id])
		}
	}
}

// rows returns the rows of the ledger of a trigger.
func (c *client) rows(ctx context.Context, trigger string) []any {
	var all []any
	for {
		a := c.api().Query(ctx, "blueprintTriggers.history", object{"triggerId": trigger, "limit": 100, "offset": len(all)})
		if c.judge(a, "history") != acknowledged {
			return all
		}
		rows, _ := process.At(a.Value, "firings").([]any)
		if all = append(all, rows...); len(rows) < 100 {
			return all
		}
	}
}

// tickPatience is how long after the faults a missed tick may start its run.
const tickPatience = 20 * time.Second

// checkTicks waits until all ticks have run, switches the schedules off and checks that each
// tick has started one run.
func (c *cluster) checkTicks(ctx context.Context, client *client, created time.Time) {
	until := now().Add(-time.Second)
	missing := func(s *shape) (missing []string, started int) {
		runs := map[string]string{}
		of := map[string]bool{}
		for _, row := range client.rows(ctx, s.trigger) {
			if process.At(row, "decision") != "started" {
				continue
			}
			due, _ := process.At(row, "dueAt").(string)
			id, _ := process.At(row, "executionId").(string)
			when, err := time.Parse(time.RFC3339, due)
			if err != nil || when.Second() != 0 {
				c.violated("tick", id, "%s was due at %q, which is not a tick of its schedule", s.name, due)
			}
			tick := when.UTC().Format(time.RFC3339)
			if runs[tick] != "" && runs[tick] != id || of[id] {
				c.violated("tick", id, "the tick of %s at %s started it and %s", s.name, tick, runs[tick])
			}
			runs[tick], of[id] = id, true
		}
		for when := created.Add(time.Minute).Truncate(time.Minute); !when.After(until); when = when.Add(time.Minute) {
			if tick := when.UTC().Format(time.RFC3339); runs[tick] == "" {
				missing = append(missing, tick)
			}
		}
		for _, r := range c.history.all() {
			if r.shape == s && !of[r.id] {
				c.violated("tick", r.id, "it is a run of %s without a tick", s.name)
			}
		}
		return missing, len(runs)
	}
	for _, s := range c.shapes {
		if s.cron == "" {
			continue
		}
		left, started := missing(s)
		for began := now(); len(left) > 0 && now().Sub(began) < tickPatience && process.Pause(ctx, time.Second); {
			left, started = missing(s)
		}
		for _, tick := range left {
			c.violated("tick", "", "the tick of %s at %s started no run", s.name, tick)
		}
		c.count(func(sum *summary) { sum.Ticks += started })
		client.judge(client.api().Mutate(ctx, "blueprintTriggers.update", object{"triggerId": s.trigger, "isActive": false}), "blueprintTriggers.update")
	}
}

// checkFirings checks the ledger of a trigger: each key started one run of its blueprint.
func (c *cluster) checkFirings(ctx context.Context, client *client, s *shape) {
	started, of := map[string]string{}, map[string]bool{}
	for _, row := range client.rows(ctx, s.trigger) {
		if process.At(row, "decision") != "started" {
			continue
		}
		key, _ := process.At(row, "key").(string)
		id, _ := process.At(row, "executionId").(string)
		if started[key] != "" || of[id] {
			c.violated("key", id, "the key %s of %s started it and %s", key, s.name, started[key])
		}
		if r := c.history.runs[id]; r == nil || r.shape != s {
			c.violated("key", id, "the key %s of %s started it, but it is not a run of that blueprint", key, s.name)
		}
		started[key], of[id] = id, true
	}
	for _, d := range c.history.deliveries {
		if d.shape == s && d.run != "" && started[d.key] != d.run {
			c.violated("key", d.run, "the delivery %s to %s was acknowledged, but the ledger says that it started %q", d.key, s.name, started[d.key])
		}
	}
	for _, r := range c.history.all() {
		if r.shape == s && r.as != "logged" && r.as != "" && !of[r.id] {
			c.violated("key", r.id, "it is a run of %s without a firing", s.name)
		}
	}
}

// checkStatistics compares the counts of each blueprint with its runs.
func (c *cluster) checkStatistics(ctx context.Context, client *client) {
	from, to := c.began.Truncate(time.Hour), now().Add(time.Hour)
	for _, s := range c.shapes {
		counts := map[string]int{}
		for _, r := range c.history.all() {
			if r.shape == s && r.record != nil {
				counts[r.record.Status]++
			}
		}
		a := client.api().Query(ctx, "execution.getStatistics", object{"blueprintId": s.id, "from": from.UTC().Format(time.RFC3339), "to": to.UTC().Format(time.RFC3339)})
		if client.judge(a, "getStatistics") != acknowledged {
			continue
		}
		for _, status := range []string{"completed", "failed"} {
			if got, _ := numberOf(a.Value, "totals."+status); int(got) != counts[status] {
				c.violated("counts", "", "of %s %d runs are %s, and %v are counted", s.name, counts[status], status, got)
			}
		}
	}
}

// checkStopped stops all processes and checks their logs and the database.
func (c *cluster) checkStopped(ctx context.Context) error {
	for _, n := range c.nodes {
		n.mu.Lock()
		p := n.process
		n.mu.Unlock()
		if p == nil {
			continue
		}
		if err := p.Stop(maxReady); err != nil {
			c.violated("exit", "", "process %s did not stop cleanly: %v", n.name, err)
		}
	}
	for _, n := range c.nodes {
		c.checkLog(n.name, n.log)
		c.checkLog("a second "+n.name, n.secondLog())
	}
	command := exec.CommandContext(ctx, c.binary, "doctor", "--full", "--database", c.database.url(c.database.address()), "--master-key-file", filepath.Join(c.folder, "key"))
	if out, err := command.CombinedOutput(); err != nil {
		c.violated("doctor", "", "doctor --full: %v\n%s", err, out)
	}
	c.database.stop(syscall.SIGINT)
	return nil
}

// checkLog searches the log of a process for lines that a healthy server never writes, except
// that it was declared dead.
func (c *cluster) checkLog(name, log string) {
	data, _ := os.ReadFile(log)
	shown := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		isError := strings.Contains(line, "level=ERROR") && !strings.Contains(line, "was declared dead")
		if !isError && !strings.HasPrefix(line, "panic:") && !strings.HasPrefix(line, "fatal error:") {
			continue
		}
		_, message, _ := strings.Cut(line, "level=")
		if kind := fmt.Sprintf("%.40s", message); !shown[kind] {
			shown[kind] = true
			c.violated("log", "", "process %s logged: %s", name, strings.TrimSpace(line))
		}
	}
}
