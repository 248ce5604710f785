package simulation

import (
	"fmt"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// The rules for missed ticks.
var catchUps = []string{"latest", "all", "none"}

// timetable is the oracle's knowledge of a schedule.
type timetable struct {
	trigger string
	name    string
	period  time.Duration
	catchUp string
	cursor  blueprint.Time // every tick up to it is decided
	book    *book
	active  bool
	changed bool           // while the scheduler waited for the disk
	edited  blueprint.Time // time of the last change
}

// newTimetable creates a schedule on the disk.
func (w *world) newTimetable(b *book, number int) *timetable {
	t := &timetable{name: fmt.Sprintf("schedule%d", number), cursor: blueprint.TimeOf(w.now()), active: true, book: b}
	t.trigger = w.disk.addTrigger(b, blueprint.TriggerScheduled, w.timing(t), t.cursor)
	return t
}

// timing chooses when a schedule is due, and returns its config.
func (w *world) timing(t *timetable) map[string]any {
	t.period, t.catchUp = time.Duration([]int{1, 1, 2, 5}[w.IntN(4)])*time.Minute, catchUps[w.IntN(3)]
	w.leavesOut = w.leavesOut || t.catchUp == "none"
	expression := "* * * * *"
	if t.period > time.Minute {
		expression = fmt.Sprintf("*/%d * * * *", int(t.period/time.Minute))
	}
	return map[string]any{"cron": expression, "catchUp": t.catchUp}
}

// edit activates, deactivates or changes a schedule, which restarts it at the current time.
// A schedule that is switched off and on again, or changed back, before the scheduler could
// read it (because it waits for the disk, or reads fail) continues as if nothing had
// happened, which is correct; so no schedule is changed twice in that time.
func (w *world) edit(t *timetable) {
	was := t.active
	if busy := w.ticking() || w.disk.isAway(); busy && (t.changed || !t.active) {
		return
	} else if t.changed = true; !t.active || w.chance(50) {
		t.active = !t.active
	}
	var config map[string]any
	period, catchUp := t.period, t.catchUp
	if t.active {
		config = w.timing(t)
		if was && t.period == period && t.catchUp == catchUp {
			return
		}
	}
	t.edited = blueprint.TimeOf(w.now())
	t.cursor = max(t.cursor, t.edited)
	w.tracef("%s is changed: %s every %s, active %v", t.name, t.catchUp, t.period, t.active)
	w.saw("changed schedules")
	w.disk.editTrigger(t.trigger, config, t.active, t.edited)
	if w.process != nil && w.process.isReady() {
		w.process.triggers.Changed()
	}
}

// ticking reports whether the scheduler may be waiting for the disk.
func (w *world) ticking() bool {
	scheduled := func(blueprintID string) bool {
		return slices.ContainsFunc(w.tables, func(t *timetable) bool { return t.book.definition.BlueprintID == blueprintID })
	}
	return slices.ContainsFunc(w.writes, func(one *write) bool {
		return one.cursor != 0 || one.commit != nil && one.commit.Cursor != 0
	}) || slices.ContainsFunc(w.visits, func(v *visit) bool {
		return scheduled(v.task.BlueprintID) && w.disk.stored(v.task.ExecutionID) == nil
	})
}

// between counts the ticks after one instant, up to and including another.
func (t *timetable) between(after, to blueprint.Time) int {
	period := blueprint.Time(t.period.Milliseconds())
	return int(max(0, to/period-after/period))
}

// isTick reports whether the schedule is due at an instant.
func (t *timetable) isTick(at blueprint.Time) bool {
	return at%blueprint.Time(t.period.Milliseconds()) == 0
}

// decided checks the decisions about ticks: each once, in order, by the rule. rows are the
// ledger rows of one commit, and cursor is the new cursor of the schedule; missed is the
// missedCount of the run.
func (w *world) decided(t *timetable, rows []blueprint.Firing, cursor blueprint.Time, missed string) {
	wrong := func(format string, args ...any) {
		w.fail("I7: %s (%s every %s) at %s, cursor %s: %s", t.name, t.catchUp, t.period, t.cursor, cursor, fmt.Sprintf(format, args...))
	}
	count := t.between(t.cursor, cursor)
	last := &rows[len(rows)-1]
	if last.ReceivedAt <= t.edited {
		return // it was pending when the schedule was changed
	}
	if !t.active {
		wrong("a tick of an inactive schedule ends as %s", last.Decision)
	}
	isTick := cursor > t.cursor && count > 0 && t.isTick(cursor)
	if !isTick || last.DueAt != cursor || last.Key != cursor.String() {
		wrong("the tick %s is decided again or is none", last.Key)
		return
	}
	if cursor > last.ReceivedAt {
		wrong("a tick is decided at %s, before it is due", last.ReceivedAt)
	}
	w.report.Saw["ticks coalesced"] += len(rows) - 1
	w.saw("ticks " + string(last.Decision))
	switch last.Decision {
	case blueprint.DecisionStarted:
		coalesced := len(rows) > 1
		switch {
		case coalesced != (count > 1), missed != fmt.Sprint(count-1):
			wrong("%d ticks pass, with %d rows, and the missedCount of the run is %s", count, len(rows), missed)
		case coalesced && (rows[0].Decision != blueprint.DecisionCoalesced || rows[0].Why.Code != blueprint.ReasonCoalesced || rows[0].Why.Int("count") != count-1):
			wrong("%d ticks pass, and the row says %s: %s", count, rows[0].Decision, rows[0].Reason)
		case t.catchUp == "latest" && t.between(cursor, last.ReceivedAt) > 0 && !w.leavesOut: // the disk may be delayed by what another schedule leaves out
			wrong("a later tick was due at %s", last.ReceivedAt)
		case t.catchUp == "none" && (coalesced || last.Why.Code != blueprint.ReasonOnTime):
			wrong("a missed tick runs: %s", last.Reason)
		case t.catchUp == "all" && coalesced && t.between(t.cursor, last.ReceivedAt) <= 100:
			wrong("%d ticks are coalesced of %d", count-1, t.between(t.cursor, last.ReceivedAt))
		}
	case blueprint.DecisionSkipped:
		if t.catchUp != "none" || len(rows) > 1 {
			wrong("%d ticks are left out: %s", count, last.Reason)
		} else if last.Why.Code != blueprint.ReasonMissed || last.Why.Int("count") != count {
			wrong("%d ticks are left out, and the row says: %s", count, last.Reason)
		}
	case blueprint.DecisionRefused:
		if w.hardFaults == 0 {
			wrong("a tick is refused: %s", last.Reason)
		}
	default:
		wrong("a tick ends as %s: %s", last.Decision, last.Reason)
	}
	t.cursor = cursor
}

// allDecided checks that no due tick is left.
func (w *world) allDecided() {
	now := blueprint.TimeOf(w.now())
	for _, t := range w.tables {
		if left := t.between(t.cursor, now); t.active && left > 0 {
			w.fail("I7: %s (%s every %s) is at %s, and %d ticks up to %s are not decided", t.name, t.catchUp, t.period, t.cursor, left, now)
		}
	}
}
