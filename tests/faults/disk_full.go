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
	b, err := newBench(o.binary, folder, 0)
	if err != nil {
		return err
	}
	d := faultfs.New(nil)
	p, err := b.begin(d, newBook())
	if err != nil {
		return err
	}
	f := &filling{play: p, report: r}
	if p.enter("first") {
		p.player.settle()
		f.cycles(ctx, o, d)
	} else {
		f.fail("the server is not ready: %s", p.server.lastWords())
	}
	d.SetQuota(0)
	if err := p.server.stop(); err != nil {
		f.fail("it ended with %v: %s", err, p.server.lastWords())
	}
	log := p.server.lastWords()
	if err := p.end(); err != nil {
		return err
	}
	t := &trial{mode: "full", phase: &phase{}}
	if err := t.judge(b, d.Cut(faultfs.LoseAll, rand.New(rand.NewPCG(o.seed, 1))), p.book); err != nil {
		return err
	}
	t.result.wrong, t.result.refused, t.result.log = append(f.wrong, t.result.wrong...), f.refused, log
	r.add("full", t.result, fmt.Sprintf("%d cycles", o.full), fmt.Sprintf("-full %d -seed %d", o.full, o.seed), 0, true)
	r.Cases["full"] = o.full
	return nil
}

// filling is the state of a disk that fills up, as its clients see it.
type filling struct {
	*play
	report *report

	mu      sync.Mutex
	wrong   []string
	refused int
}

func (f *filling) fail(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.wrong) < mostViolations {
		f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
	}
}

// cycles fills and frees the disk while the players continue. A change of an existing run
// waits for space instead of being refused.
func (f *filling) cycles(ctx context.Context, o options, d *faultfs.Disk) {
	var accepted atomic.Int64 // changes
	var over atomic.Bool
	var group sync.WaitGroup
	for client := range o.clients {
		p := &player{name: fmt.Sprintf("c%d", client+1), api: f.player.api, book: f.book, step: client * 5}
		p.onAnswer = func(what string, a answer) {
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
		if !until(func() bool { return f.refusals()-before >= 8 }) {
			f.fail("cycle %d: the disk was full and only %d orders were refused", cycle+1, f.refusals()-before)
		}
		if a := f.player.api.query("blueprint.list", object{"limit": 5}); !a.OK() {
			f.fail("cycle %d: while the disk was full a question was answered %s", cycle+1, a)
		}
		d.SetQuota(0)
		taken := accepted.Load()
		if !until(func() bool { return accepted.Load() >= taken+12 }) {
			f.fail("cycle %d: 5 s after there was room again it had taken %d orders", cycle+1, accepted.Load()-taken)
		}
		f.report.progress(cycle+1, o.full)
	}
	over.Store(true)
	group.Wait()
	if !f.server.Running() {
		f.fail("it has ended: %s", f.server.lastWords())
	}
}

// until waits up to 5 s for a condition and reports whether it became true.
func until(come func() bool) bool {
	for end := now().Add(patience); now().Before(end); time.Sleep(2 * time.Millisecond) {
		if come() {
			return true
		}
	}
	return false
}

func (f *filling) refusals() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.refused
}
