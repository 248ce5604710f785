package project

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"blueprintd/foundation/clock"
)

// lookEvery is how often a Watcher looks at a folder that changes, or about which
// the system reports nothing.
const lookEvery = 250 * time.Millisecond

// lookAnyway is how often it looks at a folder of which the system reports changes:
// no report comes when the file changes to which a link leads.
const lookAnyway = 2 * time.Second

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

// Watcher tells what happens to the files of a folder. What has changed it finds by
// looking at their sizes and times; when to look, the system reports after Follow,
// else it looks again and again, which works in containers and on network folders
// too. A change counts once the file stood still from one look to the next, so that
// half of a file is nothing, and an editor that moves a new file over the old one
// has changed it. It is for one goroutine.
type Watcher struct {
	clock   clock.Clock
	look    func() (Listing, error)
	told    Listing // what the caller knows
	last    Listing // of the last look
	looked  time.Time
	settled bool   // the last look saw what the caller knows
	fault   string // what the last look failed with

	folders func() []string   // see Follow
	reports *fsnotify.Watcher // of the system; nil = there are none
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
		w.looked, w.settled = w.clock.Now(), false
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

// Follow lets the system report when something happens in the folders, those of
// each moment. Where it cannot, or may not do so reliably, the watcher goes on as
// without. It must be followed by Close.
func (w *Watcher) Follow(folders func() []string) {
	reports, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	w.folders, w.reports = folders, reports
	w.cover()
}

// Close ends the reports of the system.
func (w *Watcher) Close() {
	if w.reports != nil {
		w.reports.Close()
		w.reports = nil
	}
}

// cover asks for reports on folders that are new; when one of them has none, it does
// without.
func (w *Watcher) cover() {
	for _, folder := range w.folders() {
		err := w.reports.Add(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile, which is reported
		}
		if err != nil || !reportsChanges(folder) {
			w.Close()
			return
		}
	}
}

// wait lets the time between two looks go by, which is longer as long as nothing is
// reported.
func (w *Watcher) wait(ctx context.Context) error {
	if w.reports == nil || !w.settled {
		return w.pause(ctx, w.clock.Now().Add(lookEvery), nil, nil)
	}
	if err := w.pause(ctx, w.clock.Now().Add(lookAnyway), w.reports.Events, w.reports.Errors); err != nil {
		return err
	}
	w.cover()
	return w.pause(ctx, w.looked.Add(lookEvery), nil, nil) // or many reports would be as many looks
}

// pause waits until an instant, or for a report.
func (w *Watcher) pause(ctx context.Context, until time.Time, reports <-chan fsnotify.Event, lost <-chan error) error {
	if !until.After(w.clock.Now()) {
		return context.Cause(ctx)
	}
	due := make(chan struct{})
	timer := w.clock.At(until, func() { close(due) })
	defer timer.Stop()
	select {
	case <-due:
	case <-reports:
	case <-lost: // such as when there were too many
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// compare takes a look and gives what is different from what was told and was
// so at the look before too.
func (w *Watcher) compare(now Listing) (events []Event) {
	if w.told == nil {
		w.told = Listing{}
	}
	names := maps.Clone(now)
	maps.Copy(names, w.told)
	w.settled = true
	for _, name := range slices.Sorted(maps.Keys(names)) {
		present, before, known := now[name], w.last[name], w.told[name]
		if !same(present, before) {
			w.settled = w.settled && same(present, known)
			continue
		}
		if same(present, known) {
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

// same reports whether two looks saw the same content of a file, as far as one can
// see from outside: another size, another time, or another file in its place.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
