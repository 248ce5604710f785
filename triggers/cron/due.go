package cron

import (
	"sort"
	"time"
)

// horizon is how far Next looks: 100 years. The longest wait of a date is 40
// years, for a 29 February on a given weekday around a year such as 2100;
// beyond it lie only schedules whose every reading falls into a gap.
const horizon = 36525 * minutesPerDay

// Next returns the first due instant strictly after an instant, as UTC, and false
// when there is none within 100 years or before the year 10000. A nil zone is
// UTC.
func (s *Schedule) Next(after time.Time, zone *time.Location) (time.Time, bool) {
	from := max(minuteOf(after)+1, firstMinute)
	limit := min(from+horizon, lastMinute)
	line := s.timeline(from, zone)
	for {
		part := line.next()
		if part.first > limit {
			return time.Time{}, false
		}
		high := min(part.end-1, limit) + part.offset
		if wall, ok := s.nextWall(part.low, high); ok {
			return instant(max(part.first, wall-part.offset)), true
		}
	}
}

// Due reports whether the minute that an instant lies in is a tick. A nil zone is
// UTC.
func (s *Schedule) Due(at time.Time, zone *time.Location) bool {
	minute := minuteOf(at)
	if minute < firstMinute || minute > lastMinute {
		return false
	}
	line := s.timeline(minute, zone)
	part := line.next()
	if part.first != minute {
		return false // a repeated reading
	}
	if wall := minute + part.offset; wall > part.low {
		_, due := s.nextWall(part.low, wall)
		return due
	}
	return s.matches(part.low)
}

// Between returns the due instants after one instant and up to and including
// another, as UTC, the earliest first: the last max of them, and how many there
// are in all. A nil zone is UTC.
//
// The work grows with the months between the two and with max, never with the
// number of ticks: a month of a tick a minute costs microseconds, a hundred
// years in a zone with daylight saving less than a millisecond. What lies
// outside the years 1 to 9999 is left out.
func (s *Schedule) Between(after, until time.Time, zone *time.Location, max int) (ticks []time.Time, total int) {
	from, last := minuteOf(after)+1, minuteOf(until)
	if from < firstMinute {
		from = firstMinute
	}
	if last > lastMinute {
		last = lastMinute
	}

	// The groups that hold the last max ticks, and what they hold.
	var groups []group
	held := 0
	line := s.timeline(from, zone)
	for {
		part := line.next()
		if part.first > last {
			break
		}
		g := s.group(part, last)
		total += g.count
		if g.count > 0 && max > 0 {
			groups = append(groups, g)
			held += g.count
		}
		for len(groups) > 0 && held-groups[0].count >= max {
			held -= groups[0].count
			groups = groups[1:]
		}
	}
	for i, g := range groups {
		want := g.count
		if i == 0 && held > max {
			want -= held - max
		}
		ticks = s.appendLast(ticks, g, want)
	}
	return ticks, total
}

// group is the ticks of one stretch: one at the minute first when gap is set,
// and one for each reading from low to high that suits the schedule.
type group struct {
	gap              bool
	first, low, high int64
	offset           int64
	count            int
}

// group gathers the ticks of a stretch, up to and including a minute of it.
func (s *Schedule) group(part stretch, last int64) group {
	g := group{first: part.first, low: part.low, high: min(part.end-1, last) + part.offset, offset: part.offset}
	if wall := part.first + part.offset; wall > part.low {
		g.low = wall + 1
		_, g.gap = s.nextWall(part.low, wall)
	}
	g.count = int(s.countWall(g.low, g.high))
	if g.gap {
		g.count++
	}
	return g
}

// appendLast appends the last `want` ticks of a group.
func (s *Schedule) appendLast(ticks []time.Time, g group, want int) []time.Time {
	if g.gap && want == g.count {
		ticks = append(ticks, instant(g.first))
		want--
	}
	// The counts fall as readings rise, so the place to begin can be halved in on.
	wall := g.low + int64(sort.Search(int(g.high-g.low+1), func(i int) bool {
		return s.countWall(g.low+int64(i), g.high) <= int64(want)
	}))
	for ; want > 0; want-- {
		wall, _ = s.nextWall(wall, g.high)
		ticks = append(ticks, instant(wall-g.offset))
		wall++
	}
	return ticks
}
