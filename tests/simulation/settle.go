package simulation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// The limits of settling without further faults.
const (
	maxRounds = 200_000
	maxIdle   = 80 // rounds in which only time passes
)

// settle ends all faults and waits until every run has ended. It answers questions.
func (w *world) settle() {
	w.tracef("no more faults")
	w.calm = true
	w.disk.setUnreadable(false)
	w.endFaults()
	isStopping := func(p *process) bool { return p.stopping }
	if slices.ContainsFunc(w.processes, isStopping) {
		w.drain(func() bool { return !slices.ContainsFunc(w.processes, isStopping) }, "I2: the process does not stop")
	}
	// Schedules come first: every due tick is decided.
	if begun := w.now(); w.maxRunning > 3 { // otherwise ticks may come faster than their runs end
		w.drain(func() bool {
			return len(w.processes) > 0 && len(w.writes) == 0 && w.now().Sub(begun) > 25*time.Second && w.allTicksDecided()
		}, "I7: a schedule does not settle")
		w.checkAllDecided()
	}
	if w.failed() {
		return
	}
	for _, t := range w.schedules {
		t.active, t.changedAt = false, blueprint.TimeOf(w.now())
		w.disk.editTrigger(t.trigger, nil, false, t.changedAt)
	}
	for _, p := range w.processes {
		p.triggers.Changed()
	}
	w.drain(w.isIdle, "")
	if !w.failed() && len(w.unfinished(false)) > 0 {
		for _, h := range w.unfinished(true) {
			w.traceState(h)
			w.fail("I2: %s neither ends nor waits for a user (it asks %v)", h.name, h.questions)
		}
		// Runs suspended by a damaged disk are resumed at the next start.
		w.stopAll()
		w.drain(func() bool { return len(w.processes) == 0 }, "I2: the process does not stop")
		w.drain(w.isIdle, "")
		for _, h := range w.unfinished(false) {
			w.fail("I2: %s neither ends nor waits for a user, even after a restart", h.name)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.acknowledged)) {
		if h := w.histories[id]; h == nil || !h.terminal {
			w.fail("I1: %s was acknowledged and did not end", w.nameOf(id))
		}
	}
}

// traceState writes the state of a run that does not end into the trace.
func (w *world) traceState(h *history) {
	x, err := w.viewer.View(w.ctx, w.disk.stored(h.id))
	if err != nil {
		w.tracef("%s cannot be read: %v", h.name, err)
		return
	}
	for i := range x.Steps {
		if s := &x.Steps[i]; s.Status == blueprint.StepRunning || s.Status == blueprint.StepPaused {
			w.tracef("%s: %s (%s) is %s at attempt %d", h.name, s.NodeID, s.NodeType, s.Status, s.Attempt)
		}
	}
}

// traceProcesses writes the processes into the trace.
func (w *world) traceProcesses() {
	for _, p := range w.processes {
		p.set(func() {
			w.tracef("process%s: stopping %v, %d loops ended, %d clients wait, %d commands", p, p.stopping, p.ended, p.openRequests, p.work)
		})
	}
}

func (w *world) allTicksDecided() bool {
	now := blueprint.TimeOf(w.now())
	for _, t := range w.schedules {
		if t.active && t.between(t.cursor, now) > 0 {
			return false
		}
	}
	return true
}

// isIdle reports whether nothing is pending.
func (w *world) isIdle() bool {
	return len(w.processes) > 0 && len(w.writes) == 0 && len(w.visits) == 0 && w.waitingClients() == 0 && len(w.unfinished(false)) == 0
}

// unfinished returns the runs that have not ended, with sound only those that the disk did
// not refuse.
func (w *world) unfinished(sound bool) []*history {
	var left []*history
	for _, id := range w.disk.known() {
		if h := w.histories[id]; !h.terminal && !(sound && (h.suspended || w.isBlocked(h))) {
			left = append(left, h)
		}
	}
	return left
}

// drain runs events until done returns true. If it never does, that is a failure, unless
// complaint is "".
func (w *world) drain(done func() bool, complaint string) {
	idle := 0
	for range maxRounds {
		if w.settleGoroutines(); w.failed() || done() {
			return
		}
		w.report.Events++
		switch free := w.free(); {
		case len(w.processes) == 0:
			w.boot(w.freeName())
		case len(w.pending()) > 0:
			w.resolveWrite(max(w.pending()[0], w.sharedWrite()))
		case len(free) > 0:
			w.release(free[w.IntN(len(free))])
		case w.canEdit() && w.answerOne():
		default:
			if idle++; idle > maxIdle {
				if complaint != "" {
					w.traceProcesses()
					w.fail("%s", complaint)
				}
				return
			}
			w.wait(time.Duration(w.between(1_000, 20_000)) * time.Millisecond)
			continue
		}
		idle = 0
	}
	w.fail("I2: the world does not settle")
}

// answerOne answers an open question, if there is one.
func (w *world) answerOne() bool {
	for _, h := range w.order {
		if h.terminal || h.suspended {
			continue
		}
		for _, node := range slices.Sorted(maps.Keys(h.questions)) {
			if w.now().Sub(h.answered[node]) < 10*time.Second {
				continue // a stopped run accepts no answer until its last node has noticed
			}
			if h.questions[node] != blueprint.AwaitHuman || h.script.outcome(h.place(node), h.attempt[node]).expires == 0 {
				h.answered[node] = w.now()
				w.resume(h, node)
				return true
			}
		}
	}
	return false
}

// end stops the last process, so that no goroutine is left in the bubble.
func (w *world) end() {
	w.calm = true
	if len(w.processes) > 0 && !w.failed() {
		w.stopAll()
		w.drain(func() bool { return len(w.processes) == 0 }, "I2: the process does not stop")
	}
	w.releaseAll()
	for _, p := range w.processes {
		close(p.dead)
		p.halt(errDead)
	}
	w.Quiet()
	for _, p := range w.left() {
		w.awaitEnd(p)
	}
}

// checkRows records ledger rows that are on the disk.
func (w *world) checkRows(trigger string, rows []blueprint.Firing, cursor blueprint.Time, c *blueprint.JournalCommit) {
	for i := range rows {
		if rows[i].Decision != blueprint.DecisionStarted {
			continue
		}
		key := trigger + " " + rows[i].Key
		if w.startedKeys[key] {
			w.fail("I7: the key %s starts a second run", rows[i].Key)
		}
		w.startedKeys[key] = true
		if rows[i].Source == blueprint.SourceAPI {
			w.firings = append(w.firings, rows[i])
		}
	}
	for _, t := range w.schedules {
		if t.trigger != trigger {
			continue
		}
		missed := "?"
		if c != nil {
			if h := w.histories[c.Row.ID]; h != nil {
				if input, ok := h.input.(map[string]any); ok {
					missed = fmt.Sprint(input["missedCount"])
				}
			}
		}
		w.checkTicks(t, rows, cursor, missed)
	}
}

// checkRefusal fails the world for calls that the disk must never receive.
func (w *world) checkRefusal(c *blueprint.JournalCommit, err error) {
	var duplicate *blueprint.DuplicateFiringError
	switch {
	case !errors.As(err, &duplicate):
		w.fail("I5: the disk received an impossible commit: %v", err)
	case c.Cursor != 0:
		w.fail("I7: the tick %s is started a second time", c.Firing.Key)
	}
}
