package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"blueprintd/tests/process"
)

// virtualClock is a virtual clock that a client advances, and its schedules.
type virtualClock struct {
	random *rand.Rand

	mu          sync.Mutex
	now         time.Time // as last acknowledged; the server's may be ahead
	startTime   time.Time // to the latest start
	deactivated time.Time // when the schedules were deactivated; zero while they are active
	schedules   []*schedule
}

// schedule is a scheduled trigger with an interval in minutes.
type schedule struct {
	shape   *shape
	minutes int
	catchUp string
	trigger string
	from    time.Time // when it was created
}

var virtualStart = time.Date(2031, 3, 30, 0, 0, 0, 0, time.UTC)

func newVirtualClock(seed uint64, ledger string) (*virtualClock, []*shape) {
	call := func(address, behavior string) object { return callOf(ledger, "call", address, behavior) }
	before, after := firstNode, lastNode
	wait, pause := process.Node("wait", "wait", object{"durationMs": 90_000}), process.Node("pause", "wait", object{"durationMs": 45_000})
	every := []*schedule{
		{shape: &shape{name: "each-minute", nodes: []any{before, call("call", "quick"), after}}, minutes: 1, catchUp: "all"},
		{shape: &shape{name: "each-other", nodes: []any{before, wait, call("call", "quick"), after}}, minutes: 2, catchUp: "latest"},
		{shape: &shape{name: "each-fifth", nodes: []any{before, after}}, minutes: 5, catchUp: "none"},
		{shape: &shape{name: "each-tenth", nodes: []any{before, each("each", []any{1, 2, 3}, 2, pause, call("each[{{index}}]/call", "quick")), after}}, minutes: 10, catchUp: "latest"},
	}
	var list []*shape
	for _, s := range every {
		s.shape.derive()
		list = append(list, s.shape)
	}
	return &virtualClock{random: rand.New(rand.NewPCG(seed, 2000)), now: virtualStart, schedules: every}, list
}

// flag returns the clock flag of the next start. After a kill during an advance, the clock
// steps back; sometimes it jumps ahead.
func (t *virtualClock) flag(random *rand.Rand) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.startTime = t.now
	if random.IntN(4) == 0 && t.deactivated.IsZero() {
		t.startTime = t.startTime.Add(time.Duration(random.IntN(40*60)) * time.Second)
	}
	return "virtual=" + t.startTime.Format(time.RFC3339)
}

// setAtLeast records an acknowledged time.
func (t *virtualClock) setAtLeast(at time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if at.After(t.now) {
		t.now = at
	}
}

func (t *virtualClock) create(ctx context.Context, d *apiClient) error {
	for _, s := range t.schedules {
		trigger, err := d.Create(ctx, "blueprintTriggers.create", object{"blueprintId": s.shape.id, "triggerType": "scheduled",
			"config": object{"cron": fmt.Sprintf("*/%d * * * *", s.minutes), "catchUp": s.catchUp}})
		if err != nil {
			return err
		}
		s.trigger, s.from = trigger, t.now
	}
	return nil
}

// advance moves the server's clock and reports whether there was a response.
func (t *virtualClock) advance(ctx context.Context, c *client, by time.Duration) bool {
	sent := now()
	a := c.api.Do(ctx, "POST", "/clock/advance", object{"by": by.String()}, "Authorization", "Bearer "+apiKey)
	c.api.changes.record(byKey, sent, "clock.advance", nil, a)
	if !c.succeeded(a, "/clock/advance") {
		return false
	}
	at, err := time.Parse(time.RFC3339, a.Text("now"))
	if err != nil {
		c.history.violated("I7", "", "/clock/advance answered %s", a)
		return false
	}
	t.setAtLeast(at)
	return true
}

// work advances the clock until loaded ends.
func (t *virtualClock) work(ctx, loaded context.Context, c *client) {
	for process.Pause(loaded, time.Duration(t.random.IntN(30))*time.Millisecond) {
		t.advance(ctx, c, time.Duration(1+t.random.IntN(8*60))*time.Second)
	}
}

// finish deactivates all schedules and lets their runs end.
func (t *virtualClock) finish(ctx context.Context, c *client) {
	t.advance(ctx, c, time.Minute)
	for _, s := range t.schedules {
		c.succeeded(c.api.Mutate(ctx, "blueprintTriggers.update", object{"triggerId": s.trigger, "isActive": false}), "blueprintTriggers.update")
	}
	t.deactivated = t.now
	t.advance(ctx, c, time.Hour)
}

// check reads the firing ledger of each schedule: no tick started two runs, each run
// belongs to a tick, and no missed tick is left out if all are to be caught up.
func (t *virtualClock) check(ctx context.Context, c *client) {
	for _, s := range t.schedules {
		started := map[string]string{} // due -> execution
		runs := map[string]bool{}
		for _, row := range c.firingRows(ctx, s.trigger) {
			due, _ := process.At(row, "dueAt").(string)
			execution, _ := process.At(row, "executionId").(string)
			when, err := time.Parse(time.RFC3339, due)
			if err != nil || when.Minute()%s.minutes != 0 || when.Second() != 0 {
				c.history.violated("I7", execution, "%s was due at %q, which is not a tick of its schedule", s.shape.name, due)
			}
			if process.At(row, "decision") != "started" {
				continue
			}
			if other := started[when.Format(time.RFC3339)]; other != "" || runs[execution] {
				c.history.violated("I7", execution, "the tick of %s at %s started it and %s", s.shape.name, due, other)
			}
			if r := c.history.run(execution); r == nil || r.shape != s.shape {
				c.history.violated("I7", execution, "the tick of %s at %s started it, but it is not a run of that schedule", s.shape.name, due)
			}
			started[when.Format(time.RFC3339)], runs[execution] = execution, true
		}
		c.history.count(func(n *counts) { n.Ticks += len(started) })
		for when := s.from.Add(time.Minute).Truncate(time.Minute); s.catchUp == "all" && !when.After(t.deactivated); when = when.Add(time.Minute) {
			if started[when.Format(time.RFC3339)] == "" {
				c.history.violated("I7", "", "the tick of %s at %s never ran (the clock reached %s)", s.shape.name, when.Format(time.RFC3339), t.deactivated.Format(time.RFC3339))
			}
		}
	}
}
