package store

import (
	"context"
	"errors"
	"sync"
	"time"
)

// The upkeep of a running store follows real time, whatever the clock: it is
// about the disk, not about what the service promises.
const (
	checkpointInterval = 200 * time.Millisecond
	keyUseInterval     = time.Minute
)

// Run lets writes share transactions until ctx ends: one goroutine commits
// whatever has queued behind it. It then answers all that is queued, refuses
// later writes, and returns nil. When the disk fails it returns why, at once;
// the process must then stop, because only a fresh one can find out what the
// disk holds.
//
// Before Run, and in a tool that never calls it, each write is a transaction
// of its own, made by its caller.
func (s *Store) Run(ctx context.Context) (err error) {
	defer wrap(&err, "run %s", s.options.name())
	w := s.writer
	hold := s.options.Clock.Hold() // until what is due at the start is pruned
	w.mu.Lock()
	if w.running {
		w.mu.Unlock()
		hold()
		return errors.New("it runs already")
	}
	w.running = true
	w.mu.Unlock()

	upkeep, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	pruner := s.newPruner(upkeep)
	if !s.options.Ephemeral {
		s.adviseVacuum(upkeep)
	}
	group.Go(func() { pruner.run(upkeep, hold) })
	group.Go(func() { s.every(upkeep, keyUseInterval, s.storeKeyUses) })
	group.Go(func() { s.every(upkeep, keyUseInterval, s.storeSessionUses) })
	if !s.options.Ephemeral {
		group.Go(func() { s.every(upkeep, checkpointInterval, s.checkpoint) })
		group.Go(func() { s.every(upkeep, groundInterval, s.feel) })
	}
	err = s.serve(ctx)
	stop()
	group.Wait()
	if changes := s.uses.changes(); err == nil && len(changes) > 0 {
		last := &job{run: writeKeyUses(changes), done: make(chan struct{})}
		s.writer.connection.Lock()
		s.process([]*job{last})
		err = last.err
	}
	if changes := s.sessionUses.changes(); err == nil && len(changes) > 0 {
		last := &job{run: func(t *transaction) error { return writeSessionUses(t, changes) }, done: make(chan struct{})}
		s.writer.connection.Lock()
		s.process([]*job{last})
		err = last.err
	}
	return err
}

// every calls f at intervals until ctx ends.
func (s *Store) every(ctx context.Context, interval time.Duration, f func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			f(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// committed notes what a committed transaction means for the rest of the store.
func (s *Store) committed(bump bool) {
	s.commits.Add(1)
	if s.rewound.Load() {
		s.rewound.Store(false)
	}
	if bump && s.options.Ephemeral {
		s.generation.Add(1)
	}
}
