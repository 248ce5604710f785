package cron

import (
	"cmp"
	"math"
	"math/bits"
	"sort"
	"time"
)

// Schedule is one parsed expression. It is immutable and safe for concurrent
// use. The zero value is never due.
type Schedule struct {
	text string // five fields separated by single blanks

	// One bit for each value, at the position of the value.
	minutes  uint64
	hours    uint32
	days     uint32 // days of the month
	months   uint16
	weekdays uint8 // 0 is Sunday; 7 has been folded into it

	both  bool // whether a day must match both day fields
	fixed bool // readings of the wall clock; see the package comment
}

// String returns the five fields as they were written, separated by single blanks and with
// a macro expanded. Parse parses it into an equal Schedule.
func (s *Schedule) String() string { return s.text }

// daysOf returns the matching days of a month, bit d for day d.
func (s *Schedule) daysOf(m month) uint32 {
	if s.months>>m.number&1 == 0 {
		return 0
	}
	// The weekdays, rotated so that bit 0 is the weekday of the month's first day, then
	// repeated over five weeks.
	first := uint(floorMod(m.first+epochWeekday, 7))
	week := uint64(s.weekdays>>first|s.weekdays<<(7-first)) & 0x7f
	byWeekday := uint32(week * (1 | 1<<7 | 1<<14 | 1<<21 | 1<<28) << 1)

	chosen := byWeekday | s.days
	if s.both {
		chosen = byWeekday & s.days
	}
	return chosen & (2<<m.length - 2)
}

// matches reports whether a reading of the wall clock matches the expression.
func (s *Schedule) matches(wall int64) bool {
	minute := floorMod(wall, minutesPerDay)
	if s.minutes>>(minute%60)&1 == 0 || s.hours>>(minute/60)&1 == 0 {
		return false
	}
	m, day := monthOf(floorDiv(wall, minutesPerDay))
	return s.daysOf(m)>>day&1 == 1
}

// nextWall returns the first matching reading from `from` to `limit`, inclusive. It takes
// a few steps per month.
func (s *Schedule) nextWall(from, limit int64) (int64, bool) {
	if from > limit {
		return 0, false
	}
	today := floorDiv(from, minutesPerDay)
	m, day := monthOf(today)
	days := s.daysOf(m) >> day << day
	if days>>day&1 == 1 {
		if minute, ok := s.nextMinute(from - today*minutesPerDay); ok {
			wall := today*minutesPerDay + minute
			return wall, wall <= limit
		}
		days &^= 1 << day
	}
	for lastDay := floorDiv(limit, minutesPerDay); days == 0; days = s.daysOf(m) {
		if m = m.next(); m.first > lastDay {
			return 0, false
		}
	}
	minute, ok := s.nextMinute(0)
	wall := (m.first+int64(bits.TrailingZeros32(days))-1)*minutesPerDay + minute
	return wall, ok && wall <= limit
}

// nextMinute returns the first matching minute of the day from `from` on.
func (s *Schedule) nextMinute(from int64) (int64, bool) {
	hour := from / 60
	if s.hours>>hour&1 == 1 {
		if left := s.minutes >> (from % 60); left != 0 {
			return from + int64(bits.TrailingZeros64(left)), true
		}
	}
	later := s.hours >> (hour + 1) << (hour + 1)
	if later == 0 || s.minutes == 0 {
		return 0, false
	}
	return int64(bits.TrailingZeros32(later)*60 + bits.TrailingZeros64(s.minutes)), true
}

// countWall counts the matching readings from low to high, in a few steps per month.
func (s *Schedule) countWall(low, high int64) int64 {
	if low > high {
		return 0
	}
	lowDay, highDay := floorDiv(low, minutesPerDay), floorDiv(high, minutesPerDay)
	before := s.countMinutes(low - lowDay*minutesPerDay)                  // of the first day, before low
	within := s.countMinutes(high - highDay*minutesPerDay + 1)            // of the last day, to high
	return s.countDays(lowDay, highDay-1)*s.countMinutes(minutesPerDay) + // all but the last day
		within*s.countDays(highDay, highDay) - before*s.countDays(lowDay, lowDay)
}

// countMinutes counts the minutes of a day before `before` that match minute and hour.
func (s *Schedule) countMinutes(before int64) int64 {
	hour := before / 60
	count := bits.OnesCount32(s.hours&(1<<hour-1)) * bits.OnesCount64(s.minutes)
	if s.hours>>hour&1 == 1 {
		count += bits.OnesCount64(s.minutes & (1<<(before%60) - 1))
	}
	return int64(count)
}

// countDays counts the matching days from low to high, inclusive.
func (s *Schedule) countDays(low, high int64) int64 {
	if low > high {
		return 0
	}
	m, day := monthOf(low)
	days := s.daysOf(m) >> day << day
	var count int64
	for m.first+int64(m.length) <= high {
		count += int64(bits.OnesCount32(days))
		m = m.next()
		days = s.daysOf(m)
	}
	return count + int64(bits.OnesCount32(days&(2<<(high-m.first+1)-1)))
}

// Readings of the wall clock are counted in minutes since 1970-01-01 00:00 as shown by the
// clock itself, instants in minutes since 1970-01-01 00:00 UTC. The difference is the
// zone's offset.

const (
	minutesPerDay = 24 * 60
	epochWeekday  = 4 // 1970-01-01 was a Thursday
)

// month is one month of the proleptic Gregorian calendar.
type month struct {
	year, number, length int
	first                int64 // its first day, in days since 1970-01-01
}

// monthOf returns the month of a day (in days since 1970-01-01), and the day in it.
func monthOf(day int64) (month, int) {
	year, number, ofMonth := time.Unix(day*24*60*60, 0).UTC().Date()
	return month{year, int(number), daysIn(year, int(number)), day - int64(ofMonth-1)}, ofMonth
}

func (m month) next() month {
	first := m.first + int64(m.length)
	if m.number == 12 {
		return month{m.year + 1, 1, 31, first}
	}
	return month{m.year, m.number + 1, daysIn(m.year, m.number+1), first}
}

// longest holds the greatest length of each month.
var longest = [...]int{1: 31, 2: 29, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}

func daysIn(year, number int) int {
	if number == 2 && (year%4 != 0 || year%100 == 0 && year%400 != 0) {
		return 28
	}
	return longest[number]
}

// floorDiv rounds towards negative infinity.
func floorDiv(a, b int64) int64 {
	quotient := a / b
	if a%b < 0 {
		quotient--
	}
	return quotient
}

// floorMod is the remainder of floorDiv, which is never negative.
func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }

// horizon is how far Next searches: 100 years. The longest interval between two dates is 40
// years, for a 29 February on a given weekday around a year such as 2100. Beyond the
// horizon are only schedules whose every reading falls into a gap.
const horizon = 36525 * minutesPerDay

// Next returns the first due instant strictly after an instant, in UTC, and false if there
// is none within 100 years or before the year 10000. A nil zone is UTC.
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

// Due reports whether the minute that contains an instant is a tick. A nil zone is UTC.
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

// Between returns the due instants after one instant and up to and including another, in
// UTC, earliest first: the last max of them, and their total number. A nil zone is UTC.
//
// The cost grows with the number of months between the two and with max, never with the
// number of ticks: a month with a tick per minute costs microseconds, a hundred years in a
// zone with daylight saving less than a millisecond. Instants outside the years 1 to 9999
// are omitted.
func (s *Schedule) Between(after, until time.Time, zone *time.Location, max int) (ticks []time.Time, total int) {
	from, last := minuteOf(after)+1, minuteOf(until)
	if from < firstMinute {
		from = firstMinute
	}
	if last > lastMinute {
		last = lastMinute
	}

	// The groups that contain the last max ticks, and the ticks in them.
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

// group is the ticks of one stretch: one at the minute first if gap is set, and one for
// each reading from low to high that matches the schedule.
type group struct {
	gap              bool
	first, low, high int64
	offset           int64
	count            int
}

// group collects the ticks of a stretch, up to and including a minute of it.
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
	// The counts decrease as readings increase, so the start is found by binary search.
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

const (
	firstMinute = -1035593280 // 0001-01-01 00:00 UTC
	lastMinute  = 4223371679  // 9999-12-31 23:59 UTC

	// Segments without a beginning or an end. Halved, so that sums cannot overflow.
	beforeAll = math.MinInt64 / 2
	afterAll  = math.MaxInt64 / 2

	// Offsets are at most one day, so a clock is set back by at most two days and cannot
	// repeat older readings.
	memory = 2 * minutesPerDay
)

// minuteOf returns the minute that contains an instant.
func minuteOf(t time.Time) int64 { return floorDiv(t.Unix(), 60) }

// instant returns the beginning of a minute, in UTC.
func instant(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }

// segment is a period with one offset: the minutes from first up to end, excluded.
type segment struct{ first, end, offset int64 }

// segmentAt returns the segment of a zone that contains a minute, or a part of it that
// begins no later and ends no earlier than the minute. A change of the offset within a
// minute takes effect with the next one.
func segmentAt(minute int64, zone *time.Location) segment {
	t := time.Unix(minute*60, 0).In(zone)
	start, end := t.ZoneBounds()
	s := segment{first: beforeAll, end: afterAll, offset: offsetAt(minute, zone)}
	if !start.IsZero() {
		s.first = floorDiv(start.Unix()+59, 60)
	}
	if !end.IsZero() {
		s.end = floorDiv(end.Unix()+59, 60)
	}
	if s.end <= minute {
		// The library assumes 365 days for every year that it computes from a rule, so on
		// the 366th day it returns an end in the past.
		s.end = (floorDiv(minute, minutesPerDay) + 1) * minutesPerDay
		if offsetAt(s.end-1, zone) != s.offset {
			s.end = minute + 1
		}
	}
	return s
}

// offsetAt returns how far the wall clock of a zone is ahead of UTC in a minute.
func offsetAt(minute int64, zone *time.Location) int64 {
	_, seconds := time.Unix(minute*60, 0).In(zone).Zone()
	return floorDiv(int64(seconds), 60)
}

// highWater returns the latest reading that the wall clock of a zone has shown before a
// minute. It is the reading one minute ago, unless the clock was set back recently.
func highWater(minute int64, zone *time.Location) int64 {
	at := minute - 1
	s := segmentAt(at, zone)
	mark := at + s.offset
	for minute-s.first <= memory {
		at = s.first - 1
		s = segmentAt(at, zone)
		mark = max(mark, at+s.offset)
	}
	return mark
}

// stretch is a period with one offset in which a schedule may fire: the minutes from first
// up to, but not including, end. Each minute represents its own reading of the wall clock;
// the first one also represents the readings from low on that the clock has just skipped.
type stretch struct{ first, end, offset, low int64 }

// timeline walks the stretches of a schedule in a zone.
//
// For a fixed schedule it keeps the latest reading that the wall clock has shown so far. A
// reading fires when the clock first shows it or a later one: a repeated hour does not fire
// again, as it shows nothing new; a skipped reading fires when the clock passes it.
type timeline struct {
	zone   *time.Location
	fixed  bool
	minute int64 // the beginning of the next stretch
	mark   int64 // the latest reading before it, for a fixed schedule
}

func (s *Schedule) timeline(minute int64, zone *time.Location) timeline {
	zone = cmp.Or(zone, time.UTC)
	t := timeline{zone: zone, fixed: s.fixed, minute: minute}
	if t.fixed {
		t.mark = highWater(minute, zone)
	}
	return t
}

// next returns the next stretch. One beyond lastMinute marks the end, without ticks.
func (t *timeline) next() stretch {
	for {
		at := t.minute
		if at > lastMinute {
			return stretch{first: at, end: at}
		}
		s := segmentAt(at, t.zone)
		t.minute = s.end
		if !t.fixed {
			return stretch{at, s.end, s.offset, at + s.offset}
		}
		low, high := t.mark+1, s.end-1+s.offset
		if high < low {
			continue // only repeated readings
		}
		t.mark = high
		return stretch{max(at, low-s.offset), s.end, s.offset, low}
	}
}
