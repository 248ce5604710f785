package simulation

import (
	"errors"
	"maps"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// event is a possible next event, with its weight.
type event struct {
	weight int
	happen func()
}

// next makes one event happen.
func (w *world) next() {
	if at := w.sharedWrite(); at >= 0 {
		w.resolveWrite(at)
		return
	}
	var events []event
	add := func(weight int, happen func()) { events = append(events, event{weight, happen}) }
	if pending := w.pending(); len(pending) > 0 {
		add(50, func() { w.resolveWrite(pending[w.IntN(len(pending))]) })
	}
	if free := w.free(); len(free) > 0 {
		add(40, func() { w.release(free[w.IntN(len(free))]) })
	}
	add(8, func() { w.wait(time.Duration(w.between(0, []int{8, 1_200, 40_000}[w.IntN(3)])) * time.Millisecond) })
	if len(w.processes) == 0 {
		add(40, func() { w.tracef("boot"); w.boot(w.freeName()) })
		add(10, func() { w.wait(time.Duration(w.between(1, []int{60, 600, 20_000}[w.IntN(3)])) * time.Second) })
		w.pick(events)
		return
	}
	add(8, w.advanceToNextTimer)
	for _, p := range w.processes {
		add(1, func() { w.crash(p) })
		if !p.stopping && p.isAwake() {
			add(1, func() { w.stop(p) })
		}
	}
	w.clusterEvents(add)
	if w.disk.isUnreadable() {
		add(15, func() { w.tracef("the disk is readable again"); w.readableSince = w.now(); w.disk.setUnreadable(false) })
	} else {
		add(1, func() { w.tracef("the disk becomes unreadable"); w.disk.setUnreadable(true) })
	}
	if len(w.readyProcesses()) > 0 {
		w.clientEvents(add)
	}
	w.pick(events)
}

// clientEvents adds the requests that clients can make.
func (w *world) clientEvents(add func(int, func())) {
	own := 0 // runs that no run started
	for _, h := range w.order {
		if h.parent == nil {
			own++
		}
	}
	if own < 12 {
		add(10, w.start)
	}
	add(4, w.deliver)
	if len(w.schedules) > 0 && w.canEdit() {
		add(1, func() { w.edit(w.schedules[w.IntN(len(w.schedules))]) })
	}
	add(2, w.fire)
	var open, over []*history
	for _, h := range w.order {
		switch {
		case !h.terminal && w.disk.stored(h.id) != nil:
			open = append(open, h)
		case h.terminal && !h.retried:
			over = append(over, h)
		}
	}
	if len(open) > 0 {
		h := open[w.IntN(len(open))]
		add(5, func() { w.view(h) })
		add(1, func() { w.cancel(h) })
	}
	for _, h := range open {
		for _, node := range slices.Sorted(maps.Keys(h.questions)) {
			add(6, func() { w.resume(h, node) })
		}
	}
	if len(over) > 0 {
		h := over[w.IntN(len(over))]
		add(2, func() { w.view(h) })
		add(2, func() { w.retry(h) })
	}
}

func (w *world) pick(events []event) {
	total := 0
	for _, e := range events {
		total += e.weight
	}
	at := w.IntN(total)
	for _, e := range events {
		if at -= e.weight; at < 0 {
			e.happen()
			return
		}
	}
}

// free returns the nodes that may end now. One that hangs ends only after it was cancelled.
func (w *world) free() []int {
	var free []int
	for i, v := range w.visits {
		if (v.out.ending != hangs || v.ctx.Err() != nil) && v.process.isAwake() {
			free = append(free, i)
		}
	}
	return free
}

// release ends a node.
func (w *world) release(at int) {
	v := w.visits[at]
	w.visits = append(w.visits[:at:at], w.visits[at+1:]...)
	w.tracef("%s of %s ends, cut off: %v%s", v.task.Address, w.nameOf(v.task.ExecutionID), v.ctx.Err() != nil, v.out.describe())
	if v.ctx.Err() != nil {
		w.count("interrupted or timed-out nodes")
	}
	close(v.let)
}

// wait advances time, but not past the time-out of a node that is to end otherwise, so that
// the outcome of a node does not depend on when it ends. It advances by a moment only while
// the scheduler waits for the disk with a schedule that was changed: otherwise the change
// and the regular read could be ready at the same time, and select would choose between
// them at random, independent of the seed.
func (w *world) wait(d time.Duration) {
	switch {
	case !w.schedulerBusy() && !w.disk.isUnreadable():
		for _, t := range w.schedules {
			t.changed = false
		}
	case !w.calm && w.schedulerBusy() && slices.ContainsFunc(w.schedules, func(t *schedule) bool { return t.changed }):
		d = min(d, 20*time.Millisecond)
	}
	for _, v := range w.visits {
		if v.out.ending != hangs && !v.until.IsZero() && v.ctx.Err() == nil {
			d = min(d, v.until.Sub(w.now())-100*time.Millisecond)
		}
	}
	if d < 0 {
		return
	}
	w.tracef("%s pass", d.Round(time.Millisecond))
	if w.cluster != nil {
		w.pass(d)
		return
	}
	for begun := len(w.visits); len(w.processes) > 0 && w.timed && d > shortStep; d -= shortStep {
		w.sleep(shortStep)
		if w.settleGoroutines(); w.failed() || len(w.visits) != begun {
			return
		}
	}
	w.sleep(d)
}

// shortStep is less than any time-out, so that a node that starts while time advances is
// noticed before it times out.
const shortStep = 8 * time.Second

func (w *world) advanceToNextTimer() {
	if next := w.nextTimer(); !next.IsZero() {
		w.wait(min(next.Sub(w.now()), 10*time.Minute))
	}
}

// take removes a write from the list.
func (w *world) take(at int) *write {
	one := w.writes[at]
	w.writes = append(w.writes[:at:at], w.writes[at+1:]...)
	return one
}

// resolveWrite decides about a write: it reaches the disk or fails.
func (w *world) resolveWrite(at int) {
	one := w.take(at)
	if w.cluster != nil && w.cutWrite(one) {
		return
	}
	roll := w.IntN(1000)
	switch {
	case one.act != nil && roll >= 930 && roll < 990 && !w.calm:
		w.answer(one, errBusy)
	case w.calm || roll < 930 || one.shared && roll < 985:
		w.answer(one, w.apply(one))
	case roll < 985:
		w.count("temporarily refused commits")
		w.tracef("temporarily refused: %s", w.title(one))
		w.answer(one, errBusy)
	case roll < 990:
		w.count("permanently refused commits")
		w.tracef("permanently refused: %s", w.title(one))
		w.permanentRefusals++
		if one.commit != nil {
			w.damaged[one.commit.Row.ID] = one.commit.New
			if h := w.histories[one.commit.Row.ID]; h != nil {
				h.suspended = true
				h.processes++ // its memory is lost, as in a crash
				one.process.restoreRounds(h)
			}
			if parent := w.histories[one.commit.Row.ParentExecutionID]; parent != nil {
				parent.model = nil
			}
		}
		w.answer(one, errDamaged)
	case roll < 995:
		err := w.apply(one)
		w.count("crashes after a commit")
		w.tracef("crash after it (%v)", err)
		w.kill(one.process)
	default:
		w.count("crashes before a commit")
		w.tracef("crash before %s", w.title(one))
		if w.Flaw == FlawTorn && one.commit != nil && !one.commit.Row.Status.Terminal() {
			half := *one.commit
			half.Entries = half.Entries[:(len(half.Entries)+1)/2]
			half.Firing = nil
			_ = w.disk.commit(&half, one.process.id)
		}
		w.kill(one.process)
	}
}

var errBusy = &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the disk is busy"}

var errDamaged = errors.New("the disk is damaged")

// answer answers a write, later if its process does not notice it now.
func (w *world) answer(one *write, err error) {
	if p := one.process; !p.isAwake() && !p.isLost() {
		w.tracef("the outcome waits for%s", p)
		p.owed = append(p.owed, owed{one, err})
		return
	}
	one.answer <- err
}

// apply applies a write to the disk and informs the oracle.
func (w *world) apply(one *write) error {
	if err := w.fence(one); err != nil {
		return err
	}
	if one.act != nil {
		w.tracef("on the disk: %s", w.title(one))
		return one.act()
	}
	if w.Flaw == FlawEarlyAnswer && one.commit != nil && one.commit.New && !w.calm && w.chance(50) {
		w.tracef("answered early: %s", w.title(one))
		return nil
	}
	if one.commit == nil {
		w.disk.record(one.trigger, one.cursor)
		w.tracef("on the disk: %s", w.title(one))
		w.checkRows(one.trigger, one.rows, one.cursor, nil)
		return nil
	}
	c := *one.commit
	if w.Flaw == FlawLosesFiring && c.New {
		c.Firing, c.Coalesced, c.Cursor = nil, nil, 0
	}
	w.checkHolder(&c, one.process)
	err := w.disk.commit(&c, one.process.id)
	if one.commit.Handed = c.Handed; err != nil {
		w.tracef("the disk says %v: %s", blueprint.CodeOf(err), w.title(one))
		w.checkRefusal(one.commit, err)
		return err
	}
	w.tracef("on the disk: %s", w.title(one))
	w.committed(one.commit, one.process)
	if one.commit.Firing != nil {
		rows := []blueprint.Firing{*one.commit.Firing}
		if one.commit.Coalesced != nil {
			rows = []blueprint.Firing{*one.commit.Coalesced, *one.commit.Firing}
		}
		w.checkRows(one.commit.Firing.TriggerID, rows, one.commit.Cursor, one.commit)
	}
	return nil
}

// crash ends a process at once; what is not on the disk is lost.
func (w *world) crash(p *process) {
	w.count("crashes between commits")
	w.tracef("crash%s", p)
	w.kill(p)
}

// kill disconnects a process from the world and, if it is the only one, waits until all its
// goroutines have ended. Nothing that it still does has an effect.
func (w *world) kill(p *process) {
	if !slices.Contains(w.processes, p) {
		return // it was declared dead meanwhile, and has ended
	}
	w.report.Crashes++
	w.disconnect(p)
	w.inbox.add(func(in *inbox) {
		in.visits = slices.DeleteFunc(in.visits, func(v *visit) bool { return v.process == p })
		in.writes = slices.DeleteFunc(in.writes, func(one *write) bool { return one.process == p })
		in.calls = slices.DeleteFunc(in.calls, func(c *clientCall) bool { return c.process == p })
	})
	w.disk.setUnreadable(false)
	w.processEnded(p)
}

// maxDisconnect bounds the time that goroutines of a dead process may wait for the disk.
const maxDisconnect = time.Minute

func (w *world) disconnect(p *process) {
	close(p.dead)
	p.halt(errDead)
	if w.cluster != nil {
		w.hold(p)
	}
	w.Quiet()
	if w.cluster != nil && !w.calm && !p.hasEnded() {
		w.cluster.ghosts = append(w.cluster.ghosts, p) // the others go on
		return
	}
	w.awaitEnd(p)
}

// awaitEnd waits for the goroutines of a process that was killed.
func (w *world) awaitEnd(p *process) {
	if !p.hasEnded() {
		w.sleep(maxDisconnect)
		w.Quiet()
	}
	if !p.hasEnded() {
		w.fail("a crashed process does not end")
	}
}

// stop stops a process.
func (w *world) stop(p *process) {
	w.count("stops")
	w.tracef("stop%s", p)
	p.stopping = true
	if w.Flaw == FlawEarlyRelease {
		w.disk.release(p.id)
	}
	p.halt(nil)
}
