package project

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"blueprintd/foundation/clock"
)

// LookEvery is how often a Watcher looks at the folder.
const LookEvery = 250 * time.Millisecond

// Change of a file, as a Watcher tells it.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"
)

// Event is what happened to a file.
type Event struct {
	Path string
	Kind Kind
	What string // Created, Changed or Deleted
}

// Watcher tells what happens to the files of a folder. It looks at their sizes
// and times instead of asking the system to be told: that works in containers
// and on network folders too. A change counts once the file stood still from one
// look to the next, so that half of a file is nothing, and an editor that moves a
// new file over the old one has changed it. It is for one goroutine.
type Watcher struct {
	clock clock.Clock
	look  func() (Listing, error)
	told  Listing // what the caller knows
	last  Listing // of the last look
	fault string  // what the last look failed with
}

// NewWatcher makes a watcher of a folder that begins with what the caller has
// seen; nil makes every file a new one.
func NewWatcher(c clock.Clock, seen Listing, look func() (Listing, error)) *Watcher {
	return &Watcher{clock: c, look: look, told: maps.Clone(seen), last: seen}
}

// Next waits until something has happened and tells all of it, in the order of
// paths, each file once however often it was written. An error that is not the
// context's says why the folder cannot be looked at; it is told once, and the
// watcher goes on with the next call.
func (w *Watcher) Next(ctx context.Context) ([]Event, error) {
	for {
		if err := w.wait(ctx); err != nil {
			return nil, err
		}
		now, err := w.look()
		if err != nil {
			if text := err.Error(); text != w.fault {
				w.fault = text
				return nil, err
			}
			continue
		}
		w.fault = ""
		if events := w.compare(now); len(events) > 0 {
			return events, nil
		}
	}
}

// wait lets the time between two looks go by.
func (w *Watcher) wait(ctx context.Context) error {
	due := make(chan struct{})
	timer := w.clock.At(w.clock.Now().Add(LookEvery), func() { close(due) })
	defer timer.Stop()
	select {
	case <-due:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// compare takes a look and gives what is different from what was told and was
// so at the look before too.
func (w *Watcher) compare(now Listing) (events []Event) {
	if w.told == nil {
		w.told = Listing{}
	}
	names := maps.Clone(now)
	maps.Copy(names, w.told)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		present, before, known := now[name], w.last[name], w.told[name]
		if same(present, known) || !same(present, before) {
			continue
		}
		what := Changed
		switch {
		case present == nil:
			what = Deleted
			delete(w.told, name)
		case known == nil:
			what = Created
		}
		if present != nil {
			w.told[name] = present
		}
		events = append(events, Event{name, KindOf(name), what})
	}
	w.last = now
	return events
}

// same tells whether two looks saw the same content of a file, as far as one can
// see from outside: another size, another time, or another file in its place.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
