package triggers

import (
	"testing"
	"testing/synctest"
	"time"

	"blueprintd/blueprint"
)

// every makes a schedule of each calendar with each rule.
func every(disk *memory, at time.Time) (all []*modelled) {
	for _, c := range calendars {
		for _, catchUp := range []string{"latest", "all", "none"} {
			all = append(all, modelledOn(disk, c, catchUp, at))
		}
	}
	return all
}

func modelledOn(disk *memory, c *calendar, catchUp string, at time.Time) *modelled {
	id := disk.trigger(blueprint.TriggerScheduled, schedule(c.cron, "timezone", c.zone, "catchUp", catchUp), at)
	return &modelled{calendar: c, id: id, catchUp: catchUp, cursor: at}
}

// TestOutagesAgainstTheModel stops the server for a minute to a month, also
// over changes of daylight saving, with an hour of service on either side.
func TestOutagesAgainstTheModel(t *testing.T) {
	day := 24 * time.Hour
	for _, from := range []string{
		"2026-06-09T08:59:10Z", "2026-03-28T23:30:20Z", "2026-10-24T23:10:00Z", // and in Berlin
		"2026-03-08T05:30:00Z", "2026-11-01T04:20:40Z", // in New York
		"2026-04-04T13:10:50Z", "2026-10-03T14:40:00Z", // on Lord Howe Island
	} {
		for _, outage := range []time.Duration{time.Minute, 10 * time.Minute, time.Hour, day, 7 * day, 31 * day} {
			synctest.Test(t, func(t *testing.T) {
				began, err := time.Parse(time.RFC3339, from)
				if err != nil {
					t.Fatal(err)
				}
				disk, m := newMemory(), newMachine(began)
				all := every(disk, began)
				missed := int64(0)
				for range 2 {
					up := m.Now()
					s := newService(disk, m)
					stop := bring(t, s)
					pass(time.Hour)
					stop()
					late := int64(0)
					for _, one := range all {
						before := one.late
						one.look(up, up)
						for next := one.next(); !next.After(m.Now()); next = one.next() {
							one.look(next, up)
						}
						late += int64(one.late - before)
					}
					if missed = s.Stats().Missed; missed != late {
						t.Errorf("%d ticks are counted as missed, want %d", missed, late)
					}
					pass(outage)
				}
				for _, one := range all {
					one.compare(t, disk)
				}
				if t.Failed() {
					t.Fatalf("with an outage of %v an hour after %s", outage, from)
				}
			})
		}
	}
}
