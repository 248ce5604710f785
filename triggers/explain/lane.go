package explain

import (
	"fmt"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

// occupied tells what holds the runs of a trigger back that stand, and what to do
// about that; "" while nothing stands, and nobody has to answer. Runs are those
// that have not ended, the oldest first: as many as the limit allows have begun.
func (t phrase) occupied(trigger *blueprint.Trigger, runs []blueprint.UnfinishedRun) (text, next string) {
	lane := triggers.LaneOf(trigger)
	if lane == nil || len(runs) < lane.Limit {
		return "", ""
	}
	first := runs[0]
	if at := slices.IndexFunc(runs[:lane.Limit], func(run blueprint.UnfinishedRun) bool { return run.Status == blueprint.StatusPaused }); at >= 0 {
		first = runs[at]
	}
	standing := len(runs) - lane.Limit
	if standing == 0 && first.Status != blueprint.StatusPaused {
		return "", ""
	}
	text = fmt.Sprintf("config.concurrency allows %s at a time; ", counted(lane.Limit, "run"))
	if first.Status == blueprint.StatusPaused {
		text += first.ExecutionID + " has been paused since " + t.time(first.UpdatedAt)
		next = "answer " + first.ExecutionID + " (execution.resume) or cancel it (execution.cancel)"
	} else {
		text += first.ExecutionID + " has been running since " + t.time(first.CreatedAt)
		next = "wait until " + first.ExecutionID + " has ended, or cancel it (execution.cancel); a higher config.concurrency.limit lets more go on at once"
	}
	switch {
	case standing == 1:
		text += " and 1 waits behind it"
	case standing > 1:
		text += fmt.Sprintf(" and %d wait behind it", standing)
	}
	return text, next
}

// standing tells why a run that has not ended has not begun; "" when it has, or
// nothing holds others back. Of one that holds others back it tells only that.
func (t phrase) standing(story *blueprint.FiringStory) (text, next string) {
	lane := triggers.LaneOf(&story.Trigger)
	if story.Run == nil || story.Run.Status.Terminal() || lane == nil {
		return "", ""
	}
	at := slices.IndexFunc(story.Unfinished, func(run blueprint.UnfinishedRun) bool { return run.ExecutionID == story.Run.ExecutionID })
	if at < 0 {
		return "", ""
	}
	text, next = t.occupied(&story.Trigger, story.Unfinished)
	if at < lane.Limit && story.Run.Status != blueprint.StatusPaused {
		next = ""
	}
	return text, next
}

// stands tells whether a run waits for its turn, as far as can be told.
func stands(story *blueprint.FiringStory) bool {
	lane := triggers.LaneOf(&story.Trigger)
	if story.Run == nil || lane == nil || len(story.Unfinished) <= lane.Limit {
		return false
	}
	return slices.ContainsFunc(story.Unfinished[lane.Limit:], func(run blueprint.UnfinishedRun) bool { return run.ExecutionID == story.Run.ExecutionID })
}
