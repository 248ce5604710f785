package cron

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestNext holds the rules of the package comment against dates worked out by
// hand.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		expression, zone, after string
		want                    []string // RFC 3339 but for the seconds, UTC; "" is never
	}{
		// Strictly after, to the minute.
		{"* * * * *", "", "2026-01-01T00:00:00Z", []string{"2026-01-01T00:01", "2026-01-01T00:02"}},
		{"* * * * *", "", "2026-01-01T00:00:59.999Z", []string{"2026-01-01T00:01"}},
		{"0 0 1 1 *", "", "2025-12-31T23:59:59.999999999Z", []string{"2026-01-01T00:00", "2027-01-01T00:00"}},
		{"0 0 1 1 *", "", "2026-01-01T00:00:00.000000001Z", []string{"2027-01-01T00:00"}},
		{"0 0 1 1 *", "", "2026-01-01T01:00:00+02:00", []string{"2026-01-01T00:00"}},
		{"0 9 * * *", "Asia/Kolkata", "2026-01-01T00:00:00Z", []string{"2026-01-01T03:30", "2026-01-02T03:30"}},

		// Days: either field, or both when one begins with a star.
		{"0 0 13 * 5", "", "2026-11-01T00:00:00Z", []string{"2026-11-06T00:00", "2026-11-13T00:00", "2026-11-20T00:00", "2026-11-27T00:00", "2026-12-04T00:00", "2026-12-11T00:00", "2026-12-13T00:00"}},
		{"0 0 */2 * 1", "", "2026-06-01T00:00:00Z", []string{"2026-06-15T00:00", "2026-06-29T00:00", "2026-07-13T00:00", "2026-07-27T00:00"}},
		{"0 0 8-14 * */7", "", "2026-01-01T00:00:00Z", []string{"2026-01-11T00:00", "2026-02-08T00:00", "2026-03-08T00:00"}},
		{"0 0 * * 7", "", "2026-01-01T00:00:00Z", []string{"2026-01-04T00:00", "2026-01-11T00:00"}},
		{"0 0 30 2 1", "", "2026-01-01T00:00:00Z", []string{"2026-02-02T00:00", "2026-02-09T00:00"}},
		{"0 0 31 * *", "", "2026-01-31T00:00:00Z", []string{"2026-03-31T00:00", "2026-05-31T00:00"}},
		{"0 0 29 2 *", "", "2096-03-01T00:00:00Z", []string{"2104-02-29T00:00"}},
		{"0 0 29 2 *", "", "1896-03-01T00:00:00Z", []string{"1904-02-29T00:00"}},
		{"0 0 29 2 *", "", "1996-03-01T00:00:00Z", []string{"2000-02-29T00:00"}},
		{"0 0 29 2 */7", "", "2026-01-01T00:00:00Z", []string{"2032-02-29T00:00", "2060-02-29T00:00", "2088-02-29T00:00", "2128-02-29T00:00"}},

		// Forward: once, after the gap, however many readings lie in it.
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00", "2026-03-30T00:30"}},
		{"10,40 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00", "2026-03-30T00:10"}},
		{"0,30 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00", "2026-03-29T01:30", "2026-03-30T00:00"}},
		{"30 2 * * *", "America/New_York", "2026-03-08T00:00:00Z", []string{"2026-03-08T07:00", "2026-03-09T06:30"}},
		{"15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", []string{"2026-10-03T15:30", "2026-10-04T15:15"}},
		{"0 0 * * *", "America/Havana", "2026-03-07T12:00:00Z", []string{"2026-03-08T05:00", "2026-03-09T04:00"}},
		{"0 0 8 3 *", "America/Havana", "2026-03-07T12:00:00Z", []string{"2026-03-08T05:00", "2027-03-08T05:00"}},
		{"0 0 * * 0", "America/Santiago", "2026-09-01T00:00:00Z", []string{"2026-09-06T04:00", "2026-09-13T03:00"}},
		{"0 1 * * 0", "Antarctica/Troll", "2026-03-28T12:00:00Z", []string{"2026-03-29T01:00", "2026-04-04T23:00"}},
		// Forward, elapsed time: what is skipped does not run.
		{"*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", []string{"2026-03-30T00:00"}},
		{"0 * * * *", "America/New_York", "2026-03-08T05:59:00Z", []string{"2026-03-08T06:00", "2026-03-08T07:00"}},
		{"0 * * * *", "Australia/Lord_Howe", "2026-10-03T14:00:00Z", []string{"2026-10-03T14:30", "2026-10-03T16:00", "2026-10-03T17:00"}},
		{"* 2 8-14 3 */7", "America/New_York", "2026-01-01T00:00:00Z", []string{""}},

		// A whole date that is left out belongs to itself.
		{"0 12 30 12 *", "Pacific/Apia", "2011-01-01T00:00:00Z", []string{"2011-12-30T10:00", "2012-12-29T22:00"}},
		{"0 12 29-31 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", []string{"2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00"}},
		{"0 12 * * 5", "Pacific/Apia", "2011-12-24T00:00:00Z", []string{"2011-12-30T10:00", "2012-01-05T22:00"}},
		{"0 */12 30 12 *", "Pacific/Apia", "2011-01-01T00:00:00Z", []string{"2012-12-29T10:00"}},

		// Back: the first time only.
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:30", "2026-10-26T01:30"}},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", []string{"2026-10-26T01:30"}},
		{"0,30 2,3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T02:00"}},
		{"30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", []string{"2026-11-01T05:30", "2026-11-02T06:30"}},
		{"0 0 * * *", "Atlantic/Azores", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:00", "2026-10-26T01:00"}},
		{"30 2 * * *", "Africa/Casablanca", "2026-02-14T12:00:00Z", []string{"2026-02-15T01:30", "2026-02-16T02:30"}},
		// Back, elapsed time: both times.
		{"*/30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", []string{"2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30", "2026-10-26T01:00"}},
		{"30 */2 * * *", "America/New_York", "2026-11-01T04:00:00Z", []string{"2026-11-01T04:30", "2026-11-01T07:30"}},

		// The ends of time.
		{"0 0 1 1 *", "", "9998-06-01T00:00:00Z", []string{"9999-01-01T00:00", ""}},
		{"59 23 31 12 *", "", "9999-01-01T00:00:00Z", []string{"9999-12-31T23:59", ""}},
		{"59 23 31 12 *", "America/New_York", "9999-01-01T00:00:00Z", []string{"9999-01-01T04:59", ""}},
		{"0 0 * * *", "", "0001-01-01T00:00:00Z", []string{"0001-01-02T00:00"}},
	} {
		t.Run(c.expression+" "+c.zone+" "+c.after, func(t *testing.T) {
			s, zone := mustParse(t, c.expression), mustZone(t, c.zone)
			at, err := time.Parse(time.RFC3339Nano, c.after)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				next, ok := s.Next(at, zone)
				got := ""
				if ok {
					got = next.Format("2006-01-02T15:04")
				}
				if got != want || ok && (next.Location() != time.UTC || next.Nanosecond() != 0 || next.Second() != 0) {
					t.Errorf("%q in %s: Next(%v) = %v, %v; want %q", c.expression, zone, at, next, ok, want)
					break
				}
				if ok && !(s.Due(next, zone) && s.Due(next.Add(59999*time.Millisecond), zone)) {
					t.Errorf("%q in %s: Due(%v) is false", c.expression, zone, next)
				}
				at = next
			}
		})
	}
}

// TestOutside looks at instants beyond the years that are handled.
func TestOutside(t *testing.T) {
	s := mustParse(t, "* * * * *")
	early, late := time.Date(-500, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC)
	if next, ok := s.Next(early, nil); !ok || next.Year() != 1 {
		t.Errorf("Next(%v) = %v, %v; want 1", early, next, ok)
	}
	if next, ok := s.Next(late, nil); ok {
		t.Errorf("Next(%v) = %v", late, next)
	}
	if s.Due(early, nil) || s.Due(late, nil) {
		t.Error("due outside the years that are handled")
	}
	if ticks, total := s.Between(early, late, nil, 1); total != lastMinute-firstMinute+1 || len(ticks) != 1 || ticks[0].Year() != 9999 {
		t.Errorf("Between = %v, %d; want %v, length 1 and 9999", ticks, total, lastMinute-firstMinute+1)
	}
	if next, ok := new(Schedule).Next(time.Time{}, nil); ok {
		t.Errorf("the zero value is due at %v", next)
	}
}

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		expression, zone, after, until string
		max, total                     int
		want                           []string
	}{
		{"* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 9, 0, nil},
		{"* * * * *", "", "2026-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 9, 0, nil},
		{"* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:00:59Z", 9, 0, nil},
		{"* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z", 9, 1, []string{"2026-01-01T00:01"}},
		{"* * * * *", "", "2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z", 9, 1, []string{"2026-01-01T00:00"}},
		{"* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-31T00:00:00Z", 2, 30 * 1440, []string{"2026-01-30T23:59", "2026-01-31T00:00"}},
		{"* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-31T00:00:00Z", 0, 30 * 1440, nil},
		{"* * * * *", "", "2026-01-01T00:00:00Z", "2026-01-31T00:00:00Z", -1, 30 * 1440, nil},
		{"* * * * *", "America/New_York", "1926-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 1, 36525 * 1440, []string{"2026-01-01T00:00"}},
		{"0 9 * * 1-5", "", "2016-01-01T00:00:00Z", "2026-01-01T00:00:00Z", 1, 2609, []string{"2025-12-31T09:00"}},
		{"10,40 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", "2026-03-30T12:00:00Z", 9, 5,
			[]string{"2026-03-28T01:10", "2026-03-28T01:40", "2026-03-29T01:00", "2026-03-30T00:10", "2026-03-30T00:40"}},
		{"10,40 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", "2026-03-30T12:00:00Z", 3, 5,
			[]string{"2026-03-29T01:00", "2026-03-30T00:10", "2026-03-30T00:40"}},
		{"10,40 2 * * *", "Europe/Berlin", "2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z", 9, 1, []string{"2026-03-29T01:00"}},
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z", 9, 0, nil},
		{"0 12 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", "2011-12-31T00:00:00Z", 9, 3,
			[]string{"2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00"}},
		{"* 2 8-14 3 */7", "America/New_York", "2026-01-01T00:00:00Z", "2126-01-01T00:00:00Z", 9, 0, nil},
	} {
		t.Run(fmt.Sprintf("%s from %s to %s, %d", c.expression, c.after, c.until, c.max), func(t *testing.T) {
			parse := func(text string) time.Time {
				at, err := time.Parse(time.RFC3339, text)
				if err != nil {
					t.Fatal(err)
				}
				return at
			}
			ticks, total := mustParse(t, c.expression).Between(parse(c.after), parse(c.until), mustZone(t, c.zone), c.max)
			var got []string
			for _, tick := range ticks {
				got = append(got, tick.Format("2006-01-02T15:04"))
			}
			if total != c.total || !slices.Equal(got, c.want) {
				t.Errorf("%q in %s from %s to %s: %v of %d; want %v of %d", c.expression, c.zone, c.after, c.until, got, total, c.want, c.total)
			}
		})
	}
}

func BenchmarkNext(b *testing.B) {
	for _, c := range []struct{ name, expression, zone string }{
		{"EveryMinuteUTC", "* * * * *", "UTC"},
		{"EveryMinute", "* * * * *", "Europe/Berlin"},
		{"WorkdaysUTC", "0 9 * * 1-5", "UTC"},
		{"Workdays", "0 9 * * 1-5", "Europe/Berlin"},
		{"Yearly", "@yearly", "Europe/Berlin"},
		{"LeapDay", "0 0 29 2 *", "Europe/Berlin"},
		{"LeapSunday", "0 0 29 2 */7", "Europe/Berlin"},
		{"Never", "* 2 8-14 3 */7", "America/New_York"},
	} {
		b.Run(c.name, func(b *testing.B) {
			s, zone := mustParse(b, c.expression), mustZone(b, c.zone)
			at := time.Date(2026, 7, 1, 12, 30, 0, 0, time.UTC)
			b.ReportAllocs()
			for b.Loop() {
				s.Next(at, zone)
			}
		})
	}
}

func BenchmarkBetween(b *testing.B) {
	for _, c := range []struct {
		name, zone string
		years      int
	}{{"Year", "Europe/Berlin", 1}, {"Century", "Europe/Berlin", 100}, {"CenturyUTC", "UTC", 100}} {
		b.Run(c.name, func(b *testing.B) {
			s, zone := mustParse(b, "* * * * *"), mustZone(b, c.zone)
			until := time.Date(2026, 7, 1, 12, 30, 0, 0, time.UTC)
			b.ReportAllocs()
			for b.Loop() {
				s.Between(until.AddDate(-c.years, 0, 0), until, zone, 100)
			}
		})
	}
}
