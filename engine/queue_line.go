package engine

import "math/bits"

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

// first gives who comes first, nil when there is nobody.
func (k *ranks[T]) first() *spot[T] {
	for i, word := range k.held {
		if word != 0 {
			return k.lines[i*64+bits.TrailingZeros64(word)].first
		}
	}
	return nil
}
