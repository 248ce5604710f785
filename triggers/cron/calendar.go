package cron

import "time"

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

// floorDiv divides and rounds towards the past, where Go rounds towards zero.
func floorDiv(a, b int64) int64 {
	quotient := a / b
	if a%b < 0 {
		quotient--
	}
	return quotient
}

// floorMod is what floorDiv leaves: never negative.
func floorMod(a, b int64) int64 { return a - floorDiv(a, b)*b }
