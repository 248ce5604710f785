package store

import (
	"context"
	"runtime"
	"sync"
)

// gate shares one read of a value among all callers that wait for it. A read serves only
// callers that arrived before it began, so that a caller always sees earlier changes.
type gate struct {
	read func() (int64, error) // one at a time

	mu      sync.Mutex
	current *reading // in progress: too late to join
	next    *reading // begins when the current one ends
	waiting int      // callers that have joined the next one
}

type reading struct {
	done  chan struct{}
	value int64
	err   error
}

func (g *gate) value() (int64, error) {
	g.mu.Lock()
	if r := g.next; r != nil {
		g.waiting++
		g.mu.Unlock()
		<-r.done
		return r.value, r.err
	}
	r := &reading{done: make(chan struct{})}
	current := g.current
	g.next = r
	g.mu.Unlock()
	if current != nil {
		<-current.done
	}
	runtime.Gosched() // let concurrent callers join
	g.mu.Lock()
	g.next, g.waiting, g.current = nil, 0, r
	g.mu.Unlock()

	r.value, r.err = g.read()

	g.mu.Lock()
	g.current = nil
	g.mu.Unlock()
	close(r.done)
	return r.value, r.err
}

// Generation returns a number that increases with each change, by any process, that a cache
// may depend on: of keys, members, blueprints and triggers. Data that was read under one
// generation is valid while the number stays the same.
func (s *Store) Generation(ctx context.Context) (int64, error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	if s.options.Ephemeral {
		return s.generation.Load(), nil
	}
	if err := s.Available(); err != nil {
		return 0, err
	}
	generation, err := s.gate.value()
	if err == nil {
		s.learn(generation)
	}
	return generation, passing(err)
}

// learn records a generation that the database has reached.
func (s *Store) learn(generation int64) {
	for known := s.newest.Load(); known < generation && !s.newest.CompareAndSwap(known, generation); known = s.newest.Load() {
	}
}

// nextGeneration is the SQL expression, within a transaction that changes something, for
// the generation after it.
const nextGeneration = "(SELECT generation + 1 FROM meta WHERE id = 1)"

func readGeneration(q *session) (generation int64, err error) {
	err = q.row("SELECT generation FROM meta WHERE id = 1", nil, &generation)
	return generation, err
}

// cache keeps values with the generations under which they were read.
type cache[V any] struct {
	limit int

	mu      sync.RWMutex
	entries map[string]cached[V]
}

type cached[V any] struct {
	generation int64
	value      V
}

func newCache[V any](limit int) *cache[V] {
	return &cache[V]{limit: limit, entries: map[string]cached[V]{}}
}

func (c *cache[V]) get(key string, generation int64) (V, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	entry, ok := c.entries[key]
	return entry.value, ok && entry.generation >= generation
}

// last returns a value as it was last read, under any generation.
func (c *cache[V]) last(key string) (V, int64, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	entry, ok := c.entries[key]
	return entry.value, entry.generation, ok
}

// put stores a value. A full cache is emptied first, and refills with the values in use.
func (c *cache[V]) put(key string, generation int64, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.entries[key]; ok && old.generation > generation {
		return
	}
	if len(c.entries) >= c.limit {
		clear(c.entries)
	}
	c.entries[key] = cached[V]{generation, value}
}

// remember returns the cached value of a key if nothing has changed since it was
// read, or else loads it. Errors are not cached.
func remember[V any](ctx context.Context, s *Store, c *cache[V], key string, load func(*session) (V, error)) (value V, err error) {
	if s.writer.enclosing != nil { // its writes may still be undone
		err = s.read(ctx, func(q *session) error {
			value, err = load(q)
			return err
		})
		return value, err
	}
	generation, err := s.Generation(ctx)
	if err != nil {
		return value, err
	}
	if value, ok := c.get(key, generation); ok {
		return value, nil
	}
	err = s.read(ctx, func(q *session) error {
		if generation, err = readGeneration(q); err != nil {
			return err
		}
		value, err = load(q)
		return err
	})
	if err == nil {
		c.put(key, generation, value)
	}
	return value, err
}
