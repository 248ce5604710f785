package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"blueprintd/tests/process"
)

// The kinds of faults.
const (
	faultKill      = "kill -9"
	faultStop      = "SIGTERM"
	faultFreeze    = "SIGSTOP"
	faultCut       = "link cut"
	faultReset     = "link reset"
	faultDelay     = "link delay"
	faultHalfOpen  = "link half-open"
	faultCommit    = "COMMIT cut"
	faultPostgres  = "PostgreSQL kill -9"
	faultImmediate = "PostgreSQL immediate"
	faultFailover  = "PostgreSQL failover"
	faultSecond    = "second process"
)

// isOfPostgres reports whether a kind of fault concerns PostgreSQL itself.
func isOfPostgres(kind string) bool {
	return kind == faultPostgres || kind == faultImmediate || kind == faultFailover
}

// fault is one fault: what it does to a node, or to PostgreSQL if it names none.
type fault struct {
	kind   string
	weight int
	// plan draws the particulars and returns their description and the fault itself, which
	// returns once it is healed.
	plan func(c *cluster, r *rand.Rand, n *node) (detail string, do func(ctx context.Context))
}

// seconds draws a time between two numbers of seconds, shorter ones more often.
func seconds(r *rand.Rand, from, to float64) time.Duration {
	x := r.Float64()
	return time.Duration((from + x*x*(to-from)) * float64(time.Second)).Round(time.Millisecond)
}

var faults = []fault{
	{faultKill, 6, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		delay := time.Duration(r.IntN(300)) * time.Millisecond
		if r.IntN(3) == 0 {
			delay = seconds(r, 3, 25)
		}
		return fmt.Sprint("restarted after ", delay), func(context.Context) { n.end(faultKill, syscall.SIGKILL, delay) }
	}},
	{faultStop, 2, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		delay := seconds(r, 0, 6)
		return fmt.Sprint("restarted after ", delay), func(context.Context) { n.end(faultStop, syscall.SIGTERM, delay) }
	}},
	{faultFreeze, 4, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		lasts := seconds(r, 3, 40)
		return fmt.Sprint("for ", lasts), func(ctx context.Context) {
			defer n.disturb(faultFreeze)()
			_ = n.signal(syscall.SIGSTOP)
			process.Pause(ctx, lasts)
			_ = n.signal(syscall.SIGCONT)
		}
	}},
	{faultCut, 2, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		return disturbLink(n, faultCut, linkState{cut: true}, seconds(r, 0.1, 25), false, "")
	}},
	{faultReset, 2, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		return "", func(context.Context) {
			defer n.disturb(faultReset)()
			n.link.set(linkState{}, true)
		}
	}},
	{faultDelay, 2, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		delay := seconds(r, 0.01, 3)
		return disturbLink(n, faultDelay, linkState{delay: delay}, seconds(r, 1, 20), r.IntN(2) == 0, fmt.Sprintf("%s each way, ", delay))
	}},
	{faultHalfOpen, 4, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		way := r.IntN(3)
		state := linkState{up: way != 1, down: way != 2}
		return disturbLink(n, faultHalfOpen, state, seconds(r, 0.2, 25), r.IntN(2) == 0, []string{"both ways, ", "answers only, ", "requests only, "}[way])
	}},
	{faultCommit, 4, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		cut, times, lasts := commitCut{reaches: r.IntN(2) == 0}, 1+r.IntN(4), time.Duration(0)
		if r.IntN(2) == 0 {
			cut.stays, times, lasts = true, 1, seconds(r, 0.1, 20)
		}
		return cutCommits(n, cut, times, lasts)
	}},
	{faultPostgres, 2, func(c *cluster, r *rand.Rand, _ *node) (string, func(context.Context)) {
		down := seconds(r, 0, 3)
		if r.IntN(10) == 0 {
			down = seconds(r, 11, 14) // longer than a silence for which a process is declared dead
		}
		return c.restartPostgres(syscall.SIGKILL, down)
	}},
	{faultImmediate, 1, func(c *cluster, r *rand.Rand, _ *node) (string, func(context.Context)) {
		return c.restartPostgres(syscall.SIGQUIT, seconds(r, 0, 1))
	}},
	{faultFailover, 1, func(c *cluster, r *rand.Rand, _ *node) (string, func(context.Context)) {
		down := seconds(r, 0, 5)
		return fmt.Sprint("to a synchronous standby after ", down), func(ctx context.Context) {
			if err := c.database.failOver(ctx, down); err != nil && ctx.Err() == nil {
				c.fail(err)
			}
		}
	}},
	{faultSecond, 2, func(c *cluster, r *rand.Rand, n *node) (string, func(context.Context)) {
		return "under its name", func(ctx context.Context) { c.startSecond(ctx, n) }
	}},
}

// disturbLink changes the link of a node for some time. With sever, what it holds at the end
// is lost.
func disturbLink(n *node, kind string, state linkState, lasts time.Duration, sever bool, detail string) (string, func(context.Context)) {
	if detail += fmt.Sprint("for ", lasts); sever {
		detail += ", then reset"
	}
	return detail, func(ctx context.Context) {
		defer n.disturb(kind)()
		n.link.set(state, false)
		process.Pause(ctx, lasts)
		n.link.set(linkState{}, sever)
	}
}

// maxCommit is how long a fault waits for a COMMIT.
const maxCommit = 3 * time.Second

// cutCommits resets connections of a node at COMMIT, once or several times. If the link stays
// cut after that, it is healed after some time.
func cutCommits(n *node, cut commitCut, times int, lasts time.Duration) (string, func(context.Context)) {
	detail := fmt.Sprintf("%d times before it arrives", times)
	if cut.reaches {
		detail = fmt.Sprintf("%d times before its answer arrives", times)
	}
	if cut.stays {
		detail += fmt.Sprint(", link cut for ", lasts)
	}
	return detail, func(ctx context.Context) {
		defer n.disturb(faultCommit)()
		for range times {
			one := cut
			one.done = make(chan struct{})
			n.link.cutCommit(&one)
			select {
			case <-one.done:
				continue
			case <-time.After(maxCommit): // there was none
			case <-ctx.Done():
			}
			n.link.cutCommit(nil)
			return
		}
		if cut.stays {
			defer n.disturb(faultCut)()
			process.Pause(ctx, lasts)
			n.link.set(linkState{}, false)
		}
	}
}

func (c *cluster) restartPostgres(by syscall.Signal, down time.Duration) (string, func(context.Context)) {
	return fmt.Sprint("down for ", down), func(ctx context.Context) {
		c.database.stop(by)
		process.Pause(ctx, down)
		if err := c.database.start(ctx); err != nil && ctx.Err() == nil {
			c.fail(err)
		}
	}
}

// event is a line of the timeline of faults.
type event struct {
	at   time.Time
	what string
}

// addEvent adds to the timeline.
func (c *cluster) addEvent(format string, args ...any) {
	e := event{now(), fmt.Sprintf(format, args...)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timeline = append(c.timeline, e)
	if c.verbose {
		fmt.Fprintf(c.out, "%s %s\n", c.since(e.at), e.what)
	}
}

// postgresInterval is how long PostgreSQL works between two of its faults, at least.
const postgresInterval = 4 * time.Second

// disturb causes faults until there were enough, and waits until all are healed. One node
// at least is always left alone.
func (c *cluster) disturb(ctx context.Context, stop func() bool) {
	r := rand.New(rand.NewPCG(c.seed, 1))
	var healing sync.WaitGroup
	var postgres sync.Mutex
	defer healing.Wait()
	for done := 0; done < c.faults && !stop(); {
		if !process.Pause(ctx, time.Duration(300+r.IntN(1200))*time.Millisecond) {
			return
		}
		f := drawFault(r)
		var target *node
		if !isOfPostgres(f.kind) {
			if target = c.target(r); target == nil {
				continue
			}
		} else if up := c.database.up(); now().Sub(up) < postgresInterval || !postgres.TryLock() {
			continue
		}
		done++
		name := "PostgreSQL"
		if target != nil {
			name = target.name
		}
		detail, do := f.plan(c, r, target)
		c.addEvent("%s: %s %s", name, f.kind, detail)
		c.count(func(s *summary) { s.Faults[f.kind]++ })
		begun := make(chan struct{})
		healing.Go(func() {
			close(begun)
			do(ctx)
			if target == nil {
				postgres.Unlock()
			}
			if f.kind != faultKill && f.kind != faultStop {
				c.addEvent("%s: %s is over", name, f.kind)
			}
		})
		<-begun
		process.Pause(ctx, 20*time.Millisecond) // until it is recorded with its node
	}
}

func drawFault(r *rand.Rand) *fault {
	total := 0
	for i := range faults {
		total += faults[i].weight
	}
	n := r.IntN(total)
	for i := range faults {
		if n -= faults[i].weight; n < 0 {
			return &faults[i]
		}
	}
	return nil
}

// target returns a node for the next fault; nil if too many are disturbed already.
func (c *cluster) target(r *rand.Rand) *node {
	var free []*node
	for _, n := range c.nodes {
		if lasts, _ := n.disturbed(); !lasts && n.process != nil {
			free = append(free, n)
		}
	}
	if len(free) < 2 && len(c.nodes) > 1 || len(free) == 0 {
		return nil
	}
	return free[r.IntN(len(free))]
}
