package explain

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

// Present answers how a trigger is: whether it works, its latest firings, and what to
// do about it.
func (q *Question) Present() *Answer {
	w, words := q.answer()
	story := q.Story
	switch {
	case story.Tripped != nil:
		w.say("The server switched it off: %s", sentence(story.Tripped.String()))
		w.Next = whenTripped(&story.Trigger, story.Tripped.ExecutionID)
	case !story.Trigger.IsActive:
		w.say("It is switched off: nothing starts it.")
		w.Next = "switch it on: blueprintTriggers.update {isActive: true}"
	case !story.CanManage:
		w.say("It is active, but every firing is refused: its creator can no longer manage the blueprint.")
		w.Next = "give its creator access again, or create the trigger again as a user who can manage the blueprint"
	default:
		w.say("It is active.")
	}
	q.clock(w, words)
	switch story.Failures {
	case 0:
	case 1:
		w.say("Its last run failed.")
	default:
		w.say("Its last %d runs failed.", story.Failures)
	}
	if story.Trigger.Type == blueprint.TriggerScheduled {
		q.schedule(w, words)
	}
	q.sums(w, words)
	if text, next := words.occupied(&story.Trigger, story.Unfinished); text != "" {
		w.say("Its limit is reached: %s", stopped(text))
		w.Next = cmp.Or(w.Next, next)
	}
	switch {
	case story.Firings == 0 && w.Next == "" && len(w.Ticks) > 0:
		w.say("The ledger has no firing of it.")
		w.Next = "nothing yet: first due " + words.time(w.Ticks[0])
		if q.Unserved {
			w.Next += "; a server must be running on this database then, and none is"
		}
	case story.Firings == 0:
		w.say("The ledger has no firing of it.")
		if w.Next == "" {
			w.Next = triggers.KindOf(story.Trigger.Type).NeverFired
		}
	case w.Next == "":
		w.Next = q.cure(0)
	}
	w.list(words, q.Rows)
	return w
}

// schedule says when a schedule is due, and whether it is late.
func (q *Question) schedule(w *Answer, words phrase) {
	config := q.Story.Trigger.Config
	timing, issues := triggers.ReadSchedule(config)
	if len(issues) > 0 {
		w.say("Its config cannot be read, so it does not fire: %s", sentence(blueprint.InvalidInput(issues).Message))
		w.Next = "fix its config with blueprintTriggers.update"
		return
	}
	w.say("It is due at %q in the time zone %s; missed ticks: %q.", timing.Expression, words.zone, timing.CatchUp)
	if !q.Story.Trigger.IsActive {
		return
	}
	cursor := q.Story.Cursor.Time()
	now, foreign := q.present()
	first, ok := timing.Schedule.Next(cursor, timing.Zone)
	if late := q.Now.Sub(first); ok && !foreign && (late > triggers.OverdueAfter || late > 0 && q.Unserved) {
		others := "is"
		if _, total := timing.Schedule.Between(cursor, q.Now, timing.Zone, 0); total > 1 {
			others = fmt.Sprintf("and %d after it are", total-1)
		}
		w.say("It is overdue: the tick of %s %s undecided.", words.time(blueprint.TimeOf(first)), others)
		if q.Unserved {
			w.say("No server is running on this database.")
			w.Next = startServer
		} else {
			w.Next = "check that a server is running on this database; when it starts, it catches up according to config.catchUp"
		}
	} else if ahead := cursor.Sub(q.Now); ahead > triggers.OverdueAfter {
		w.say("All ticks up to %s are decided, which lies ahead of the clock: it is silent until then.", words.time(q.Story.Cursor))
	}
	after := now
	if cursor.After(after) {
		after = cursor
	}
	var later []string
	for len(w.Ticks) < ticksAhead {
		tick, ok := timing.Schedule.Next(after, timing.Zone)
		if !ok {
			break
		}
		w.Ticks = append(w.Ticks, blueprint.TimeOf(tick))
		later = append(later, words.time(blueprint.TimeOf(tick)))
		after = tick
	}
	if len(later) > 0 {
		w.say("The next tick is due %s.", later[0])
	}
	if len(later) > 1 {
		w.say("After that: %s.", strings.Join(later[1:], ", "))
	}
}

// sums summarizes the firings of the last 24 hours.
func (q *Question) sums(w *Answer, words phrase) {
	if q.Story.Firings == 0 {
		return
	}
	total := 0
	for _, c := range q.Counts {
		total += c.Count
	}
	if total == 0 {
		w.say("Nothing fired it in the last 24 hours.")
		return
	}
	w.say("In the last 24 hours the ledger recorded %s:", counted(total, "row"))
	for _, c := range q.Counts {
		text := "  " + numberOf(c.Count) + " " + string(c.Decision)
		if c.Redelivery {
			text = fmt.Sprintf("  %d %s %s", c.Count, map[bool]string{true: "redelivery", false: "redeliveries"}[c.Count == 1], c.Decision)
		} else if reason := c.Why.String(); reason != "" {
			text += ": " + reason
		}
		w.say("%s (last %s)", text, words.time(c.Last))
	}
}

// Day is how far back Question.Counts reach.
const Day = 24 * time.Hour

// UnclearRow returns the id of the row that needs advice, "" for none: the newest
// relevant one if it was refused or its run failed or is unfinished, or if it was skipped
// and no other row started a run. At is the instant of the question, zero for the
// present.
func (q *Question) UnclearRow(at blueprint.Time) string {
	if row := q.unclear(at); row != nil {
		return row.ID
	}
	return ""
}

func (q *Question) unclear(at blueprint.Time) *blueprint.LedgerRow {
	rows := q.Rows
	if at != 0 && q.Story.Trigger.Type == blueprint.TriggerScheduled {
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

// cure returns the advice of Firing about the unclear row; "" without one.
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
		known := *story // the row has the error of the run
		known.Run = row.Run
		story = &known
	}
	return Firing(story, q.Now).Next
}

const startServer = "start a server on this database: it then catches up as config.catchUp says"
