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

// crowd is the maximum number of operations of each client before the power fails: 200 in
// total.
func crowd(clients int) int { return max(1, 200/clients) }

// cut cuts the power at random moments while several clients work, so that commits are
// shared and syncs overlap with writes.
func (r *report) cut(ctx context.Context, o options, folder string) error {
	b, err := newBench(o.binary, folder, 0)
	if err != nil {
		return err
	}
	used, err := prepare(b)
	if err != nil {
		return err
	}
	fresh := &phase{name: "several clients, first start", image: faultfs.Image{}, book: newBook()}
	rehearsal := &trial{mode: "cut", phase: used, number: math.MaxInt}
	points, err := rehearsal.crowd(b, o.clients, faultfs.LoseAll, rand.New(rand.NewPCG(o.seed, 0)))
	if err != nil {
		return err
	}
	r.add("uncut", rehearsal.result, used.name, "-cuts 1", 0, true)
	fmt.Fprintf(os.Stderr, "%d points under %d clients\n", points, o.clients)
	first, last := o.from, o.cuts
	if o.to > 0 {
		last = min(last, o.to)
	}
	return r.each(ctx, o, folder, max(0, last-first+1), func(b *bench, i int) error {
		number := first + i
		random := rand.New(rand.NewPCG(o.seed, uint64(number)))
		ph := used
		if random.IntN(8) == 0 {
			ph = fresh
		}
		t := &trial{mode: "cut", seed: o.seed, phase: ph, number: 1 + random.IntN(points)}
		loss := faultfs.Losses()[number%len(faultfs.Losses())]
		if _, err := t.crowd(b, o.clients, loss, random); err != nil {
			return err
		}
		struck, _ := t.hit()
		where := fmt.Sprintf("%s, %s, %s", ph.name, struck, loss)
		r.add("cut", t.result, where, fmt.Sprintf("-cuts %d -from %d -to %d -seed %d", o.cuts, number, number, o.seed), struck.Number, true)
		return nil
	})
}

// prepare runs a first start alone and returns the phase in which several clients work.
func prepare(b *bench) (*phase, error) {
	first := &phase{name: "first start", operations: 4}
	then := &phase{name: "several clients", operations: 1}
	if err := rehearse(b, []*phase{first, then}); err != nil {
		return nil, err
	}
	then.before, then.points = 0, nil
	return then, nil
}

// crowd runs several clients until the power fails, and judges the result. It fails if they
// finish before the point is reached. It returns the number of points.
func (t *trial) crowd(b *bench, clients int, loss faultfs.Loss, random *rand.Rand) (points int, err error) {
	known := t.phase.book.clone()
	d := faultfs.New(t.phase.image)
	d.Fail(t.fault)
	p, err := b.begin(d, known)
	if err != nil {
		return 0, err
	}
	t.know(p.server.Process)
	if p.enter("first") {
		if known.places.main == "" {
			p.player.settle()
		}
		t.work(p, clients)
	}
	p.server.Kill()
	t.result.log = p.server.lastWords()
	if err := p.end(); err != nil {
		return 0, err
	}
	return d.Points(), t.judge(b, d.Cut(loss, random), known)
}

// work runs the operations of clients concurrently until the power has failed.
func (t *trial) work(p *play, clients int) {
	var group sync.WaitGroup
	var over atomic.Bool
	for client := range clients {
		mine := &player{name: fmt.Sprintf("c%d", client+1), api: p.player.api, book: p.book, step: client * 5}
		mine.onAnswer = func(what string, a answer) {
			if a.Err != nil {
				over.Store(true)
			} else if struck, _ := t.hit(); !a.OK() && struck.Number == 0 {
				t.mu.Lock()
				t.fail("%s was answered %s before anything went wrong", what, a)
				t.mu.Unlock()
			}
		}
		group.Go(func() {
			for range crowd(clients) {
				if struck, _ := t.hit(); over.Load() || struck.Number > 0 {
					return
				}
				mine.next()
			}
		})
	}
	group.Wait()
	if struck, _ := t.hit(); struck.Number > 0 {
		p.server.Gone(5 * time.Second)
	}
}
