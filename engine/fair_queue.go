package engine

import "math/bits"

// fairQueue shares run slots and places in the queue so that no caller starves the others.
//
// A flow is the runs of one trigger, or the runs that one user starts without a trigger.
// Flows belong to groups, the organizations. A slot goes to the group furthest below its
// bound, within it to the flow with the fewest slots, then round-robin; within a flow it is
// first in, first out.
//
// The bounds follow "Dynamic queue length thresholds for shared-memory packet switches"
// (Choudhury and Hahne, 1998): a flow may hold at most eight times as many slots as are
// free, a group sixteen times. A single flow therefore leaves a ninth of the slots free, a
// single group a seventeenth; of fewer than nine slots it may use all. The same holds for
// queue places. The engine's mu guards everything.
type fairQueue struct {
	slots, taken   int
	places, queued int // places in the queue
	groups         map[string]*group
	order          rankedLists[*group] // groups with waiting runs, by need
}

// group is the flows of one organization that hold slots or wait for them.
type group struct {
	name          string
	taken, queued int
	flows         map[string]*flow
	order         rankedLists[*flow] // flows with waiting runs, by need
	element       element[*group]
}

// flow is the runs of one trigger or user that hold slots or wait for them.
type flow struct {
	group   *group
	name    string
	taken   int
	waiting list[*run]
	element element[*flow]
}

// Slots, or queue places, that a flow and a group may hold for each free one.
const (
	flowShare  = 8
	groupShare = 2 * flowShare
)

// flow returns the named flow of a group, creating both as needed.
func (q *fairQueue) flow(groupName, name string) *flow {
	g := q.groups[groupName]
	if g == nil {
		g = &group{name: groupName, flows: map[string]*flow{}}
		g.element.value = g
		q.groups[groupName] = g
	}
	f := g.flows[name]
	if f == nil {
		f = &flow{group: g, name: name}
		f.element.value = f
		g.flows[name] = f
	}
	return f
}

// need returns how many slots must be free for the flow to get another one.
func (f *flow) need() int { return f.taken/flowShare + 1 }

// need is flow.need for a group with waiting runs.
func (g *group) need() int { return max(g.taken/groupShare+1, g.order.first().value.need()) }

func (q *fairQueue) free() int { return q.slots - q.taken }

// hasSlotFor reports whether a flow may have a slot now; false while runs wait in it.
func (q *fairQueue) hasSlotFor(f *flow) bool {
	return max(f.need(), f.group.taken/groupShare+1) <= q.free()
}

// hasPlaceFor reports whether another run of a flow may wait, and if any place is free.
func (q *fairQueue) hasPlaceFor(f *flow) (may, any bool) {
	free := q.places - q.queued
	return max(f.waiting.length/flowShare, f.group.queued/groupShare)+1 <= free, free > 0
}

// addTaken changes the number of slots that a flow holds.
func (q *fairQueue) addTaken(f *flow, change int) {
	f.taken += change
	f.group.taken += change
	q.taken += change
	q.update(f)
}

func (q *fairQueue) push(f *flow, s *element[*run]) {
	f.waiting.pushBack(s)
	f.group.queued++
	q.queued++
	q.update(f)
}

func (q *fairQueue) remove(f *flow, s *element[*run]) {
	s.remove()
	f.group.queued--
	q.queued--
	q.update(f)
}

// update moves a flow and its group to their ranks and drops an idle one. An element
// that has its rank already keeps its position despite frequent updates.
func (q *fairQueue) update(f *flow) {
	g := f.group
	need := 0
	if f.waiting.length > 0 {
		need = f.need()
	}
	g.order.move(&f.element, need)
	need = 0
	if g.queued > 0 {
		need = g.need()
	}
	q.order.move(&g.element, need)
	if f.taken == 0 && f.waiting.length == 0 {
		if delete(g.flows, f.name); len(g.flows) == 0 {
			delete(q.groups, g.name)
		}
	}
}

// pop assigns a slot to the next waiting run and moves its flow and group behind their
// equals; nil if none may have one.
func (q *fairQueue) pop() *run {
	first := q.order.first()
	if first == nil || first.rank > q.free() {
		return nil
	}
	g := first.value
	f := g.order.first().value
	s := f.waiting.first
	q.order.remove(&g.element)
	g.order.remove(&f.element)
	s.remove()
	f.group.queued--
	q.queued--
	q.addTaken(f, 1)
	return s.value
}

// longest returns how many flows wait, and the length of the longest queue among them.
func (q *fairQueue) longest() (waiting, most int) {
	for _, g := range q.groups {
		for _, f := range g.flows {
			if n := f.waiting.length; n > 0 {
				waiting++
				most = max(most, n)
			}
		}
	}
	return waiting, most
}

// list is a doubly linked list of embedded elements: using it allocates nothing.
type list[T any] struct {
	first, last *element[T]
	length      int
}

type element[T any] struct {
	value      T
	list       *list[T] // nil = in none
	prev, next *element[T]
	rank       int // in rankedLists
}

func (l *list[T]) pushBack(s *element[T]) { l.insertAfter(s, l.last) }

// insertAfter inserts s behind prev; nil = at the front.
func (l *list[T]) insertAfter(s, prev *element[T]) {
	s.list, s.prev = l, prev
	if prev == nil {
		s.next, l.first = l.first, s
	} else {
		s.next, prev.next = prev.next, s
	}
	if s.next == nil {
		l.last = s
	} else {
		s.next.prev = s
	}
	l.length++
}

func (s *element[T]) remove() {
	if s.prev == nil {
		s.list.first = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		s.list.last = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.list.length--
	s.list, s.prev, s.next = nil, nil, nil
}

// rankedLists is a priority queue of lists by small ranks, lowest first.
type rankedLists[T any] struct {
	lists    []*list[T] // by rank; nil = never used
	nonEmpty []uint64   // a bit for each rank
}

// move puts s at the end of the list of a rank, unless it is there; rank 0 removes it.
func (k *rankedLists[T]) move(s *element[T], rank int) {
	if s.list != nil && s.rank == rank {
		return
	}
	if s.list != nil {
		k.remove(s)
	}
	if rank == 0 {
		return
	}
	if grow := rank + 1 - len(k.lists); grow > 0 {
		k.lists = append(k.lists, make([]*list[T], grow)...)
		k.nonEmpty = append(k.nonEmpty, make([]uint64, (len(k.lists)+63)/64-len(k.nonEmpty))...)
	}
	if k.lists[rank] == nil {
		k.lists[rank] = &list[T]{}
	}
	s.rank = rank
	k.lists[rank].pushBack(s)
	k.nonEmpty[rank/64] |= 1 << (rank % 64)
}

func (k *rankedLists[T]) remove(s *element[T]) {
	at := s.list
	if s.remove(); at.length == 0 {
		k.nonEmpty[s.rank/64] &^= 1 << (s.rank % 64)
	}
}

// first returns the first element of the lowest rank; nil when there is none.
func (k *rankedLists[T]) first() *element[T] {
	for i, word := range k.nonEmpty {
		if word != 0 {
			return k.lists[i*64+bits.TrailingZeros64(word)].first
		}
	}
	return nil
}
