package api

import (
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/triggers"
)

func TestSchedulesCheck(t *testing.T) {
	t.Parallel()
	at := blueprint.TimeOf(noon)
	for _, test := range []struct {
		stats triggers.Stats
		first []triggers.OverdueSchedule
		says  string // all of the detail
		hint  string
	}{
		{triggers.Stats{}, nil, "none overdue, 0 ticks missed since the start", ""},
		{triggers.Stats{Missed: 5, Watched: at}, nil, "none overdue, 5 ticks missed since the start, looked at all at " + at.String(), ""},
		{triggers.Stats{Missed: 5, WatchError: "the disk is full"}, nil, "whether they fire could not be looked at: the disk is full", "look at the disk"},
		{triggers.Stats{Overdue: 5}, []triggers.OverdueSchedule{{TriggerID: "a", Since: at}, {TriggerID: "b", Since: at + 1000}},
			"5 overdue: a since " + at.String() + ", b since " + (at + 1000).String() + ", and 3 more", "start the server anew"},
		{triggers.Stats{Overdue: 1, WatchError: "x"}, []triggers.OverdueSchedule{{TriggerID: "a"}}, "1 overdue: a cannot be read", "update the config"},
	} {
		got := server.SchedulesCheck(test.stats, test.first)
		if got.Detail != test.says || !strings.Contains(got.Hint, test.hint) || got.OK != (test.hint == "") || got.OK != (got.Hint == "") {
			t.Errorf("%+v: %+v", test.stats, got)
		}
	}
}
