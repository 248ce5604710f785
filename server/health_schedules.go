package server

import (
	"fmt"
	"strings"

	"blueprintd/triggers"
)

// mostNamed is how many overdue schedules a check names.
const mostNamed = 3

// checkSchedules tells whether every schedule fires, as the watchdog knows.
func (s *Server) checkSchedules() check {
	return SchedulesCheck(s.Triggers.Stats(), s.Triggers.Overdue(mostNamed))
}

// SchedulesCheck is that of some schedules, the first of which are named.
func SchedulesCheck(stats triggers.Stats, first []triggers.OverdueSchedule) check {
	c := check{Name: "schedules", OK: stats.Overdue == 0 && stats.WatchError == "", Detail: fmt.Sprintf("none overdue, %d ticks missed since the start", stats.Missed)}
	if stats.Watched != 0 {
		c.Detail += ", looked at all at " + stats.Watched.String()
	}
	if stats.WatchError != "" {
		c.Detail, c.Hint = "whether they fire could not be looked at: "+stats.WatchError, "look at the disk of the database"
	}
	if stats.Overdue == 0 {
		return c
	}
	var names []string
	unread := false
	for _, one := range first {
		if unread = unread || one.Since == 0; one.Since == 0 {
			names = append(names, one.TriggerID+" cannot be read")
			continue
		}
		names = append(names, one.TriggerID+" since "+one.Since.String())
	}
	if more := stats.Overdue - int64(len(names)); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	c.Detail = fmt.Sprintf("%d overdue: %s", stats.Overdue, strings.Join(names, ", "))
	c.Hint = "if database and queue are well, start the server anew"
	if unread {
		c.Hint = "update the config of those that cannot be read; for others, " + c.Hint
	}
	return c
}
