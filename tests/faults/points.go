package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"blueprintd/tests/faultfs"
)

// sweep tries each point in each mode.
func (r *report) sweep(ctx context.Context, o options, folder string) error {
	first, err := newWorker(o.binary, folder, 0)
	if err != nil {
		return err
	}
	forms, err := upgrades(first)
	if err != nil {
		return err
	}
	phases := append(scenario(), forms...)
	if err := rehearse(first, phases); err != nil {
		return err
	}
	counted := sum(phases)
	if err := rehearse(first, phases); err != nil {
		return err
	}
	r.Vary = int(math.Abs(float64(sum(phases) - counted)))
	r.pointsOf(phases)
	for _, ph := range phases {
		fmt.Fprintf(os.Stderr, "points %d to %d: %s\n", ph.before+1, ph.before+len(ph.points), ph.name)
	}
	cases := r.plan(o, phases)
	return r.each(ctx, o, folder, len(cases), func(w *worker, i int) error {
		t := cases[i]
		if err := t.run(w); err != nil {
			return fmt.Errorf("%s at point %d: %w", t.mode, t.number, err)
		}
		failed, _ := t.faultPoint()
		where := t.phase.name + ", " + failed.String()
		if failed.Number == 0 {
			where = t.phase.name + ", not reached"
		}
		replay := fmt.Sprintf("-mode %s -point %d -seed %d", t.mode, t.number, t.seed)
		r.add(t.mode, t.result, where, replay, t.number, failed.Number > 0)
		return nil
	})
}

func sum(phases []*phase) (n int) {
	for _, ph := range phases {
		n += len(ph.points)
	}
	return n
}

// plan lists the cases. A short write needs a write of two bytes or more.
func (r *report) plan(o options, phases []*phase) (cases []*faultCase) {
	for order, ph := range phases {
		if !strings.HasPrefix(ph.name, o.phase) {
			continue
		}
		for i, p := range ph.points {
			number := ph.before + i + 1
			if number < o.from || o.to > 0 && number > o.to || (number-o.from)%o.every != 0 {
				continue
			}
			for _, mode := range o.modes {
				if mode == "short" && (p.Kind != faultfs.Write || p.Size < 2) {
					continue
				}
				cases = append(cases, &faultCase{number: number, mode: mode, seed: o.seed, phase: ph, order: order})
			}
		}
	}
	return cases
}

// each calls a function n times with several workers, until one fails or, on request,
// something was found.
func (r *report) each(ctx context.Context, o options, folder string, n int, do func(w *worker, i int) error) error {
	var next, done atomic.Int64
	var group sync.WaitGroup
	errs := make([]error, o.workers)
	stopped := atomic.Bool{}
	for worker := range o.workers {
		w, err := newWorker(o.binary, folder, worker)
		if err != nil {
			return err
		}
		group.Go(func() {
			for !stopped.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if errs[worker] = do(w, i); errs[worker] != nil || o.first && r.failed() {
					stopped.Store(true)
				}
				r.progress(int(done.Add(1)), n)
			}
		})
	}
	group.Wait()
	r.Interrupted = ctx.Err() != nil
	return errors.Join(errs...)
}
