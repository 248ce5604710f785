package cron

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/adhocore/gronx"
	"pgregory.net/rapid"
)

// By itself a test run takes seconds and looks at a sample. "go test
// ./triggers/cron -long" takes some minutes and looks at all zones, at each
// change of their clocks from 1840 to 2060.
var long = flag.Bool("long", false, "compare with the oracle in all zones, from 1840 to 2060")

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	zone, err := LoadZone(name)
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// probes are expressions of each kind, many of them at the hours in which
// clocks are changed.
var probes = []string{
	// Readings of the clock.
	"30 2 * * *", "0 0 * * *", "30 0 * * *", "10,40 2 * * *", "0,30 0-3 * * *", "15 1/1 * * *", "0-59 0-23 * * *", "59 23 * * *", "0 3 * * *",
	"0 12 30 12 *", "5/20 23,0 * * SUN", "0 0 1 * 1", "30 1 29 2 *", "45 2 8-14 3,10 6-7", "0 9 * * 1-5", "0 0 29 2 1", "30 0-4/2 25-31 MAR,OCT *",
	// Elapsed time.
	"* * * * *", "*/15 * * * *", "0 * * * *", "30 */2 * * *", "* 2 * * *", "*/30 0-3 * * SUN", "5,*/20 1 * * *", "0 */6 1-7 * *",
	"0 0-23/1,*/5 */2 * 1", "*/7 2 */2 * 0", "17 * 31 * *", "* 0 * * 5/1",
}

// TestOracleYears compares whole years, with a share of the probes in each
// zone; with -long five years with all of them everywhere.
func TestOracleYears(t *testing.T) {
	zones := []struct {
		name     string
		from, to int
	}{
		{"America/New_York", 2023, 2027},
		{"Europe/Berlin", 2026, 2026},
		{"Africa/Casablanca", 2025, 2026},
		{"Australia/Lord_Howe", 2027, 2027},
		{"UTC", 2024, 2024},
	}
	for share, c := range zones {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if *long {
				c.from, c.to = 2023, 2027
			}
			random := rand.New(rand.NewPCG(1, uint64(share)))
			w := newWalk(mustZone(t, c.name), time.Date(c.from, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(c.to+1, 1, 1, 0, 0, 0, 0, time.UTC))
			for i, expression := range probes {
				if *long || i%len(zones) == share {
					w.compare(t, expression, random, 100)
				}
			}
		})
	}
}

// TestOracleOddities compares the days around changes that are out of the
// ordinary.
func TestOracleOddities(t *testing.T) {
	for _, c := range []struct{ zone, day, why string }{
		{"Pacific/Apia", "2011-12-30", "a date is left out"},
		{"Pacific/Apia", "1892-07-05", "a date comes twice"},
		{"Pacific/Kwajalein", "1993-08-21", "a date is left out"},
		{"Pacific/Kwajalein", "1969-10-01", "most of a date comes twice"},
		{"America/Juneau", "1867-10-19", "a date comes twice, with seconds"},
		{"Asia/Manila", "1844-12-31", "a date is left out, with seconds"},
		{"Australia/Lord_Howe", "2026-10-04", "half an hour forward"},
		{"Australia/Lord_Howe", "2026-04-05", "half an hour back"},
		{"Atlantic/Azores", "2026-03-29", "midnight is left out"},
		{"Atlantic/Azores", "2026-10-25", "midnight comes twice"},
		{"America/Havana", "2026-03-08", "midnight is left out"},
		{"America/Havana", "2026-11-01", "midnight comes twice"},
		{"America/Santiago", "2026-09-06", "midnight is left out"},
		{"America/Santiago", "2026-04-05", "the hour before midnight comes twice"},
		{"America/Asuncion", "2024-10-06", "midnight is left out, for good"},
		{"America/Sao_Paulo", "2018-11-04", "midnight is left out"},
		{"Africa/Cairo", "2026-04-24", "midnight is left out"},
		{"Africa/Cairo", "2026-10-30", "the hour before midnight comes twice"},
		{"Asia/Beirut", "2026-03-29", "midnight is left out"},
		{"Asia/Gaza", "2026-03-28", "spring"},
		{"Africa/Casablanca", "2026-02-15", "back for Ramadan"},
		{"Africa/Casablanca", "2026-03-22", "forward after Ramadan"},
		{"Africa/El_Aaiun", "2025-04-06", "forward after Ramadan"},
		{"Antarctica/Troll", "2026-03-29", "two hours forward"},
		{"Antarctica/Troll", "2026-10-25", "two hours back"},
		{"Antarctica/Casey", "2010-03-05", "three hours back"},
		{"Antarctica/Vostok", "2023-12-18", "two hours back"},
		{"Europe/Dublin", "2026-03-29", "negative daylight saving"},
		{"Europe/Dublin", "1916-10-01", "with seconds"},
		{"America/Nuuk", "2023-03-26", "a new offset"},
		{"America/Nuuk", "2024-03-31", "the evening before"},
		{"America/St_Johns", "2010-03-14", "at one minute past midnight"},
		{"America/Caracas", "2007-12-09", "half an hour back"},
		{"Asia/Pyongyang", "2018-05-04", "half an hour forward, late in the evening"},
		{"Asia/Kathmandu", "1986-01-01", "a quarter forward"},
		{"Africa/Monrovia", "1972-01-07", "three quarters forward, with seconds"},
		{"Europe/Amsterdam", "1937-07-01", "seconds"},
		{"Europe/Berlin", "1947-05-11", "double summer time"},
		{"Europe/London", "1941-05-04", "double summer time"},
		{"Europe/Volgograd", "2020-12-27", "an hour back for good"},
		{"America/New_York", "2026-03-08", "the common case, forward"},
		{"America/New_York", "2026-11-01", "the common case, back"},
		{"America/New_York", "2096-11-04", "far ahead"},
		{"Asia/Kolkata", "2026-03-08", "nothing"},
	} {
		t.Run(c.zone+" "+c.day, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 4))
			day, err := time.Parse(time.DateOnly, c.day)
			if err != nil {
				t.Fatal(err)
			}
			w := newWalk(mustZone(t, c.zone), day.AddDate(0, 0, -4), day.AddDate(0, 0, 5))
			if len(w.changes) == 0 && c.why != "nothing" {
				t.Errorf("the clock does not change; want %s", c.why)
			}
			for _, expression := range probes {
				w.compare(t, expression, random, 60)
			}
		})
	}
}

// TestSegments holds the segments of every zone against the offsets that they
// stand for.
func TestSegments(t *testing.T) {
	random := rand.New(rand.NewPCG(6, 7))
	for _, name := range zoneNames() {
		zone := mustZone(t, name)
		minute, until, count := minuteOf(time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC)), minuteOf(time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)), 0
		for ; minute < until; count++ {
			s := segmentAt(minute, zone)
			if s.first > minute || s.end <= minute {
				t.Fatalf("%s: %v has the segment from %v to %v, want first at most %v and more than %v", name, instant(minute), instant(s.first), instant(s.end), minute, minute)
			}
			length := min(s.end, until) - minute
			for _, at := range []int64{minute, minute + length/2, minute + random.Int64N(length), minute + length - 1} {
				if offset := offsetAt(at, zone); offset != s.offset {
					t.Fatalf("%s: %v has the offset %d; the segment from %v says %d", name, instant(at), offset, instant(minute), s.offset)
				}
			}
			minute = s.end
		}
		// Two changes a year, the turns of the years themselves and the last
		// days of leap years; in the tables of Morocco a few more.
		if count > 500*7/2 {
			t.Errorf("%s has %d segments in 500 years, want at most %v", name, count, 500*7/2)
		}
	}
}

// TestEveryZone compares the days around changes of the clock in zones by
// chance; with -long in all.
func TestEveryZone(t *testing.T) {
	from, to, stride := 2023, 2027, 30
	if *long {
		from, to, stride = 1840, 2060, 1
	}
	for i, name := range zoneNames() {
		if i%stride != 7%stride {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := mustZone(t, name)
			random := rand.New(rand.NewPCG(5, uint64(i)))
			_, before := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).In(zone).Zone()
			done := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC)
			for at := done; at.Year() < to; at = at.Add(time.Hour) {
				_, offset := at.In(zone).Zone()
				if changed := offset != before; changed && at.After(done) {
					w := newWalk(zone, at.AddDate(0, 0, -1), at.AddDate(0, 0, 2))
					for _, expression := range probes {
						w.compare(t, expression, random, 20)
					}
					done = at.AddDate(0, 0, 1)
				}
				before = offset
			}
		})
	}
}

// drawExpression makes an accepted expression of any shape; with near, one that
// is due often and in the hours in which clocks are changed.
func drawExpression(t *rapid.T, near bool) string {
	number := func(f *field, low, high int) string {
		n := rapid.IntRange(low, high).Draw(t, "number")
		switch form := rapid.IntRange(0, 3).Draw(t, "form"); {
		case form == 0 && n-f.low < len(f.names):
			return f.names[n-f.low]
		case form == 1 && n-f.low < len(f.names):
			return strings.ToLower(f.names[n-f.low])
		case form == 2:
			return fmt.Sprintf("%02d", n)
		default:
			return itoa(n)
		}
	}
	item := func(f *field, high int, alone bool) string {
		step := func() string { return "/" + itoa(rapid.IntRange(1, f.last-f.low+1).Draw(t, "step")) }
		switch rapid.IntRange(0, 6).Draw(t, "kind") {
		case 0:
			if alone {
				return "*"
			}
			return "*" + step()
		case 1:
			return "*" + step()
		case 2:
			return number(f, f.low, min(high, f.last)) + step()
		case 3, 4:
			low := rapid.IntRange(f.low, min(high, f.last)).Draw(t, "low")
			end := ""
			switch {
			case f.high > f.last && low > 0 && rapid.Bool().Draw(t, "sunday"):
				end = rapid.SampledFrom([]string{"7", "07", "SUN", "sun"}).Draw(t, "end")
			default:
				// Zero by name would be the end 7.
				if end = number(f, low, f.last); strings.EqualFold(end, "SUN") {
					end = "0"
				}
			}
			text := number(f, low, low) + "-" + end
			if rapid.Bool().Draw(t, "stepped") {
				text += step()
			}
			return text
		default:
			return number(f, f.low, high)
		}
	}
	texts := make([]string, len(fields))
	for i := range fields {
		f := &fields[i]
		high := f.high
		if near && i == hourField {
			high = 4
		}
		if near && i >= dayField && rapid.IntRange(0, 9).Draw(t, "open") < 6 {
			texts[i] = "*"
			continue
		}
		count := rapid.SampledFrom([]int{1, 1, 1, 2, 3}).Draw(t, "items")
		var items []string
		for range count {
			items = append(items, item(f, high, count == 1))
		}
		texts[i] = strings.Join(items, ",")
	}
	expression := strings.Join(texts, " ")
	if _, err := Parse(expression); err != nil {
		if !strings.Contains(err.Error(), "never comes") {
			t.Fatalf("Parse(%q): %v, want \"never comes\" in it", expression, err)
		}
		texts[dayField] = "1,*/2"
		expression = strings.Join(texts, " ")
	}
	return expression
}

// TestOracleRandom compares expressions by chance in zones and years by chance.
func TestOracleRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zone, err := LoadZone(rapid.SampledFrom(zoneNames()).Draw(t, "zone"))
		if err != nil {
			t.Fatal(err)
		}
		from := time.Date(rapid.IntRange(1850, 2060).Draw(t, "year"), 1, 1, 0, 0, 0, 0, time.UTC).
			Add(time.Duration(rapid.IntRange(0, 365*24*60).Draw(t, "minute")) * time.Minute)
		// Half of them begin shortly before the next change, if there is one.
		if _, end := from.In(zone).ZoneBounds(); !end.IsZero() && rapid.Bool().Draw(t, "change") {
			from = end.Truncate(time.Minute).Add(-time.Duration(rapid.IntRange(0, minutesPerDay).Draw(t, "before")) * time.Minute)
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		w := newWalk(zone, from, from.AddDate(0, 0, rapid.IntRange(1, 4).Draw(t, "days")))
		for range 4 {
			w.compare(t, drawExpression(t, true), random, 30)
		}
	})
}

// TestAgreesWithGronx holds Due against another implementation, in UTC, for
// expressions by chance. Two of its readings differ and are kept out: it takes
// SUN for 0 at the end of a range too, and it knows no @midnight.
func TestAgreesWithGronx(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		expression := drawExpression(t, rapid.Bool().Draw(t, "near"))
		theirs := strings.ReplaceAll(strings.ToUpper(expression), "-SUN", "-7")
		s, err := Parse(expression)
		if err != nil {
			t.Fatal(err)
		}
		other := gronx.New()
		at := time.Unix(60*int64(rapid.IntRange(0, 60*366*minutesPerDay).Draw(t, "minute")), 0).UTC()
		check := func(at time.Time) {
			due, err := other.IsDue(theirs, at)
			if err != nil {
				t.Fatalf("gronx refuses %q: %v", theirs, err)
			}
			if got := s.Due(at, nil); got != due {
				t.Fatalf("%q at %v: Due = %v, gronx says %v", expression, at, got, due)
			}
		}
		for i := range 40 {
			check(at.Add(time.Duration(i*i*7) * time.Hour))
		}
		for range 20 {
			next, ok := s.Next(at, nil)
			if !ok {
				t.Fatalf("%q is never due after %v", expression, at)
			}
			check(next)
			check(next.Add(time.Minute))
			check(next.AddDate(0, 0, 1))
			check(next.AddDate(0, 1, 0))
			at = next
		}
	})
}
