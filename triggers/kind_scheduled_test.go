package triggers

import (
	"fmt"
	"testing"
	"time"
)

func readTiming(t testing.TB, expression, zone, catchUp string) *Timing {
	t.Helper()
	timing, issues := ReadSchedule(map[string]any{"cron": expression, "timezone": zone, "catchUp": catchUp})
	if len(issues) > 0 {
		t.Fatalf("%v, want none", issues)
	}
	return &timing
}

// ticksBetween finds the due instants by asking of each minute.
func ticksBetween(tm *Timing, after, until time.Time) (ticks []time.Time) {
	for at := after.Truncate(time.Minute).Add(time.Minute); !at.After(until); at = at.Add(time.Minute) {
		if tm.Schedule.Due(at, tm.Zone) {
			ticks = append(ticks, at)
		}
	}
	return ticks
}

// describe writes steps as text: S(n) skips n ticks, R(i,m,c) runs the i-th due
// tick, counted from the end as 0, with missedCount m and c ticks coalesced; a
// late one is written r.
func describe(steps []step, ticks []time.Time) string {
	place := map[int64]int{}
	for i, at := range ticks {
		place[at.Unix()] = len(ticks) - 1 - i
	}
	text := ""
	for _, s := range steps {
		left := 0
		if s.skipped != nil {
			left = s.skipped.count
		}
		switch {
		case s.at.IsZero():
			text += fmt.Sprintf("S(%d)", left)
		case s.late:
			text += fmt.Sprintf("r(%d,%d,%d)", place[s.at.Unix()], s.missed, left)
		default:
			text += fmt.Sprintf("R(%d,%d,%d)", place[s.at.Unix()], s.missed, left)
		}
	}
	return text
}

func TestDue(t *testing.T) {
	hour, day := time.Hour, 24*time.Hour
	const down = -time.Second // the server came up just now
	cases := []struct {
		name    string
		cron    string
		cursor  time.Duration // before now
		now     time.Duration // after begin, which is a whole hour
		up      time.Duration // before now; down = came up just now
		catchUp string
		want    string
	}{
		{"nothing due", "0 * * * *", hour / 2, hour / 2, hour, "latest", ""},
		{"one on time", "0 * * * *", hour, 0, hour, "latest", "R(0,0,0)"},
		{"one on time, a little late", "0 * * * *", hour, 59 * time.Second, 2 * hour, "none", "R(0,0,0)"},
		{"one too late", "0 * * * *", hour, time.Minute, 2 * hour, "none", "S(1)"},
		{"one too late, latest", "0 * * * *", hour, time.Minute, 2 * hour, "latest", "r(0,0,0)"},
		{"one before the server was up", "0 * * * *", hour, time.Second, down, "none", "S(1)"},
		{"the instant at which the server came up", "0 * * * *", hour, 0, 0, "none", "R(0,0,0)"},
		{"a minute down", "* * * * *", time.Minute, 30 * time.Second, down, "latest", "r(0,0,0)"},
		{"an hour down, latest", "* * * * *", hour, 30 * time.Second, down, "latest", "r(0,59,59)"},
		{"an hour down, all", "*/10 * * * *", hour, 30 * time.Second, down, "all", "r(5,0,0)r(4,0,0)r(3,0,0)r(2,0,0)r(1,0,0)r(0,0,0)"},
		{"an hour down, none", "*/10 * * * *", hour, 30 * time.Second, down, "none", "S(6)"},
		{"a day down, latest", "0 * * * *", day, hour / 2, down, "latest", "r(0,23,23)"},
		{"a month down, latest", "* * * * *", 30 * day, time.Second, down, "latest", "r(0,43199,43199)"},
		{"a month down, none", "* * * * *", 30 * day, time.Second, down, "none", "S(43200)"},
		{"a maxDrift onto a tick, latest", "0 * * * *", 3 * hour, 0, 0, "latest", "R(0,2,2)"},
		{"a maxDrift onto a tick, none", "0 * * * *", 3 * hour, 0, 0, "none", "S(2)R(0,0,0)"},
		{"a maxDrift onto a tick, all", "0 * * * *", 3 * hour, 0, 0, "all", "r(2,0,0)r(1,0,0)R(0,0,0)"},
		{"a blocked loop, none", "* * * * *", 3 * time.Minute, 10 * time.Second, hour, "none", "S(2)R(0,0,0)"},
		{"a cursor ahead", "* * * * *", -hour, 0, hour, "all", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tm := readTiming(t, c.cron, "", c.catchUp)
			now := begin.Add(c.now)
			up := now.Add(-c.up)
			if c.up == down {
				up = now
			}
			cursor := now.Add(-c.cursor)
			if got := describe(tm.due(cursor, now, up), ticksBetween(tm, cursor, now)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestDueAllIsCapped(t *testing.T) {
	tm := readTiming(t, "* * * * *", "", "all")
	for _, c := range []struct {
		ticks  int
		onTime bool
		runs   int
	}{{99, false, 99}, {100, false, 100}, {101, false, 100}, {5000, false, 100}, {100, true, 100}, {101, true, 101}, {102, true, 101}} {
		t.Run(fmt.Sprint(c.ticks, " ", c.onTime), func(t *testing.T) {
			now := begin
			up := now.Add(time.Second)
			if c.onTime {
				up = now
			}
			cursor := now.Add(-time.Duration(c.ticks) * time.Minute)
			steps := tm.due(cursor, now, up)
			if len(steps) != c.runs {
				t.Errorf("%d ticks: %d runs, want %d", c.ticks, len(steps), c.runs)
			}
			rest := c.ticks - c.runs
			if steps[0].missed != rest || (rest == 0) != (steps[0].skipped == nil) {
				t.Errorf("%d ticks: the first represents %d", c.ticks, steps[0].missed)
			}
			if rest > 0 && (!steps[0].skipped.first.Equal(cursor.Add(time.Minute)) || !steps[0].skipped.last.Equal(steps[0].at.Add(-time.Minute)) || steps[0].skipped.count != rest) {
				t.Errorf("%d ticks: left %s", c.ticks, steps[0].skipped)
			}
			for i, s := range steps {
				if want := now.Add(-time.Duration(len(steps)-1-i) * time.Minute); !s.at.Equal(want) || i > 0 && (s.missed != 0 || s.skipped != nil) || s.late == (c.onTime && i == len(steps)-1) {
					t.Errorf("%d ticks: step %d is %+v, want %v", c.ticks, i, s, want)
				}
			}
		})
	}
}

// Every due tick is in exactly one step, in order, over changes of daylight
// saving, whichever way an outage lies; and a server that stops after any step
// does the same as one that does not.
func TestDueCoversEveryTickOnce(t *testing.T) {
	t.Parallel()
	zones := []string{"", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo"}
	for _, zone := range zones {
		for _, expression := range []string{"30 2 * * *", "*/20 * * * *", "0 */3 * * *", "15 0,1,2,3 * * 0", "0 0 29 3 *"} {
			for _, catchUp := range []string{"latest", "all", "none"} {
				tm := readTiming(t, expression, zone, catchUp)
				for _, start := range []string{"2026-03-28T22:10:00Z", "2026-03-07T20:00:00Z", "2026-10-24T22:00:30Z", "2026-04-04T10:00:00Z", "2011-12-29T00:00:00Z"} {
					cursor, _ := time.Parse(time.RFC3339, start)
					for _, outage := range []time.Duration{time.Minute, 5 * time.Hour, 26 * time.Hour, 9 * 24 * time.Hour} {
						now := cursor.Add(outage)
						checkCover(t, tm, cursor, now, now.Add(time.Second))
						checkCover(t, tm, cursor, now, cursor)
					}
				}
			}
		}
	}
}

func checkCover(t *testing.T, tm *Timing, cursor, now, up time.Time) {
	t.Helper()
	ticks := ticksBetween(tm, cursor, now)
	steps := tm.due(cursor, now, up)
	at, runs := 0, 0
	for i, s := range steps {
		// Going on from here gives the same, but for the cap of "all".
		if again := tm.due(cursor, now, up); len(ticks) <= maxCatchUp && describe(again, ticks) != describe(steps[i:], ticks) {
			t.Fatalf("%s after step %d: %s, not %s", tm.Expression, i, describe(again, ticks), describe(steps[i:], ticks))
		}
		if s.skipped != nil {
			if s.skipped.count < 1 || !s.skipped.first.Equal(ticks[at]) || !s.skipped.last.Equal(ticks[at+s.skipped.count-1]) {
				t.Fatalf("%s: left %s, ticks from %s; want count at least 1, %v and %v", tm.Expression, s.skipped, ticks[at], ticks[at], ticks[at+s.skipped.count-1])
			}
			at += s.skipped.count
		}
		if !s.at.IsZero() {
			if !s.at.Equal(ticks[at]) {
				t.Fatalf("%s: step %d runs %s, not %s", tm.Expression, i, s.at, ticks[at])
			}
			runs++
			at++
		}
		cursor = s.end()
	}
	if at != len(ticks) {
		t.Fatalf("%s: %d of %d ticks are decided", tm.Expression, at, len(ticks))
	}
	if tm.CatchUp == "latest" && runs != min(1, len(ticks)) || tm.CatchUp == "none" && runs > 1 {
		t.Fatalf("%s, %s: %d runs", tm.Expression, tm.CatchUp, runs)
	}
}
