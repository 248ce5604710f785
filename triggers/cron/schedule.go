package cron

import (
	"math/bits"
	"time"
)

// Schedule is one parsed expression. It is immutable and safe for concurrent
// use. The zero value is never due.
type Schedule struct {
	text string // five fields with one blank between them

	// One bit for each value, at the value's own position.
	minutes  uint64
	hours    uint32
	days     uint32 // days of the month
	months   uint16
	weekdays uint8 // 0 is Sunday; 7 has been folded into it

	both  bool // whether a day must match both day fields
	fixed bool // readings of the wall clock; see the package comment
}

// String returns the five fields as they were written, with one blank between
// them and a macro written out. Parse reads it back into an equal Schedule.
func (s *Schedule) String() string { return s.text }

// daysOf returns the matching days of a month, bit d for day d.
func (s *Schedule) daysOf(m month) uint32 {
	if s.months>>m.number&1 == 0 {
		return 0
	}
	// The weekdays, turned so that bit 0 is the weekday of the month's first
	// day, then laid out over five weeks.
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

// nextMinute returns the first minute of the day from `from` on that matches minute and
// hour.
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

// countWall counts the matching readings from low to high, inclusive. It takes a few
// steps per month.
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

// Readings of the wall clock are counted in minutes since 1970-01-01 00:00 as
// the clock itself reads, instants in minutes since 1970-01-01 00:00 UTC. The
// difference of the two is the zone's offset.

const (
	minutesPerDay = 24 * 60
	epochWeekday  = 4 // 1970-01-01 was a Thursday
)

// month is one month of the proleptic Gregorian calendar.
type month struct {
	year, number, length int
	first                int64 // its first day, in days since 1970-01-01
}

// monthOf returns the month that a day (in days since 1970-01-01) lies in, and
// its day of the month.
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
