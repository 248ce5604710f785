package explain

import (
	"time"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

// longAgo is how far an active schedule's newest trace may lie back before it
// is rather of another clock than silent for so long.
const longAgo = 2 * 365 * Day

// present gives the present of the database: the asker's clock, unless what is
// stored seems to be of another one, such as a virtual clock. The newest that is
// stored stands in then.
func (q *Question) present() (now time.Time, foreign bool) {
	story := q.Story
	newest := max(story.CreatedAt, story.Cursor)
	for i := range q.Rows {
		newest = max(newest, q.Rows[i].ReceivedAt)
	}
	for i := range q.Counts {
		newest = max(newest, q.Counts[i].Last)
	}
	ahead := newest.Time().Sub(q.Now)
	if ahead > triggers.OverdueAfter || ahead < -longAgo && story.Trigger.Type == blueprint.TriggerScheduled && story.Trigger.IsActive {
		return newest.Time(), true
	}
	return q.Now, false
}

// clock says when the database seems to be of another clock.
func (q *Question) clock(w *Answer, words phrase) {
	if newest, foreign := q.present(); foreign {
		w.say("The database seems to follow another clock, such as that of a server with --clock virtual, or this clock was changed: it says %s, and the newest entry about the trigger is from %s.",
			words.time(blueprint.TimeOf(q.Now)), words.time(blueprint.TimeOf(newest)))
	}
}
