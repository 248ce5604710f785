package simulation

import (
	"slices"
	"time"

	"blueprintd/blueprint"
)

// clusterEvents adds what can happen among several processes.
func (w *world) clusterEvents(add func(int, func())) {
	c := w.cluster
	if c == nil {
		return
	}
	for _, p := range w.processes {
		if w.needsPulse(p) {
			add(12, func() { w.pulse(p) })
		}
		if len(p.until) > 0 {
			if !p.isLost() && len(w.processes) <= c.most && c.outageUntil.IsZero() {
				add(1, func() { w.count("restarts under the name of a frozen process"); w.boot(p.name) })
			}
			continue
		}
		if p.isLost() {
			continue
		}
		if !slices.ContainsFunc(w.visits, func(v *visit) bool { return v.process == p && !v.until.IsZero() && v.out.ending != hangs }) {
			add(2, func() { w.count("freezes"); w.strike(p, faultFrozen, w.between(3_000, 40_000)) })
		}
		add(2, func() { w.count("broken links"); w.strike(p, faultCut, w.between(200, 20_000)) })
		add(2, func() { w.count("late beats"); w.strike(p, faultLate, w.between(500, 12_000)) })
	}
	if c.outageUntil.IsZero() {
		add(1, w.outage)
		if len(w.processes) < c.most {
			add(6, func() { w.boot(w.freeName()) })
		}
	}
}

// isUndisturbed reports whether no process has a fault.
func (w *world) isUndisturbed() bool {
	return !slices.ContainsFunc(w.processes, func(p *process) bool { return !p.looks() })
}

// outage makes the disk unreachable for all processes.
func (w *world) outage() {
	w.count("outages")
	d := w.between(500, 25_000)
	w.cluster.outageFrom = w.now()
	w.cluster.outageUntil = w.now().Add(time.Duration(d) * time.Millisecond)
	for _, p := range w.processes {
		w.strike(p, faultCut, d)
	}
}

// endOutage ends an outage. Only a long one keeps processes from looking at each other.
func (w *world) endOutage() {
	c := w.cluster
	if c.outageUntil = (time.Time{}); w.now().Sub(c.outageFrom) > longestGap {
		c.reachable = w.now()
	}
}

// strike begins a fault of a process that lasts some milliseconds.
func (w *world) strike(p *process, kind fault, ms int) {
	now := w.now()
	until := now.Add(time.Duration(ms) * time.Millisecond)
	if until.After(p.until[kind]) {
		p.until[kind] = until
	}
	w.tracef("%s is %s for %d ms", p, []string{"frozen", "cut off", "late with a beat"}[kind], ms)
	p.set(func() {
		p.unlinked = p.isCut()
		if kind == faultFrozen && p.wake == nil {
			p.wake = make(chan struct{})
		}
	})
	w.hold(p)
}

// hold keeps the beats of a process from being sent or answered.
func (w *world) hold(p *process) {
	now := w.now()
	flies, arrives := w.chance(60), w.chance(60)
	p.set(func() {
		b := &p.beats
		b.bring(now)
		if b.held {
			return
		}
		b.held, b.heldAt = true, now
		if flies {
			b.flying, b.arrived = now, arrives
			if arrives {
				b.seen = now
			}
		}
	})
}

// relieve ends a fault of a process.
func (w *world) relieve(p *process, kind fault) {
	delete(p.until, kind)
	p.set(func() { p.unlinked = p.isCut() })
	p.faultAt = w.now()
	w.tracef("%s is no longer %s", p, []string{"frozen", "cut off", "late with a beat"}[kind])
	if kind == faultFrozen {
		p.set(func() { close(p.wake); p.wake = nil })
	}
	if len(p.until) == 0 {
		w.answerBeat(p)
	}
	if p.isAwake() && !p.isCut() {
		list := p.owed
		p.owed = nil
		for _, o := range list {
			w.tracef("the outcome is found out: %s", w.title(o.write))
			o.write.answer <- o.err
		}
	}
}

// answerBeat answers the beat that was on its way.
func (w *world) answerBeat(p *process) {
	now, soon := w.now(), time.Duration(w.between(0, 200))*time.Millisecond
	alive, noticed := w.disk.isAlive(p.id), false
	p.set(func() {
		b := &p.beats
		b.next = now.Add(soon)
		if b.flying.IsZero() {
			return
		}
		if !b.arrived && !alive {
			noticed = true
			return
		}
		if !b.arrived {
			b.seen = now
		}
		b.sent, b.answered, b.flying = b.flying, now, time.Time{}
		p.notifyChanged()
	})
	if noticed {
		w.lose(p)
	}
}

// notifyChanged wakes those who wait for the lease. p.mu is held.
func (p *process) notifyChanged() {
	close(p.changes)
	p.changes = make(chan struct{})
}

// sendBeat sends a beat after a fault.
func (w *world) sendBeat(p *process) {
	if !w.disk.isAlive(p.id) {
		w.lose(p)
		return
	}
	now := w.now()
	if !w.calm && w.chance(25) {
		w.count("late beats")
		arrives := w.chance(60)
		p.set(func() {
			b := &p.beats
			if b.flying, b.arrived = now, arrives; arrives {
				b.seen = now
			}
		})
		w.strike(p, faultLate, w.between(500, 12_000))
		return
	}
	p.set(func() {
		b := &p.beats
		if now.Sub(b.heldAt) > longestGap {
			b.looks = now
		}
		b.held, b.from, b.flying = false, now, time.Time{}
		p.notifyChanged()
	})
}

// lose ends a process that notices that it was declared dead.
func (w *world) lose(p *process) {
	if p.isLost() || !slices.Contains(w.processes, p) {
		return
	}
	w.tracef("%s finds itself declared dead", p)
	w.count("processes that find themselves declared dead")
	p.stopping = true
	close(p.lost)
	p.halt(errLost)
	w.writes = slices.DeleteFunc(w.writes, func(one *write) bool { return one.process == p })
}

// fence refuses a write of a process that was declared dead.
func (w *world) fence(one *write) error {
	p := one.process
	if w.cluster == nil || w.Flaw == FlawNoFence || w.disk.isAlive(p.id) {
		return nil
	}
	w.tracef("refused, because%s is dead: %s", p, w.title(one))
	w.count("writes of dead processes")
	if p.isAwake() {
		w.lose(p)
	}
	return errLost
}

// cutWrite breaks the link of a process during a write, and reports whether it did. The
// write reaches the disk, or does not; the process finds out later which.
func (w *world) cutWrite(one *write) bool {
	p := one.process
	acts := p.isAwake() && !p.isLost()
	if w.calm || one.shared || !acts || !w.chance(3) {
		return false
	}
	w.tracef("the link breaks during: %s", w.title(one))
	var err error = errBusy
	if w.chance(50) {
		w.count("commits with an unknown outcome, applied")
		err = w.apply(one)
	} else {
		w.count("commits with an unknown outcome, not applied")
	}
	if w.failed() || p.isLost() {
		one.answer <- errLost
		return true
	}
	switch {
	case one.act != nil && !one.waits:
		one.answer <- errMayBeStored
	case w.Flaw == FlawUnknownFailed && err == nil:
		one.answer <- errBusy
	case w.Flaw == FlawUnknownDone && err == error(errBusy):
		one.answer <- nil
	default:
		p.owed = append(p.owed, owed{one, err})
	}
	w.strike(p, faultCut, w.between(50, 15_000))
	return true
}

// depart ends a process that has stopped. Others take over its runs at once if the disk can
// be reached.
func (w *world) depart(p *process) {
	if w.cluster == nil {
		return
	}
	w.hold(p)
	if !p.isCut() && !p.isLost() {
		w.disk.end(p.id, stateDead)
	}
}

// leave lets others take the duties of processes that no longer perform them.
func (w *world) leave() {
	for _, p := range w.processes {
		idle := false
		p.set(func() { idle = p.idle })
		if idle && !p.left && !p.isCut() && p.isAwake() {
			p.left = true
			w.disk.end(p.id, stateLeaving)
		}
	}
}

// looks reports whether a process sees the others now.
func (p *process) looks() (looks bool) {
	p.set(func() { looks = !p.beats.held })
	return looks && !p.isLost()
}

// findings are what a process has to act on when it looks.
type findings struct{ duties, begins, orphans, asked bool }

func (w *world) findings(p *process) (found findings) {
	if !p.looks() {
		return found
	}
	held := false
	for _, row := range w.disk.members() {
		held = held || row.duties && row.state == stateLive
		if row.id == p.id {
			found.duties = row.state == stateLive && !row.duties
			found.begins = row.duties && !isClosed(p.duties)
		}
		found.orphans = found.orphans || row.state == stateDead
	}
	found.duties = found.duties && (!held || w.Flaw == FlawTwoDuties)
	able := p.isReady() && !p.stopping
	p.set(func() {
		found.orphans = found.orphans && able && !p.takesOver && w.Flaw != FlawNoTakeOver
		found.asked = able && !p.listens
	})
	found.asked = found.asked && w.disk.asked(p.id)
	return found
}

func isClosed(ch chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}

func (w *world) needsPulse(p *process) bool { return w.findings(p) != findings{} }

// pulse makes a process act on what it finds.
func (w *world) pulse(p *process) {
	found := w.findings(p)
	if found.duties {
		w.tracef("%s takes the duties", p)
		w.count("duties taken")
		w.disk.takeDuties(p.id)
	}
	if found.duties || found.begins {
		close(p.duties)
	}
	if found.orphans {
		w.tracef("%s takes over", p)
		w.count("take-overs")
		p.set(func() { p.takesOver = true })
		p.begin(p.takeOver)
	}
	if found.asked {
		p.set(func() { p.listens = true })
		p.begin(p.performCommands)
	}
	p.engine.LookAfter()
}

// pass advances time among several processes, from one instant at which something happens to
// the next.
func (w *world) pass(d time.Duration) {
	end, begun := w.now().Add(d), len(w.visits)
	for !w.failed() {
		now := w.now()
		step := end.Sub(now)
		if step <= 0 {
			return
		}
		if w.timed && len(w.processes) > 0 {
			step = min(step, shortStep)
		}
		if next := w.nextInstant(); !next.IsZero() {
			step = min(step, max(0, next.Sub(now)))
		}
		w.sleep(step)
		w.settleGoroutines()
		w.upkeep()
		if w.timed && len(w.visits) != begun {
			return
		}
	}
}

// nextInstant returns when the next thing happens by itself; zero for never.
func (w *world) nextInstant() (first time.Time) {
	consider := func(t time.Time) {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	rows := w.disk.members()
	for _, p := range w.processes {
		for _, until := range p.until {
			consider(until)
		}
		if !p.looks() && len(p.until) == 0 && !p.isLost() {
			consider(p.beats.next)
		}
		if w.needsPulse(p) {
			consider(w.now().Add(pulseInterval))
		}
		for _, row := range rows {
			if since, sees := w.silentSince(p, &row); sees {
				consider(since.Add(deadAfter + time.Millisecond))
			}
		}
	}
	consider(w.cluster.outageUntil)
	return first
}

// silentSince returns since when a process has seen no beat of another one. It is not
// interested in those that are dead, and sees none while it does not look.
func (w *world) silentSince(p *process, row *nodeRow) (since time.Time, sees bool) {
	other := w.cluster.byID[row.id]
	if row.state == stateDead || other == p || !p.looks() {
		return since, false
	}
	since = w.seen(other)
	if looks := p.beats.looks; looks.After(since) && w.Flaw != FlawDeadByClock {
		since = looks
	}
	return since, true
}

// seen returns when the last beat of a process reached the disk.
func (w *world) seen(p *process) (at time.Time) {
	p.set(func() {
		p.beats.bring(w.now())
		at = p.beats.seen
	})
	return at
}

// upkeep lets everything happen that is due.
func (w *world) upkeep() {
	now := w.now()
	if c := w.cluster; !c.outageUntil.IsZero() && !now.Before(c.outageUntil) {
		w.endOutage()
	}
	for _, p := range slices.Clone(w.processes) {
		for _, kind := range []fault{faultFrozen, faultCut, faultLate} {
			if until := p.until[kind]; !until.IsZero() && !now.Before(until) {
				w.relieve(p, kind)
			}
		}
		if !p.looks() && len(p.until) == 0 && !now.Before(p.beats.next) {
			w.sendBeat(p)
		}
		if p.looks() && !w.disk.isAlive(p.id) {
			w.lose(p)
		}
	}
	w.declareDead()
	for _, p := range slices.Clone(w.processes) {
		if w.needsPulse(p) {
			w.pulse(p)
			w.settleGoroutines()
		}
	}
	w.checkAtWork()
}

// declareDead lets processes declare others dead.
func (w *world) declareDead() {
	now := w.now()
	for _, p := range w.processes {
		for _, row := range w.disk.members() {
			since, sees := w.silentSince(p, &row)
			if !sees || now.Sub(since) < deadAfter {
				continue
			}
			other := w.cluster.byID[row.id]
			w.tracef("%s declares%s dead", p, other)
			w.count("processes declared dead")
			silent := w.seen(other)
			if w.cluster.reachable.After(silent) {
				silent = w.cluster.reachable
			}
			if now.Sub(silent) < deadAfter {
				w.fail("I24:%s is declared dead, which was silent for only %s while the disk could be reached", other, now.Sub(silent))
			}
			w.disk.end(row.id, stateDead)
		}
	}
}

// endFaults ends all faults among several processes.
func (w *world) endFaults() {
	if w.cluster == nil {
		return
	}
	now := w.now()
	for _, p := range w.processes {
		for kind := range p.until {
			p.until[kind] = now
		}
	}
	if !w.cluster.outageUntil.IsZero() {
		w.cluster.outageUntil = now
	}
	w.upkeep()
}

// releaseAll wakes all processes, so that their goroutines can end.
func (w *world) releaseAll() {
	for _, p := range w.left() {
		p.set(func() {
			if p.wake != nil {
				close(p.wake)
				p.wake = nil
			}
		})
		for _, o := range p.owed {
			o.write.answer <- o.err
		}
		p.owed = nil
	}
}

// recordHolder records which process has a new run.
func (w *world) recordHolder(h *history, c *blueprint.JournalCommit, p *process) {
	if w.cluster == nil || !c.New {
		return
	}
	if h.holder, h.heldSince = w.disk.owner(h.id), w.now(); h.holder != p.id {
		w.count("runs handed to the process of their group")
	}
	if c.Group != nil {
		h.group = c.Group.Key
	}
}

// checkHolder checks that only the process that has a run commits to it.
func (w *world) checkHolder(c *blueprint.JournalCommit, p *process) {
	if h := w.histories[c.Row.ID]; w.cluster != nil && !c.New && h != nil && h.holder != p.id {
		w.fail("I20:%s commits to %s, which process %d has", p, h.name, h.holder)
	}
}

// isStray checks that a process may begin an attempt, and reports whether it does so with a
// run that another process has by now, so that nothing comes of it. Effects are possible then
// only if that process has taken its name: it does not wait for the end of the lease.
func (w *world) isStray(h *history, v *visit) bool {
	if w.cluster == nil {
		return false
	}
	p, effect := v.process, h.script.node(v.at.place).effect()
	var left time.Duration
	p.set(func() { left = p.beats.lease(v.begun, FlawNone) })
	stray := w.disk.stored(h.id) != nil && h.holder != p.id
	if effect != blueprint.EffectPure && left <= 0 {
		w.fail("I21:%s runs %s of %s %s after the end of its lease", p, v.task.Address, h.name, -left)
	}
	if stray && effect != blueprint.EffectPure {
		w.count("nodes with an effect that run in a process whose name another one has taken")
	}
	if stray {
		w.count("nodes that run in a process without the run")
	}
	return stray
}

// checkAtWork checks that the runs of dead processes, and commands, do not wait for long.
func (w *world) checkAtWork() {
	c, now := w.cluster, w.now()
	var able time.Time // since when some process can take over
	for _, p := range w.processes {
		busy := false
		p.set(func() { busy = p.takesOver })
		if busy {
			c.takingOver = now
		}
		if p.isReady() && !p.stopping && p.looks() && (able.IsZero() || p.beats.looks.Before(able)) {
			able = p.beats.looks
		}
	}
	if able.IsZero() {
		c.takingOver = now // none can
	}
	if c.takingOver.After(able) {
		able = c.takingOver
	}
	for _, row := range w.disk.members() {
		other := c.byID[row.id]
		since := w.seen(other)
		if other.looks() && slices.Contains(w.processes, other) && row.state != stateDead {
			continue
		}
		if able.After(since) {
			since = able
		}
		if late := now.Sub(since); late > takeOverBound {
			w.fail("I22: the runs of%s belong to no process that works, for %s", other, late)
		}
	}
}
