package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/tests/faultfs"
)

// fill fills the disk of one server while several clients work, and frees it, repeatedly.
// While it is full, changes may be refused with 503 and Retry-After, but reads succeed;
// within five seconds after there is space again, the same process accepts changes.
func (r *report) fill(ctx context.Context, o options, folder string) error {
	w, err := newWorker(o.binary, folder, 0)
	if err != nil {
		return err
	}
	d := faultfs.New(nil)
	p, err := w.start(d, newExpectations())
	if err != nil {
		return err
	}
	f := &diskFull{instance: p, report: r}
	if p.waitReady("first") {
		p.client.createShared()
		f.cycles(ctx, o, d)
	} else {
		f.fail("the server is not ready: %s", p.server.logTail())
	}
	d.SetQuota(0)
	if err := p.server.stop(); err != nil {
		f.fail("it ended with %v: %s", err, p.server.logTail())
	}
	log := p.server.logTail()
	if err := p.close(); err != nil {
		return err
	}
	t := &faultCase{mode: "full", phase: &phase{}}
	if err := t.verify(w, d.Cut(faultfs.LoseAll, rand.New(rand.NewPCG(o.seed, 1))), p.expected); err != nil {
		return err
	}
	t.result.wrong, t.result.refused, t.result.log = append(f.wrong, t.result.wrong...), f.refused, log
	r.add("full", t.result, fmt.Sprintf("%d cycles", o.full), fmt.Sprintf("-full %d -seed %d", o.full, o.seed), 0, true)
	r.Cases["full"] = o.full
	return nil
}

// diskFull is the state of a disk that fills up, as its clients see it.
type diskFull struct {
	*instance
	report *report

	mu      sync.Mutex
	wrong   []string
	refused int
}

func (f *diskFull) fail(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wrong) < maxViolations {
		f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
	}
}

// cycles fills and frees the disk while the clients continue. A change of an existing run
// waits for space instead of being refused.
func (f *diskFull) cycles(ctx context.Context, o options, d *faultfs.Disk) {
	var accepted atomic.Int64 // changes
	var over atomic.Bool
	var group sync.WaitGroup
	for i := range o.clients {
		p := &client{name: fmt.Sprintf("c%d", i+1), api: f.client.api, expected: f.expected, step: i * 5}
		p.onResponse = func(what string, a answer) {
			switch {
			case a.OK():
				accepted.Add(1)
			case a.Status == 503 && a.RetryAfter > 0:
				f.mu.Lock()
				f.refused++
				f.mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			default:
				f.fail("%s was answered %s, Retry-After %s", what, a, a.RetryAfter)
				over.Store(true)
			}
		}
		group.Go(func() {
			for !over.Load() && f.server.Running() {
				p.next()
			}
		})
	}
	for cycle := 0; cycle < o.full && ctx.Err() == nil && !over.Load() && f.server.Running(); cycle++ {
		before := f.refusals()
		d.SetQuota(d.Used() + int64(cycle%7)*3000)
		if !waitUntil(func() bool { return f.refusals()-before >= 8 }) {
			f.fail("cycle %d: the disk was full and only %d changes were refused", cycle+1, f.refusals()-before)
		}
		if a := f.client.api.query("blueprint.list", object{"limit": 5}); !a.OK() {
			f.fail("cycle %d: while the disk was full a query was answered %s", cycle+1, a)
		}
		d.SetQuota(0)
		taken := accepted.Load()
		if !waitUntil(func() bool { return accepted.Load() >= taken+12 }) {
			f.fail("cycle %d: 5 s after there was space again it had accepted only %d changes", cycle+1, accepted.Load()-taken)
		}
		f.report.progress(cycle+1, o.full)
	}
	over.Store(true)
	group.Wait()
	if !f.server.Running() {
		f.fail("it has ended: %s", f.server.logTail())
	}
}

// waitUntil waits up to 5 s for a condition and reports whether it became true.
func waitUntil(condition func() bool) bool {
	for end := now().Add(maxWait); now().Before(end); time.Sleep(2 * time.Millisecond) {
		if condition() {
			return true
		}
	}
	return false
}

func (f *diskFull) refusals() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}
