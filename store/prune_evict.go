package store

import (
	"context"
	"math"

	"blueprintd/blueprint"
)

// evictionRest is for how many looks at the limit rows of the ledger that could
// not go are not looked at again: most of them stay for three days, and there
// may be millions.
const evictionRest = 60

// eviction remembers how far the ledger was looked through in vain, for rows
// that started nothing and for those that did.
type eviction struct {
	seen  [2]int64
	looks int
}

// look begins a look at the limit.
func (e *eviction) look() {
	if e.looks++; e.looks >= evictionRest {
		*e = eviction{}
	}
}

// evict removes some of what goes first under the limit of the disk, and tells
// how many rows: rows of the ledger that started nothing, then completed runs,
// those that ended first before the others, then rows of the ledger that keep
// nothing from running again, then failed runs. Runs that ended a moment ago,
// whose end somebody may still ask for, go last.
func (p *pruner) evict(ctx context.Context) (removed int, err error) {
	forever := end{math.MaxInt64, math.MaxInt64}
	latest := end{blueprint.TimeOf(p.options.Clock.Now().Add(-justEnded)) - 1, math.MaxInt64}
	ended := func(status blueprint.Status, upTo end) func() (int, error) {
		return func() (int, error) {
			_, _, removed, err := p.executionStep(ctx, status, never, upTo)
			return removed, err
		}
	}
	fired := func(started bool) func() (int, error) {
		return func() (int, error) { return p.evictFirings(ctx, started) }
	}
	for _, step := range []func() (int, error){
		fired(false), ended(blueprint.StatusCompleted, latest),
		fired(true), ended(blueprint.StatusFailed, latest),
		ended(blueprint.StatusCompleted, forever), ended(blueprint.StatusFailed, forever),
	} {
		if removed, err = step(); removed > 0 || err != nil {
			return removed, err
		}
	}
	return 0, nil
}

// evictFirings removes some rows of the ledger.
func (p *pruner) evictFirings(ctx context.Context, started bool) (removed int, err error) {
	seen := &p.limit.eviction.seen[0]
	if started {
		seen = &p.limit.eviction.seen[1]
	}
	bounds := firingBounds{upTo: math.MaxInt64, dead: blueprint.TimeOf(p.options.Clock.Now().Add(-keyLife)), started: started}
	for more := true; more; {
		if *seen, more, removed, err = p.firingStep(ctx, *seen, bounds); removed > 0 || err != nil {
			return removed, err
		}
	}
	return 0, nil
}
