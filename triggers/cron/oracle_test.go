package cron

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"pgregory.net/rapid"
)

func itoa(i int) string { return strconv.Itoa(i) }

// oracle is a second reading of an expression, made in another way than the
// package's own: for each field the set of its numbers, found by asking of
// each number whether an item of the list holds it.
type oracle struct {
	text                           string
	minute, hour, day, month, week [60]bool
	eitherDay, readings            bool
}

func newOracle(expression string) *oracle {
	o := &oracle{text: expression}
	f := strings.Fields(expression)
	months := []string{"", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"}
	days := []string{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"}
	for n := range 60 {
		o.minute[n] = listed(f[0], n, 0, 59, nil)
		o.hour[n] = listed(f[1], n, 0, 23, nil)
		o.day[n] = listed(f[2], n, 1, 31, nil)
		o.month[n] = listed(f[3], n, 1, 12, months)
		o.week[n] = n <= 6 && listed(f[4], n, 0, 6, days) || n == 0 && listed(f[4], 7, 0, 6, days)
	}
	o.eitherDay = f[2][0] != '*' && f[4][0] != '*'
	o.readings = strings.Count(f[0]+f[1], "*") == 0
	return o
}

// listed reports whether a list of a field that runs from low to high holds n.
func listed(list string, n, low, high int, names []string) bool {
	read := func(text string) int {
		if i := slices.Index(names, strings.ToUpper(text)); i >= 0 {
			return i
		}
		i, err := strconv.Atoi(text)
		if err != nil {
			panic(err)
		}
		return i
	}
	for _, item := range strings.Split(list, ",") {
		from, to, step := low, high, 1
		parts := strings.Split(item, "/")
		if len(parts) == 2 {
			step = read(parts[1])
		}
		if ends := strings.Split(parts[0], "-"); len(ends) == 2 {
			from, to = read(ends[0]), read(ends[1])
			if strings.ToUpper(ends[1]) == "SUN" {
				to = 7
			}
		} else if parts[0] != "*" {
			from = read(parts[0])
			if len(parts) == 1 {
				to = from
			}
		}
		if from <= n && n <= to && (n-from)%step == 0 {
			return true
		}
	}
	return false
}

// date reports whether a calendar date suits the day fields.
func (o *oracle) date(t time.Time) bool {
	if !o.month[t.Month()] {
		return false
	}
	if o.eitherDay {
		return o.day[t.Day()] || o.week[t.Weekday()]
	}
	return o.day[t.Day()] && o.week[t.Weekday()]
}

// suits reports whether what a time reads, in its own location, suits all fields.
func (o *oracle) suits(t time.Time) bool {
	return o.date(t) && o.hour[t.Hour()] && o.minute[t.Minute()]
}

// walk is a time in a zone, walked through minute by minute: what the wall
// clock reads in each, and where each reading of each date is found first.
type walk struct {
	zone    *time.Location
	start   time.Time              // the first minute walked
	from    int                    // the minutes that are compared, counted from start;
	to      int                    // what lies around them is there to look back and ahead
	dates   []time.Time            // of the calendar, whether the zone has them or not
	first   [][minutesPerDay]int32 // of each of these, for each reading; -1 where there is none
	day     []int32                // of each minute: its place in dates
	clock   []int16                // of each minute: its minute of the day
	changes []int                  // minutes before which the wall clock jumped
}

const around = 3 * minutesPerDay

func newWalk(zone *time.Location, from, to time.Time) *walk {
	w := &walk{zone: zone, start: from.Add(-around * time.Minute).UTC(), from: around}
	w.to = w.from + int(to.Sub(from)/time.Minute)
	opening := w.start.Truncate(24*time.Hour).AddDate(0, 0, -2)
	for date := opening; !date.After(w.at(w.to+around).AddDate(0, 0, 2)); date = date.AddDate(0, 0, 1) {
		w.dates = append(w.dates, date)
	}
	w.first = make([][minutesPerDay]int32, len(w.dates))
	for i := range w.first {
		for j := range w.first[i] {
			w.first[i][j] = -1
		}
	}
	w.day, w.clock = make([]int32, w.to+around), make([]int16, w.to+around)
	place, known := int32(0), 0 // the day of the month at that place
	for i := range w.day {
		t := w.at(i).In(zone)
		hour, minute, _ := t.Clock()
		clock := int16(hour*60 + minute)
		if year, month, day := t.Date(); day != known || clock == 0 || i == 0 || clock != w.clock[i-1]+1 {
			place = int32(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Sub(opening) / (24 * time.Hour))
			known = day
		}
		if i > 0 && int(place)*minutesPerDay+int(clock) != int(w.day[i-1])*minutesPerDay+int(w.clock[i-1])+1 {
			w.changes = append(w.changes, i)
		}
		if found := &w.first[place][clock]; *found < 0 {
			*found = int32(i)
		}
		w.day[i], w.clock[i] = place, clock
	}
	return w
}

// ticks returns the due minutes from w.from on and before w.to.
func (w *walk) ticks(o *oracle) []int {
	due := make([]bool, len(w.day))
	for place, date := range w.dates {
		if !o.readings || place <= int(w.day[0]) || place >= int(w.day[len(w.day)-1]) || !o.date(date) {
			continue
		}
		for clock := range minutesPerDay {
			if o.hour[clock/60] && o.minute[clock%60] {
				due[w.shown(place, clock)] = true
			}
		}
	}
	if !o.readings {
		today, suits := int32(-1), false
		for i, place := range w.day {
			if place != today {
				today, suits = place, o.date(w.dates[place])
			}
			due[i] = suits && o.hour[w.clock[i]/60] && o.minute[w.clock[i]%60]
		}
	}
	var ticks []int
	for i := w.from; i < w.to; i++ {
		if due[i] {
			ticks = append(ticks, i)
		}
	}
	return ticks
}

// shown returns the minute in which the clock first shows a reading, or else the
// reading after it, and so on.
func (w *walk) shown(place, clock int) int32 {
	for w.first[place][clock] < 0 {
		if clock++; clock == minutesPerDay {
			place, clock = place+1, 0
		}
	}
	return w.first[place][clock]
}

func (w *walk) at(i int) time.Time { return w.start.Add(time.Duration(i) * time.Minute) }

// compare holds a schedule against the oracle over a walk. Where there are too
// many ticks to look at each, it looks at those around the changes of the clock
// and at others by chance.
func (w *walk) compare(t rapid.TB, expression string, random *rand.Rand, effort int) {
	t.Helper()
	s := mustParse(t, expression)
	want := w.ticks(newOracle(s.String()))
	fail := func(what string, args ...any) {
		t.Helper()
		t.Fatalf("%q in %s: %s", expression, w.zone, fmt.Sprintf(what, args...))
	}
	next := func(i int) int { // the place of the first tick after minute i
		place, _ := slices.BinarySearch(want, i+1)
		return place
	}

	// Due and Next around changes and by chance.
	look := map[int]bool{w.from: true, w.to - 1: true}
	for _, change := range w.changes {
		for i := change - 70; i < change+130; i++ {
			look[i] = true
		}
		look[change-minutesPerDay], look[change-minutesPerDay/2], look[change+minutesPerDay] = true, true, true
	}
	for range effort {
		look[w.from+random.IntN(w.to-w.from)] = true
	}
	for range min(effort, len(want)) {
		i := want[random.IntN(len(want))]
		look[i-1], look[i], look[i+1] = true, true, true
	}
	for i := range look {
		if i < w.from || i >= w.to {
			continue
		}
		_, due := slices.BinarySearch(want, i)
		at := w.at(i).Add(time.Duration(random.IntN(60e9)))
		if got := s.Due(at, w.zone); got != due {
			fail("Due(%v) = %v", at.In(w.zone), got)
		}
		got, ok := s.Next(at, w.zone)
		if place := next(i); place < len(want) {
			if !ok || !got.Equal(w.at(want[place])) {
				fail("Next(%v) = %v, %v; want %v", at.In(w.zone), got.In(w.zone), ok, w.at(want[place]).In(w.zone))
			}
		} else if ok && got.Before(w.at(w.to)) {
			fail("Next(%v) = %v; want none before %v", at.In(w.zone), got.In(w.zone), w.at(w.to))
		}
	}

	// Between, over all and over parts.
	between := func(after, until, most int) {
		t.Helper()
		ticks, total := s.Between(w.at(after), w.at(until), w.zone, most)
		low, high := next(after), next(until)
		if total != max(0, high-low) {
			fail("Between(%v, %v) counts %d; want %d", w.at(after), w.at(until), total, high-low)
		}
		if len(ticks) != min(total, most) {
			fail("Between(%v, %v, %d) returned %d of %d", w.at(after), w.at(until), most, len(ticks), total)
		}
		for i, tick := range ticks {
			if expect := w.at(want[high-len(ticks)+i]); !tick.Equal(expect) {
				fail("Between(%v, %v, %d)[%d] = %v; want %v", w.at(after), w.at(until), most, i, tick, expect)
			}
		}
	}
	between(w.from-1, w.to-1, min(len(want), 50*effort))
	places := []int{w.from - 1, w.to - 1}
	for _, change := range w.changes {
		places = append(places, change-1, change, change+random.IntN(130)-70)
	}
	for range effort / 10 {
		places = append(places, w.from+random.IntN(w.to-w.from))
	}
	places = slices.DeleteFunc(places, func(i int) bool { return i < w.from-1 || i >= w.to })
	for range effort / 5 {
		between(places[random.IntN(len(places))], places[random.IntN(len(places))], random.IntN(2*effort))
	}
}
