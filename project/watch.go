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

const (
	// scanInterval is the interval between scans while files change, or if the system
	// sends no notifications.
	scanInterval = 250 * time.Millisecond
	// slowScanInterval applies with notifications. They do not cover the targets of links.
	slowScanInterval = 2 * time.Second
)

// The values of Event.What.
const (
	Created = "created"
	Changed = "changed"
	Deleted = "deleted"
)

// Event is a change of a file.
type Event struct {
	Path string
	Kind Kind
	What string // Created, Changed or Deleted
}

// Watcher reports changes of files. It compares the sizes and times of files between scans,
// which also works in containers and on network file systems. After Follow, notifications
// of the system trigger the scans. A change is reported once two scans see the same state,
// so that no partially written file is reported, and a file that an editor replaces counts
// as changed. A Watcher is not safe for concurrent use.
type Watcher struct {
	clock    clock.Clock
	scan     func() (Listing, error)
	reported Listing // the state that the caller knows
	last     Listing // of the last scan
	scanned  time.Time
	settled  bool   // the last scan saw the reported state
	fault    string // the error of the last scan

	folders       func() []string   // see Follow
	notifications *fsnotify.Watcher // nil for none
}

// NewWatcher returns a Watcher for changes since seen; nil reports all files as created.
func NewWatcher(c clock.Clock, seen Listing, scan func() (Listing, error)) *Watcher {
	return &Watcher{clock: c, scan: scan, reported: maps.Clone(seen), last: seen}
}

// Next waits for changes and returns them sorted by path, one for each file. An error other
// than that of ctx is the error of a scan, returned once; the next call continues.
func (w *Watcher) Next(ctx context.Context) ([]Event, error) {
	for {
		if err := w.wait(ctx); err != nil {
			return nil, err
		}
		w.scanned, w.settled = w.clock.Now(), false
		now, err := w.scan()
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

// Follow subscribes to notifications of the system for folders, which is called before
// each wait. If they are not available or not reliable, the watcher scans as before. The
// caller must call Close.
func (w *Watcher) Follow(folders func() []string) {
	notifications, err := fsnotify.NewWatcher()
	if err != nil {
		return
	}
	w.folders, w.notifications = folders, notifications
	w.subscribe()
}

// Close ends the subscriptions of Follow.
func (w *Watcher) Close() {
	if w.notifications != nil {
		w.notifications.Close()
		w.notifications = nil
	}
}

// subscribe subscribes to new folders. An unsupported one closes all subscriptions.
func (w *Watcher) subscribe() {
	for _, folder := range w.folders() {
		err := w.notifications.Add(folder)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its removal is notified
		}
		if err != nil || !reportsChanges(folder) {
			w.Close()
			return
		}
	}
}

// wait waits until the next scan is due.
func (w *Watcher) wait(ctx context.Context) error {
	if w.notifications == nil || !w.settled {
		return w.pause(ctx, w.clock.Now().Add(scanInterval), nil, nil)
	}
	if err := w.pause(ctx, w.clock.Now().Add(slowScanInterval), w.notifications.Events, w.notifications.Errors); err != nil {
		return err
	}
	w.subscribe()
	return w.pause(ctx, w.scanned.Add(scanInterval), nil, nil) // bounds the rate of scans
}

// pause waits until an instant or a notification.
func (w *Watcher) pause(ctx context.Context, until time.Time, events <-chan fsnotify.Event, lost <-chan error) error {
	if !until.After(w.clock.Now()) {
		return context.Cause(ctx)
	}
	due := make(chan struct{})
	timer := w.clock.At(until, func() { close(due) })
	defer timer.Stop()
	select {
	case <-due:
	case <-events:
	case <-lost: // such as an overflow
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// compare returns the files that differ from the reported state and are stable.
func (w *Watcher) compare(now Listing) (events []Event) {
	if w.reported == nil {
		w.reported = Listing{}
	}
	names := maps.Clone(now)
	maps.Copy(names, w.reported)
	w.settled = true
	for _, name := range slices.Sorted(maps.Keys(names)) {
		present, before, known := now[name], w.last[name], w.reported[name]
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
		case known == nil:
			what = Created
		}
		if w.reported[name] = present; present == nil {
			delete(w.reported, name)
		}
		events = append(events, Event{name, KindOf(name), what})
	}
	w.last = now
	return events
}

// same reports whether two scans saw the same file with the same size and time.
func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
