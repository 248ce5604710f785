package simulation

import (
	"fmt"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// The rules for missed ticks.
var catchUps = []string{"latest", "all", "none"}

// schedule is the oracle's knowledge of a schedule.
type schedule struct {
	trigger   string
	name      string
	period    time.Duration
	catchUp   string
	cursor    blueprint.Time // every tick up to it is decided
	blueprint *simBlueprint
	active    bool
	changed   bool           // while the scheduler waited for the disk
	changedAt blueprint.Time // time of the last change
}

// newSchedule creates a schedule on the disk.
func (w *world) newSchedule(b *simBlueprint, number int) *schedule {
	t := &schedule{name: fmt.Sprintf("schedule%d", number), cursor: blueprint.TimeOf(w.now()), active: true, blueprint: b}
	t.trigger = w.disk.addTrigger(b, blueprint.TriggerScheduled, w.newTiming(t), t.cursor)
	return t
}

// newTiming chooses when a schedule is due, and returns its config.
func (w *world) newTiming(t *schedule) map[string]any {
	t.period, t.catchUp = time.Duration([]int{1, 1, 2, 5}[w.IntN(4)])*time.Minute, catchUps[w.IntN(3)]
	w.skipsTicks = w.skipsTicks || t.catchUp == "none"
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
func (w *world) edit(t *schedule) {
	if w.cluster != nil && (w.schedulerBusy() || w.disk.isUnreadable() || !w.isUndisturbed()) {
		return // it would be chance when the process with the duties reads the change
	}
	was := t.active
	if busy := w.schedulerBusy() || w.disk.isUnreadable(); busy && (t.changed || !t.active) {
		return
	} else if t.changed = true; !t.active || w.chance(50) {
		t.active = !t.active
	}
	var config map[string]any
	period, catchUp := t.period, t.catchUp
	if t.active {
		config = w.newTiming(t)
		if was && t.period == period && t.catchUp == catchUp {
			return
		}
	}
	t.changedAt = blueprint.TimeOf(w.now())
	t.cursor = max(t.cursor, t.changedAt)
	w.tracef("%s is changed: %s every %s, active %v", t.name, t.catchUp, t.period, t.active)
	w.count("changed schedules")
	w.disk.editTrigger(t.trigger, config, t.active, t.changedAt)
	for _, p := range w.readyProcesses() {
		p.triggers.Changed()
	}
}

// schedulerBusy reports whether the scheduler may be waiting for the disk.
func (w *world) schedulerBusy() bool {
	scheduled := func(blueprintID string) bool {
		return slices.ContainsFunc(w.schedules, func(t *schedule) bool { return t.blueprint.definition.BlueprintID == blueprintID })
	}
	return slices.ContainsFunc(w.writes, func(one *write) bool {
		return one.cursor != 0 || one.commit != nil && one.commit.Cursor != 0
	}) || slices.ContainsFunc(w.visits, func(v *visit) bool {
		return scheduled(v.task.BlueprintID) && w.disk.stored(v.task.ExecutionID) == nil
	})
}

// between counts the ticks after one instant, up to and including another.
func (t *schedule) between(after, to blueprint.Time) int {
	period := blueprint.Time(t.period.Milliseconds())
	return int(max(0, to/period-after/period))
}

// isTick reports whether the schedule is due at an instant.
func (t *schedule) isTick(at blueprint.Time) bool {
	return at%blueprint.Time(t.period.Milliseconds()) == 0
}

// checkTicks checks the decisions about ticks: each once, in order, by the rule. rows are the
// ledger rows of one commit, and cursor is the new cursor of the schedule; missed is the
// missedCount of the run.
func (w *world) checkTicks(t *schedule, rows []blueprint.Firing, cursor blueprint.Time, missed string) {
	wrong := func(format string, args ...any) {
		w.fail("I7: %s (%s every %s) at %s, cursor %s: %s", t.name, t.catchUp, t.period, t.cursor, cursor, fmt.Sprintf(format, args...))
	}
	count := t.between(t.cursor, cursor)
	last := &rows[len(rows)-1]
	if last.ReceivedAt <= t.changedAt {
		return // it was pending when the schedule was changed
	}
	if !t.active {
		wrong("a tick of an inactive schedule is decided as %s", last.Decision)
	}
	isTick := cursor > t.cursor && count > 0 && t.isTick(cursor)
	if !isTick || last.DueAt != cursor || last.Key != cursor.String() {
		wrong("the tick %s is decided twice or is not a tick", last.Key)
		return
	}
	if cursor > last.ReceivedAt {
		wrong("a tick is decided at %s, before it is due", last.ReceivedAt)
	}
	w.report.Saw["ticks coalesced"] += len(rows) - 1
	w.count("ticks " + string(last.Decision))
	switch last.Decision {
	case blueprint.DecisionStarted:
		coalesced := len(rows) > 1
		switch {
		case coalesced != (count > 1), missed != fmt.Sprint(count-1):
			wrong("%d ticks pass with %d rows, but the missedCount of the run is %s", count, len(rows), missed)
		case coalesced && (rows[0].Decision != blueprint.DecisionCoalesced || rows[0].Why.Code != blueprint.ReasonCoalesced || rows[0].Why.Int("count") != count-1):
			wrong("%d ticks pass, but the row says %s: %s", count, rows[0].Decision, rows[0].Reason)
		case t.catchUp == "latest" && t.between(cursor, last.ReceivedAt) > 0 && !w.skipsTicks && w.cluster == nil: // the disk may be delayed by ticks that another schedule skips, and a tick by a take-over
			wrong("a later tick was due at %s", last.ReceivedAt)
		case t.catchUp == "none" && (coalesced || last.Why.Code != blueprint.ReasonOnTime):
			wrong("a missed tick runs: %s", last.Reason)
		case t.catchUp == "all" && coalesced && t.between(t.cursor, last.ReceivedAt) <= 100:
			wrong("%d ticks are coalesced of %d", count-1, t.between(t.cursor, last.ReceivedAt))
		}
	case blueprint.DecisionSkipped:
		if t.catchUp != "none" || len(rows) > 1 {
			wrong("%d ticks are skipped: %s", count, last.Reason)
		} else if last.Why.Code != blueprint.ReasonMissed || last.Why.Int("count") != count {
			wrong("%d ticks are skipped, and the row says: %s", count, last.Reason)
		}
	case blueprint.DecisionRefused:
		if w.permanentRefusals == 0 {
			wrong("a tick is refused: %s", last.Reason)
		}
	default:
		wrong("a tick is decided as %s: %s", last.Decision, last.Reason)
	}
	t.cursor = cursor
}

// checkAllDecided checks that no due tick is left.
func (w *world) checkAllDecided() {
	now := blueprint.TimeOf(w.now())
	for _, t := range w.schedules {
		if left := t.between(t.cursor, now); t.active && left > 0 {
			w.fail("I7: %s (%s every %s) is at %s, and %d ticks up to %s are not decided", t.name, t.catchUp, t.period, t.cursor, left, now)
		}
	}
}
