package triggers

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// calendar is a schedule as the model knows it: which readings of the wall clock
// suit it, in Go instead of cron.
type calendar struct {
	cron, zone string
	readings   bool // each reading fires once; else every real minute that suits
	suits      func(wall time.Time) bool
	ticks      func() []time.Time // from 2025-12 to 2027-03, by brute force
}

// The first and the last instant of every model.
var (
	eraBegins = time.Date(2025, 11, 1, 0, 0, 0, 0, time.UTC)
	eraEnds   = time.Date(2027, 4, 1, 0, 0, 0, 0, time.UTC)
)

func minuteIn(t time.Time, minutes ...int) bool { return slices.Contains(minutes, t.Minute()) }

// calendars are dense and sparse, with and without daylight saving.
var calendars = []*calendar{
	{cron: "* * * * *", suits: func(time.Time) bool { return true }},
	{cron: "*/5 * * * *", suits: func(t time.Time) bool { return t.Minute()%5 == 0 }},
	{cron: "0 * * * *", suits: func(t time.Time) bool { return minuteIn(t, 0) }},
	{cron: "30 2 * * *", zone: "Europe/Berlin", readings: true, suits: func(t time.Time) bool { return minuteIn(t, 30) && t.Hour() == 2 }},
	{cron: "*/30 1-3 * * *", zone: "America/New_York", suits: func(t time.Time) bool { return minuteIn(t, 0, 30) && t.Hour() >= 1 && t.Hour() <= 3 }},
	{cron: "15,45 0-4 * * *", zone: "Australia/Lord_Howe", readings: true, suits: func(t time.Time) bool { return minuteIn(t, 15, 45) && t.Hour() <= 4 }},
	{cron: "0 9 * * 1-5", zone: "Europe/Berlin", readings: true, suits: func(t time.Time) bool {
		return minuteIn(t, 0) && t.Hour() == 9 && t.Weekday() >= time.Monday && t.Weekday() <= time.Friday
	}},
	{cron: "0 0 1 * *", readings: true, suits: func(t time.Time) bool { return minuteIn(t, 0) && t.Hour() == 0 && t.Day() == 1 }},
}

func init() {
	for _, c := range calendars {
		c.ticks = sync.OnceValue(c.walk)
	}
}

// walk goes through all minutes of the era.
func (c *calendar) walk() (ticks []time.Time) {
	zone, err := time.LoadLocation(c.zone)
	if err != nil {
		panic(err)
	}
	wall := func(at time.Time) time.Time { // what the clock on the wall shows, as if it were UTC
		_, offset := at.In(zone).Zone()
		return at.Add(time.Duration(offset) * time.Second)
	}
	if !c.readings {
		for at := eraBegins; at.Before(eraEnds); at = at.Add(time.Minute) {
			if c.suits(wall(at)) {
				ticks = append(ticks, at)
			}
		}
		return ticks
	}
	const day = 24 * time.Hour                                             // no zone is further from UTC
	shown := make([]time.Time, (eraEnds.Sub(eraBegins)+2*day)/time.Minute) // when a reading is shown first
	first := func(reading time.Time) *time.Time { return &shown[reading.Sub(eraBegins.Add(-day))/time.Minute] }
	for at := eraBegins; at.Before(eraEnds); at = at.Add(time.Minute) {
		if known := first(wall(at)); known.IsZero() {
			*known = at
		}
	}
	for reading := wall(eraBegins); reading.Before(wall(eraEnds.Add(-day))); reading = reading.Add(time.Minute) {
		if !c.suits(reading) {
			continue
		}
		there := reading
		for first(there).IsZero() { // in a gap
			there = there.Add(time.Minute)
		}
		if at := *first(there); len(ticks) == 0 || !at.Equal(ticks[len(ticks)-1]) {
			ticks = append(ticks, at)
		}
	}
	return ticks
}

// modelled is a schedule and what must have become of its ticks.
type modelled struct {
	*calendar
	id      string
	catchUp string
	off     bool
	cursor  time.Time
	rows    []string
	events  []string
	late    int // ticks for which no run was started on time
}

func span(ticks []time.Time) string {
	return fmt.Sprintf("%d %s..%s", len(ticks), instant(ticks[0]), instant(ticks[len(ticks)-1]))
}

// left writes the row for ticks without a run.
func (m *modelled) left(decision string, ticks []time.Time) {
	if len(ticks) > 0 {
		m.rows = append(m.rows, decision+" "+span(ticks))
	}
}

// missed writes the event about ticks that were not on time.
func (m *modelled) missed(decision string, ticks []time.Time) {
	if len(ticks) > 0 {
		m.events = append(m.events, decision+" "+span(ticks))
		m.late += len(ticks)
	}
}

// run writes the row of a run.
func (m *modelled) run(at time.Time, late bool, others int) {
	m.rows = append(m.rows, fmt.Sprintf("started %s late=%v missed=%d", instant(at), late, others))
}

// next returns the first tick that is not decided.
func (m *modelled) next() time.Time {
	ticks := m.ticks()
	i, _ := slices.BinarySearchFunc(ticks, m.cursor.Add(1), time.Time.Compare)
	if m.off || i == len(ticks) {
		return eraEnds
	}
	return ticks[i]
}

// look is what the server does when it looks at the clock, having been up since
// an instant: the rules of config.catchUp, for the ticks after the cursor.
func (m *modelled) look(now, up time.Time) {
	if m.off {
		return
	}
	ticks := m.ticks()
	low, _ := slices.BinarySearchFunc(ticks, m.cursor.Add(1), time.Time.Compare)
	high, _ := slices.BinarySearchFunc(ticks, now.Add(1), time.Time.Compare)
	if high <= low {
		return
	}
	missed := ticks[low:high]
	last := missed[len(missed)-1]
	m.cursor = last
	met := !last.Before(up) && now.Sub(last) < time.Minute
	if met {
		missed = missed[:len(missed)-1]
	}
	switch {
	case m.catchUp == "none":
		m.left("skipped", missed)
		m.missed("skipped", missed)
	case m.catchUp == "latest" && met:
		m.left("coalesced", missed)
		m.missed("coalesced", missed)
		m.run(last, false, len(missed))
		return
	default:
		most := 1
		if m.catchUp == "all" {
			most = 100
		}
		rest := missed[:max(0, len(missed)-most)]
		m.left("coalesced", rest)
		for i, at := range missed[len(rest):] {
			switch {
			case i == 0 && len(rest) > 0:
				m.run(at, true, len(rest))
				m.missed("coalesced", missed)
			case i == 0:
				m.run(at, true, 0)
				m.missed("late", missed)
			default:
				m.run(at, true, 0)
			}
		}
	}
	if met {
		m.run(last, false, 0)
	}
}

// told returns what the memory holds of a schedule, as the model writes it.
func (m *modelled) told(disk *memory) (rows, events []string) {
	inputs := map[string]map[string]any{}
	for _, request := range disk.runs() {
		if request.Firing.TriggerID == m.id {
			inputs[request.Firing.Key] = request.InputData.(map[string]any)
		}
	}
	for _, row := range disk.snapshot() {
		switch {
		case row.TriggerID != m.id:
		case row.Decision == blueprint.DecisionStarted:
			rows = append(rows, fmt.Sprintf("started %s late=%v missed=%s", row.DueAt, row.Reason != "on time", inputs[row.Key]["missedCount"]))
		default:
			first := row.DueAt.String()
			if _, after, several := strings.Cut(row.Reason, "ticks from "); several {
				first, _, _ = strings.Cut(after, " ")
			}
			rows = append(rows, fmt.Sprintf("%s %d %s..%s", row.Decision, lotCount(row), first, row.DueAt))
		}
	}
	disk.mu.Lock()
	defer disk.mu.Unlock()
	for i := range disk.events {
		if data := disk.events[i].Data.(map[string]any); data["triggerId"] == m.id {
			events = append(events, fmt.Sprintf("%s %s %s..%s", data["decision"], data["missed"], data["firstDueAt"], data["lastDueAt"]))
		}
	}
	return rows, events
}

// compare holds the memory against the model.
func (m *modelled) compare(t testing.TB, disk *memory) {
	t.Helper()
	rows, events := m.told(disk)
	differ := func(what string, got, want []string) {
		t.Helper()
		if slices.Equal(got, want) {
			return
		}
		i := 0
		for i < min(len(got), len(want)) && got[i] == want[i] {
			i++
		}
		t.Errorf("%s in %q, catchUp %s: %d %s, want %d; from the %d. on:\n%q\nwant\n%q", m.cron, m.zone, m.catchUp, len(got), what, len(want), i, got[i:min(i+3, len(got))], want[i:min(i+3, len(want))])
	}
	differ("rows", rows, m.rows)
	differ("events", events, m.events)
}
