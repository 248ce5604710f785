package cron

import (
	"testing"
	"time"
)

// A decade in which many zones change their rules, and all of what is due in it.
var (
	decadeBegins = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	decadeEnds   = time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC)
)

// decade are expressions that are looked at over ten years in every zone.
var decade = []string{
	// Readings of the clock.
	"0 0 * * *", "30 2 * * *", "10,40 2 * * *", "0,30 0-3 * * *", "59 23 * * *", "0 3 * * *", "15 1 1,15 * *", "0 9 * * 1-5", "5 0,12 * 2,9 MON-FRI",
	"0 0 * * 7", "0 4 31 * *", "0 0 1 1 *", "0 12 30 12 *", "30 1 29 2 *", "1 1 13 * 5", "0 0 29 2 1", "45 2 8-14 3,10 6-7", "30 0-4/2 25-31 MAR,OCT *", "5/20 23,0 * * sun",
	// Elapsed time.
	"0 * * * *", "*/15 * * * *", "30 */2 * * *", "17 * 31 * *", "*/20 9-17 * * 1-5", "* 2 * * *", "*/30 0-3 * * SUN", "0 */6 1-7 * *", "0 */5 * * 0", "*/7 * * * *", "* * * * *",
	"5,*/20 1 1 * 3",
	// What others read in other ways.
	"0 0 */2 * 1", "*/7 2 */2 * 0", "0 0 1-31 * 1", "0 0 8-14 * */7", "15 1 * * 1/2", "* 0 * * 5/1", "0 6 * * 5-SUN",
}

// TestDecade holds everything that is due in ten years against the walk through
// all their minutes, in zones by chance; with -long in all.
func TestDecade(t *testing.T) {
	stride, until := 200, decadeBegins.AddDate(0, 3, 10)
	if *long {
		stride, until = 1, decadeEnds
	}
	for i, name := range zoneNames() {
		if i%stride != 86%stride {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWalk(mustZone(t, name), decadeBegins, until)
			for _, expression := range decade {
				w.all(t, expression)
			}
		})
	}
}

// all compares every tick of a walk, some at a time, and gives their minutes.
func (w *walk) all(t testing.TB, expression string) []int {
	t.Helper()
	const most = 50_000
	s := mustParse(t, expression)
	want := w.ticks(newOracle(s.String()))
	after := w.from - 1
	for left := want; after < w.to-1; {
		part := left[:min(most, len(left))]
		until := w.to - 1
		if left = left[len(part):]; len(left) > 0 {
			until = part[len(part)-1]
		}
		got, total := s.Between(w.at(after), w.at(until), w.zone, len(part))
		if total != len(part) {
			t.Errorf("%q in %s: %d ticks from %v to %v, want %d", expression, w.zone, total, w.at(after), w.at(until), len(part))
			break
		}
		for i, at := range got {
			if !at.Equal(w.at(part[i])) {
				t.Errorf("%q in %s: %v is a tick, want %v", expression, w.zone, at.In(w.zone), w.at(part[i]).In(w.zone))
				return want
			}
		}
		after = until
	}
	return want
}
