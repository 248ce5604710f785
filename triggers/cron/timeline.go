package cron

import (
	"cmp"
	"math"
	"time"
)

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

// minuteOf returns the minute that an instant lies in.
func minuteOf(t time.Time) int64 { return floorDiv(t.Unix(), 60) }

// instant returns the beginning of a minute, in UTC.
func instant(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }

// segment is a time of one offset: the minutes from first up to, not
// including, end.
type segment struct{ first, end, offset int64 }

// segmentAt returns the segment of a zone that a minute lies in, or a part of it
// that begins no later and ends no earlier than the minute does. A change of
// the offset within a minute counts from the next one on.
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
		// The library takes every year that it computes from a rule to have
		// 365 days, so on the 366th it gives an end that has passed.
		s.end = (floorDiv(minute, minutesPerDay) + 1) * minutesPerDay
		if offsetAt(s.end-1, zone) != s.offset {
			s.end = minute + 1
		}
	}
	return s
}

// offsetAt returns what the wall clock of a zone is ahead of UTC in a minute.
func offsetAt(minute int64, zone *time.Location) int64 {
	_, seconds := time.Unix(minute*60, 0).In(zone).Zone()
	return floorDiv(int64(seconds), 60)
}

// highWater returns the latest reading that the wall clock of a zone has shown
// before a minute. It is the reading one minute ago, unless the clock was set
// back lately.
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

// stretch is a time of one offset in which a schedule may fire: the minutes
// from first up to, not including, end. Each stands for its own reading of the
// wall clock; the first stands also for the readings from low on, which the
// clock has just been set forward over.
type stretch struct{ first, end, offset, low int64 }

// timeline walks the stretches of a schedule in a zone.
//
// For a fixed schedule it keeps the latest reading that the wall clock has ever
// shown. A reading fires when the clock first shows it or a later one: hence a
// repeated hour is silent, since it shows nothing new, and a skipped one fires
// when the clock passes it.
type timeline struct {
	zone   *time.Location
	fixed  bool
	minute int64 // where the next stretch begins
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

// next returns the next stretch. One that begins after lastMinute is the end and
// holds nothing.
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
			continue // nothing but repeated readings
		}
		t.mark = high
		return stretch{max(at, low-s.offset), s.end, s.offset, low}
	}
}
