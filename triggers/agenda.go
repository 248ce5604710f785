package triggers

import (
	"container/heap"
	"time"

	"blueprintd/blueprint"
)

// agenda holds the active schedules, ordered by when something is to be done
// about them. What it costs to find those that are due, and to change one, does
// not grow with the number of the others.
type agenda struct {
	byID    map[string]*scheduled
	waiting waiting // those that have a next instant
	made    int
}

// add puts a schedule in the place of the one that its trigger had before.
func (a *agenda) add(one *scheduled) {
	if old := a.byID[one.trigger.ID]; old != nil {
		one.order = old.order
		a.remove(old.trigger.ID)
	} else {
		a.made++
		one.order = a.made
	}
	if a.byID == nil {
		a.byID = map[string]*scheduled{}
	}
	a.byID[one.trigger.ID] = one
	a.wait(one)
}

func (a *agenda) remove(id string) {
	one := a.byID[id]
	if one == nil {
		return
	}
	delete(a.byID, id)
	a.rest(one)
}

// wait lets a schedule wait for its next instant, unless it has none.
func (a *agenda) wait(one *scheduled) {
	one.place = -1
	if one.wake = one.wakeAt(); !one.wake.IsZero() {
		heap.Push(&a.waiting, one)
	}
}

// rest takes a schedule out of those that wait.
func (a *agenda) rest(one *scheduled) {
	if one.place >= 0 {
		heap.Remove(&a.waiting, one.place)
	}
}

// next is the earliest instant at which something is to be done; zero is never.
func (a *agenda) next() time.Time {
	if len(a.waiting) == 0 {
		return time.Time{}
	}
	return a.waiting[0].wake
}

// due takes out the schedules about which something is to be done by now. Each
// must be given back with wait.
func (a *agenda) due(now time.Time) (list []*scheduled) {
	for len(a.waiting) > 0 && !a.waiting[0].wake.After(now) {
		list = append(list, heap.Pop(&a.waiting).(*scheduled))
	}
	return list
}

// waiting is a heap by instant, then by age.
type waiting []*scheduled

// Len, Less, Swap, Push and Pop are for package heap.
func (w waiting) Len() int { return len(w) }

func (w waiting) Less(i, j int) bool {
	if order := w[i].wake.Compare(w[j].wake); order != 0 {
		return order < 0
	}
	return w[i].order < w[j].order
}

func (w waiting) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].place, w[j].place = i, j
}

// Push is for package heap.
func (w *waiting) Push(one any) {
	one.(*scheduled).place = len(*w)
	*w = append(*w, one.(*scheduled))
}

// Pop is for package heap.
func (w *waiting) Pop() any {
	last := len(*w) - 1
	one := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	one.place = -1
	return one
}

// scheduled is an active schedule. Every tick up to cursor is decided.
type scheduled struct {
	Timing
	trigger blueprint.Trigger
	cursor  time.Time
	next    time.Time // the first tick after cursor; zero for none
	retry   time.Time // not before
	steps   []step    // still to be done
	warned  time.Time // the tick that was last said to be tried again
	told    time.Time // the last tick that an event told of as missed

	// Where it stands in the agenda.
	order int // of two that are due at once, the lower goes first
	wake  time.Time
	place int // -1 when it does not wait
}

// wakeAt is when something is to be done about a schedule; zero is never.
func (one *scheduled) wakeAt() time.Time {
	if one.next.IsZero() || one.retry.Before(one.next) {
		return one.next
	}
	return one.retry
}
