package explain

import "blueprintd/blueprint"

// UnclearRow gives the id of the row whose cure is told, "" for none: the newest
// one that matters, when that was refused or its run failed or goes on, or was
// left out and none of the others started a run. At is the instant that is asked
// about, zero for the present.
func (q *Question) UnclearRow(at blueprint.Time) string {
	if row := q.unclear(at); row != nil {
		return row.ID
	}
	return ""
}

func (q *Question) unclear(at blueprint.Time) *blueprint.LedgerRow {
	rows := q.Rows
	if at != 0 && q.Story.Trigger.Type == blueprint.TriggerScheduled {
		// Of a tick, the last word counts.
		if rows = q.about(at - at%60_000); len(rows) > 1 {
			rows = rows[len(rows)-1:]
		}
	}
	started := false
	for i := range rows {
		row := &rows[i]
		switch {
		case row.Decision == blueprint.DecisionRefused && (at != 0 || i == 0):
			return row
		case row.Decision == blueprint.DecisionStarted && row.Run != nil && row.Run.Status != blueprint.StatusCompleted && row.Run.Status != blueprint.StatusNotFound && (at != 0 || i == 0):
			return row
		}
		started = started || row.Decision == blueprint.DecisionStarted || row.Decision == blueprint.DecisionDuplicate
	}
	if !started && len(rows) > 0 && rows[0].Decision == blueprint.DecisionSkipped {
		return &rows[0]
	}
	return nil
}

// cure says what to do about the unclear row, as Explain does; "" without one.
func (q *Question) cure(at blueprint.Time) string {
	row := q.unclear(at)
	if row == nil {
		return ""
	}
	story := q.Unclear
	if story == nil || story.Firing.ID != row.ID {
		story = &blueprint.FiringStory{Firing: row.Firing, Trigger: q.Story.Trigger, Tripped: q.Story.Tripped, Unfinished: q.Story.Unfinished}
	}
	if row.Run != nil {
		known := *story // its error was looked up for the row
		known.Run = row.Run
		story = &known
	}
	return Firing(story, q.Now).Next
}

// startServer is how to have ticks decided again.
const startServer = "start a server on this database: it then catches up as config.catchUp says"
