package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/tests/faultfs"
)

// maxOperations is the maximum number of operations of each client before the power fails: 200 in
// total.
func maxOperations(clients int) int { return max(1, 200/clients) }

// cut cuts the power at random moments while several clients work, so that commits are
// shared and syncs overlap with writes.
func (r *report) cut(ctx context.Context, o options, folder string) error {
	w, err := newWorker(o.binary, folder, 0)
	if err != nil {
		return err
	}
	used, err := prepare(w)
	if err != nil {
		return err
	}
	fresh := &phase{name: "several clients, first start", image: faultfs.Image{}, expected: newExpectations()}
	rehearsal := &faultCase{mode: "cut", phase: used, number: math.MaxInt}
	points, err := rehearsal.concurrent(w, o.clients, faultfs.LoseAll, rand.New(rand.NewPCG(o.seed, 0)))
	if err != nil {
		return err
	}
	r.add("uncut", rehearsal.result, used.name, "-cuts 1", 0, true)
	fmt.Fprintf(os.Stderr, "%d points under %d clients\n", points, o.clients)
	first, last := o.from, o.cuts
	if o.to > 0 {
		last = min(last, o.to)
	}
	return r.each(ctx, o, folder, max(0, last-first+1), func(w *worker, i int) error {
		number := first + i
		random := rand.New(rand.NewPCG(o.seed, uint64(number)))
		ph := used
		if random.IntN(8) == 0 {
			ph = fresh
		}
		t := &faultCase{mode: "cut", seed: o.seed, phase: ph, number: 1 + random.IntN(points)}
		loss := faultfs.Losses()[number%len(faultfs.Losses())]
		if _, err := t.concurrent(w, o.clients, loss, random); err != nil {
			return err
		}
		failed, _ := t.faultPoint()
		where := fmt.Sprintf("%s, %s, %s", ph.name, failed, loss)
		r.add("cut", t.result, where, fmt.Sprintf("-cuts %d -from %d -to %d -seed %d", o.cuts, number, number, o.seed), failed.Number, true)
		return nil
	})
}

// prepare runs a first start alone and returns the phase in which several clients work.
func prepare(w *worker) (*phase, error) {
	first := &phase{name: "first start", operations: 4}
	then := &phase{name: "several clients", operations: 1}
	if err := rehearse(w, []*phase{first, then}); err != nil {
		return nil, err
	}
	then.before, then.points = 0, nil
	return then, nil
}

// concurrent runs several clients until the power fails, and verifies the result. It fails if they
// finish before the point is reached. It returns the number of points.
func (c *faultCase) concurrent(w *worker, clients int, loss faultfs.Loss, random *rand.Rand) (points int, err error) {
	known := c.phase.expected.clone()
	d := faultfs.New(c.phase.image)
	d.Fail(c.fault)
	p, err := w.start(d, known)
	if err != nil {
		return 0, err
	}
	c.setProcess(p.server.Process)
	if p.waitReady("first") {
		if known.shared.main == "" {
			p.client.createShared()
		}
		c.work(p, clients)
	}
	p.server.Kill()
	c.result.log = p.server.logTail()
	if err := p.close(); err != nil {
		return 0, err
	}
	return d.Points(), c.verify(w, d.Cut(loss, random), known)
}

// work runs the operations of clients concurrently until the power has failed.
func (c *faultCase) work(p *instance, clients int) {
	var group sync.WaitGroup
	var over atomic.Bool
	for i := range clients {
		mine := &client{name: fmt.Sprintf("c%d", i+1), api: p.client.api, expected: p.expected, step: i * 5}
		mine.onResponse = func(what string, a answer) {
			if a.Err != nil {
				over.Store(true)
			} else if failed, _ := c.faultPoint(); !a.OK() && failed.Number == 0 {
				c.mu.Lock()
				c.fail("%s was answered %s before the fault", what, a)
				c.mu.Unlock()
			}
		}
		group.Go(func() {
			for range maxOperations(clients) {
				if failed, _ := c.faultPoint(); over.Load() || failed.Number > 0 {
					return
				}
				mine.next()
			}
		})
	}
	group.Wait()
	if failed, _ := c.faultPoint(); failed.Number > 0 {
		p.server.Gone(5 * time.Second)
	}
}
