package engine

import (
	"math/bits"
)

// fairQueue shares the turns and the places in the queue among those who ask for
// them, so that nobody who asks for very many keeps the others waiting.
//
// What one asks for is a flow: the runs of one trigger, or those that one user
// starts without a trigger. Flows belong to groups, the organizations. Turns
// go to the group that is furthest from its bound, within it to the flow that
// has fewest, and in rotation where that is equal; within a flow to who came
// first. As all the runs of equal flows take about as long, that is in turn.
//
// The bounds move with what is free, after "Dynamic queue length thresholds for
// shared-memory packet switches" (Choudhury and Hahne, 1998): a flow may have
// at most eight times as many turns as stay free, a group sixteen times. So of
// many turns one that is alone leaves a ninth, a group a seventeenth, and whoever
// else comes finds a turn at once; the more there are, the less each has. Of a
// few turns one that is alone has all, for nobody who allows four runs at once
// wants to see three. The same is true of the places in the queue. The engine's
// mu guards it all.
type fairQueue struct {
	turns, taken   int // turns there are, and those of them that somebody has
	places, queued int // places in the queue
	groups         map[string]*group
	order          ranks[*group] // those of whom somebody waits, by how many turns must be free
}

// group is the flows of one organization that have turns or wait for them.
type group struct {
	name          string
	taken, queued int
	flows         map[string]*flow
	order         ranks[*flow] // those of whom somebody waits
	spot          spot[*group]
}

// flow is the runs of one trigger or user that have turns or wait for them.
type flow struct {
	group *group
	name  string
	taken int
	runs  line[*run] // that wait
	spot  spot[*flow]
}

// How many turns, or places, a flow and a group may have for each one that stays
// free.
const (
	flowShare  = 8
	groupShare = 2 * flowShare
)

// of returns the flow of a name in a group, which it makes when there is none.
func (f *fairQueue) of(group_, name string) *flow {
	g := f.groups[group_]
	if g == nil {
		g = &group{name: group_, flows: map[string]*flow{}}
		g.spot.of = g
		f.groups[group_] = g
	}
	one := g.flows[name]
	if one == nil {
		one = &flow{group: g, name: name}
		one.spot.of = one
		g.flows[name] = one
	}
	return one
}

// need is how many turns must be free for a flow to have one more.
func (one *flow) need() int { return one.taken/flowShare + 1 }

// need is how many must be free for a group, of which somebody waits.
func (g *group) need() int { return max(g.taken/groupShare+1, g.order.first().of.need()) }

// free is how many turns nobody has.
func (f *fairQueue) free() int { return f.turns - f.taken }

// hasTurnFor reports whether a flow may have a turn now. While one of it waits, it
// may not.
func (f *fairQueue) hasTurnFor(one *flow) bool {
	return max(one.need(), one.group.taken/groupShare+1) <= f.free()
}

// hasPlaceFor reports whether one more run of a flow may wait, and whether there
// is any place.
func (f *fairQueue) hasPlaceFor(one *flow) (may, any bool) {
	free := f.places - f.queued
	return max(one.runs.length/flowShare, one.group.queued/groupShare)+1 <= free, free > 0
}

// turn counts turns of a flow: one more, or one less.
func (f *fairQueue) turn(one *flow, change int) {
	one.taken += change
	one.group.taken += change
	f.taken += change
	f.place(one)
}

// wait puts a run at the end of its flow.
func (f *fairQueue) wait(one *flow, s *spot[*run]) {
	one.runs.join(s)
	one.group.queued++
	f.queued++
	f.place(one)
}

// leave takes a run out that waits.
func (f *fairQueue) leave(one *flow, s *spot[*run]) {
	s.leave()
	one.group.queued--
	f.queued--
	f.place(one)
}

// place puts a flow and its group to where they now stand, and lets go of one
// that has nothing and wants nothing. Who stands right stays, or whoever
// asks often would never be the first.
func (f *fairQueue) place(one *flow) {
	g := one.group
	waits := one.runs.length > 0
	if one.spot.line != nil && !(waits && one.spot.rank == one.need()) {
		g.order.leave(&one.spot)
	}
	if waits && one.spot.line == nil {
		g.order.join(&one.spot, one.need())
	}
	waits = g.queued > 0
	if g.spot.line != nil && !(waits && g.spot.rank == g.need()) {
		f.order.leave(&g.spot)
	}
	if waits && g.spot.line == nil {
		f.order.join(&g.spot, g.need())
	}
	if one.taken == 0 && one.runs.length == 0 {
		if delete(g.flows, one.name); len(g.flows) == 0 {
			delete(f.groups, g.name)
		}
	}
}

// next takes the run out of the queue that is to have its turn now, and counts
// that; nil when there is none. Its flow and its group stand behind their equals
// afterwards.
func (f *fairQueue) next() *run {
	first := f.order.first()
	if first == nil || first.rank > f.free() {
		return nil
	}
	g := first.of
	one := g.order.first().of
	s := one.runs.first
	f.order.leave(&g.spot)
	g.order.leave(&one.spot)
	s.leave()
	one.group.queued--
	f.queued--
	f.turn(one, 1)
	return s.of
}

// longest returns how many flows wait, and how many runs the longest of them has.
func (f *fairQueue) longest() (waiting, most int) {
	for _, g := range f.groups {
		for _, one := range g.flows {
			if n := one.runs.length; n > 0 {
				waiting++
				most = max(most, n)
			}
		}
	}
	return waiting, most
}

// line is a list that is joined at its end and left anywhere, in the same time
// however long it is.
type line[T any] struct {
	first, last *spot[T]
	length      int
}

// spot is the place of one in a line, at most one line at a time.
type spot[T any] struct {
	of            T
	line          *line[T] // nil = in none
	before, after *spot[T]
	rank          int // in ranks
}

func (l *line[T]) join(s *spot[T]) { l.joinAfter(s, l.last) }

// joinAfter puts a spot behind another one of the line, nil for the beginning.
func (l *line[T]) joinAfter(s, before *spot[T]) {
	s.line, s.before = l, before
	if before == nil {
		s.after, l.first = l.first, s
	} else {
		s.after, before.after = before.after, s
	}
	if s.after == nil {
		l.last = s
	} else {
		s.after.before = s
	}
	l.length++
}

// leave takes a spot out of its line.
func (s *spot[T]) leave() {
	if s.before == nil {
		s.line.first = s.after
	} else {
		s.before.after = s.after
	}
	if s.after == nil {
		s.line.last = s.before
	} else {
		s.after.before = s.before
	}
	s.line.length--
	s.line, s.before, s.after = nil, nil, nil
}

// ranks are lines in the order of small numbers: who is first in the lowest
// line comes first of all. However many are in them, a step looks at one bit
// for each possible rank at most.
type ranks[T any] struct {
	lines []*line[T] // by rank; nil where nobody ever was
	held  []uint64   // bit r: somebody is in line r
}

// join puts a spot at the end of the line of a rank.
func (k *ranks[T]) join(s *spot[T], rank int) {
	if grow := rank + 1 - len(k.lines); grow > 0 {
		k.lines = append(k.lines, make([]*line[T], grow)...)
		k.held = append(k.held, make([]uint64, (len(k.lines)+63)/64-len(k.held))...)
	}
	if k.lines[rank] == nil {
		k.lines[rank] = &line[T]{}
	}
	s.rank = rank
	k.lines[rank].join(s)
	k.held[rank/64] |= 1 << (rank % 64)
}

// leave takes a spot out.
func (k *ranks[T]) leave(s *spot[T]) {
	at := s.line
	if s.leave(); at.length == 0 {
		k.held[s.rank/64] &^= 1 << (s.rank % 64)
	}
}

// first returns who comes first, nil when there is nobody.
func (k *ranks[T]) first() *spot[T] {
	for i, word := range k.held {
		if word != 0 {
			return k.lines[i*64+bits.TrailingZeros64(word)].first
		}
	}
	return nil
}
