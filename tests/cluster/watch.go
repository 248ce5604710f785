package main

import (
	"context"
	"fmt"
	"time"

	"blueprintd/tests/process"
)

// The bounds of the design, and of a busy machine.
const (
	maxReadyAfter = 15 * time.Second
	maxTakeover   = 15 * time.Second
	// A frozen or silent process may hold the lock of all writes for five seconds, until
	// PostgreSQL ends its transaction. A takeover may wait for that.
	lockMargin    = 6 * time.Second
	machineMargin = 2 * time.Second
	// maxFenced is how long a process that was declared dead may run without a fault.
	maxFenced = 8 * time.Second
)

// beats is what the harness has seen of a process in the database.
type beats struct {
	count   int64
	changed time.Time
	late    bool // its runs were reported
}

// watchRuns looks at the database itself: whether the unfinished runs of a process without
// beats are taken over in time, and whether a process that was declared dead ends.
func (c *cluster) watchRuns(ctx context.Context) {
	seen := map[int64]*beats{}
	const query = `SELECT o.owner, coalesce(n.name, ''), coalesce(b.beats, -1), o.runs FROM
		(SELECT coalesce(owner, 0) AS owner, count(*) AS runs FROM executions WHERE end_time IS NULL GROUP BY 1) o
		LEFT JOIN nodes n ON n.id = o.owner LEFT JOIN beats b ON b.node = o.owner`
	for process.Pause(ctx, 200*time.Millisecond) {
		up := c.database.up()
		if up.IsZero() {
			continue
		}
		asked, cancel := context.WithTimeout(ctx, 2*time.Second)
		c.watchMembers(asked, up)
		rows, err := c.database.sql.QueryContext(asked, query)
		if err != nil {
			cancel()
			continue
		}
		for rows.Next() {
			var id, count int64
			var name string
			var runs int
			if rows.Scan(&id, &name, &count, &runs) != nil {
				break
			}
			b := seen[id]
			if b == nil {
				b = &beats{count: count, changed: now()}
				seen[id] = b
			} else if count > b.count {
				b.count, b.changed = count, now()
			}
			c.checkTakeover(id, name, b, runs, up)
		}
		rows.Close()
		cancel()
	}
}

// checkTakeover judges runs whose process is silent. Time counts while PostgreSQL and one
// other process have no fault.
func (c *cluster) checkTakeover(id int64, name string, b *beats, runs int, up time.Time) {
	clear := time.Time{}
	for _, n := range c.nodes {
		if since := n.healthySince(); !since.IsZero() && (clear.IsZero() || since.Before(clear)) && n.name != name {
			clear = since
		}
	}
	if clear.IsZero() {
		b.changed = later(b.changed, now())
		return
	}
	since := later(later(b.changed, clear), up)
	took := now().Sub(since)
	c.count(func(s *summary) { s.Takeover.add(took) })
	bound := maxTakeover + machineMargin
	for _, n := range c.nodes {
		if n.name != name && n.between(since, now()) {
			bound = maxTakeover + lockMargin + machineMargin
		}
	}
	if took > bound && !b.late {
		b.late = true
		c.violated("takeover", "", "%d runs of process %s (node %d), which is silent, still belong to it after %.1f s, want %s at most", runs, name, id, took.Seconds(), bound)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// watchMembers checks that each process without a fault is a live member.
func (c *cluster) watchMembers(ctx context.Context, up time.Time) {
	live, busy := map[string]bool{}, []string(nil)
	rows, err := c.database.sql.QueryContext(ctx, "SELECT name, duties FROM nodes WHERE state <> 'dead'")
	if err != nil {
		return
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var duties bool
		if rows.Scan(&name, &duties) == nil {
			live[name] = true
			if duties {
				busy = append(busy, name)
			}
		}
	}
	if rows.Err() != nil {
		return
	}
	if len(busy) > 1 && !c.duties {
		c.duties = true
		c.violated("duties", "", "several processes have the duties: %v", busy)
	}
	for _, n := range c.nodes {
		lasts, last := n.disturbed()
		n.mu.Lock()
		p := n.process
		n.mu.Unlock()
		if lasts || live[n.name] || p == nil || !p.Running() {
			n.fenced = false
			continue
		}
		if since := later(later(last, p.Started), up); now().Sub(since) > maxFenced && !n.fenced && n.healthySince() != (time.Time{}) {
			n.fenced = true
			c.violated("fenced", "", "process %s was declared dead, and runs on %.1f s after its last fault", n.name, now().Sub(since).Seconds())
		}
	}
}

// measured is the number, the longest and the sum of some times.
type measured struct {
	Count   int           `json:"count"`
	Longest time.Duration `json:"longest"`
}

func (m *measured) add(d time.Duration) {
	m.Count++
	m.Longest = max(m.Longest, d)
}

func (m *measured) String() string { return fmt.Sprintf("%.1f s at most", m.Longest.Seconds()) }
