package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
)

// Options are the options of a world.
type Options struct {
	Seed uint64
	// Quiet returns when all goroutines of the bubble are idle.
	Quiet func()
	// Flaw is a bug that the oracle must find.
	Flaw Flaw
}

// Report is the result of a world.
type Report struct {
	Seed    uint64
	Failure string // the finding of the oracle; "" = none
	Trace   []string
	Events  int
	Crashes int
	Runs    int
	Saw     map[string]int // how often each event happened
}

// world is the history of a seed as it unfolds. It belongs to one goroutine, except for the
// inbox and the disk.
type world struct {
	Options
	random
	ctx    context.Context
	disk   *disk
	inbox  inbox
	report Report
	origin time.Time

	blueprints []*simBlueprint
	byID       map[string]*simBlueprint
	clients    int // number of blueprints that clients may start; the rest belong to schedules
	api        string
	schedules  []*schedule
	skipsTicks bool // one of them does not catch up missed ticks
	maxRunning int
	maxQueued  int
	budget     int
	timed      bool // some node has a time-out

	processes []*process // that run, in order of their starts
	boots     int
	viewer    *engine.Reader
	cluster   *cluster // of worlds with several processes; nil for one process

	visits   []*visit // running
	writes   []*write // pending
	requests int      // clients so far

	histories    map[string]*history
	order        []*history
	names        map[string]string
	acknowledged map[string]bool
	keys         map[string]string
	firings      []blueprint.Firing
	startedKeys  map[string]bool

	calm              bool            // no more faults
	permanentRefusals int             // permanent refusals
	damaged           map[string]bool // runs whose start was permanently refused
	readableSince     time.Time       // when reads last worked again
}

// runWorld runs the world of a seed. It must be called in a bubble.
func runWorld(options Options) Report {
	w := &world{
		Options: options, random: newRandom(options.Seed, 1), ctx: context.Background(), disk: newDisk(options.Flaw), byID: map[string]*simBlueprint{},
		histories: map[string]*history{}, names: map[string]string{}, acknowledged: map[string]bool{}, keys: map[string]string{}, startedKeys: map[string]bool{}, damaged: map[string]bool{}, origin: clock.Real{}.Now(),
	}
	w.report.Seed, w.report.Saw = options.Seed, map[string]int{}
	w.viewer = engine.NewReader(catalogue(&process{world: w}), journal{&process{world: w, dead: make(chan struct{})}}, sealer)
	w.create()
	w.createCluster()
	w.bootAll()
	for range w.budget {
		if w.settleGoroutines(); w.failed() {
			break
		}
		w.next()
		w.report.Events++
	}
	if !w.failed() {
		w.settle()
	}
	w.end()
	w.report.Runs = len(w.disk.known())
	return w.report
}

// create generates the initial state.
func (w *world) create() {
	w.budget = w.between(20, 160)
	w.maxRunning, w.maxQueued = 1000, 10_000
	if w.chance(25) {
		w.maxRunning, w.maxQueued = w.between(1, 3), w.between(1, 4)
	}
	put := func(b *simBlueprint) *simBlueprint {
		w.byID[b.definition.BlueprintID] = b
		w.timed = w.timed || b.has(func(n *node) bool { return n.Timeout > 0 })
		w.disk.definitions[b.definition.BlueprintID] = b.definition
		return b
	}
	calls := w.createCallees(put)
	add := func() *simBlueprint {
		b := put(newBlueprint(w.random, len(w.blueprints)+1, w.between(2, 9), calls))
		w.blueprints = append(w.blueprints, b)
		return b
	}
	for range w.between(1, 3) {
		add()
	}
	w.clients = len(w.blueprints)
	w.api = w.disk.addTrigger(w.blueprints[0], blueprint.TriggerAPI, map[string]any{}, 0)
	w.sleep(time.Duration(w.between(0, 200_000)) * time.Millisecond)
	for i := range w.between(0, 2) {
		w.schedules = append(w.schedules, w.newSchedule(add(), i+1))
	}
}

// createCallees generates the blueprints that others run, and returns those that blueprints of clients may
// run.
func (w *world) createCallees(put func(*simBlueprint) *simBlueprint) (calls []string) {
	if !w.chance(45) {
		return nil
	}
	var leaves []string
	number := firstCallee
	add := func(b *simBlueprint) {
		calls = append(calls, b.definition.BlueprintID)
		number++
	}
	for range w.between(1, 2) {
		add(put(newBlueprint(w.random, number, w.between(1, 4), nil)))
	}
	leaves = slices.Clone(calls)
	if w.chance(40) {
		add(put(newBlueprint(w.random, number, w.between(1, 3), leaves)))
	}
	switch w.IntN(16) {
	case 0:
		add(put(newRecursiveBlueprint(w.random, number)))
	case 1:
		calls = append(calls, blueprintID(number)) // there is no such blueprint
	}
	return calls
}

func (w *world) now() time.Time { return clock.Real{}.Now() }

func (w *world) script(blueprintID, id string) script {
	return script{w.byID[blueprintID], mix(w.Seed, blueprintID, id), mix(w.Seed, blueprintID)}
}

// nameOf returns a run's short name.
func (w *world) nameOf(id string) string {
	if w.names[id] == "" {
		w.names[id] = fmt.Sprintf("run%d", len(w.names)+1)
	}
	return w.names[id]
}

func (w *world) tracef(format string, args ...any) {
	at := w.now().Sub(w.origin)
	w.report.Trace = append(w.report.Trace, fmt.Sprintf("%13.6f  ", at.Seconds())+fmt.Sprintf(format, args...))
}

// count counts an event: a world without events proves nothing.
func (w *world) count(what string) { w.report.Saw[what]++ }

// fail records the first failure.
func (w *world) fail(format string, args ...any) {
	if w.report.Failure == "" {
		w.report.Failure = fmt.Sprintf(format, args...)
		w.tracef("FAILED: %s", w.report.Failure)
	}
}

func (w *world) failed() bool { return w.report.Failure != "" }

// settleGoroutines waits until all goroutines are idle and checks the new events. Events of the same
// instant are sorted, so that scheduling does not matter.
func (w *world) settleGoroutines() {
	w.Quiet()
	w.inbox.mu.Lock()
	visits, writes, calls := w.inbox.visits, w.inbox.writes, w.inbox.calls
	w.inbox.visits, w.inbox.writes, w.inbox.calls = nil, nil, nil
	w.inbox.mu.Unlock()
	slices.SortFunc(visits, func(a, b *visit) int {
		return cmp.Or(strings.Compare(a.task.ExecutionID, b.task.ExecutionID), strings.Compare(a.at.place, b.at.place), a.at.attempt-b.at.attempt)
	})
	slices.SortFunc(writes, func(a, b *write) int { return strings.Compare(a.key, b.key) })
	slices.SortFunc(calls, func(a, b *clientCall) int { return a.number - b.number })
	for _, v := range visits {
		w.tracef("%s runs %s, attempt %d", w.nameOf(v.task.ExecutionID), v.task.Address, v.at.attempt)
		w.nodeStarted(v)
		w.visits = append(w.visits, v)
	}
	for _, one := range writes {
		w.tracef("a write waits: %s", w.title(one))
		one.shared = w.isShared(one)
	}
	w.writes = append(w.writes, writes...)
	for _, c := range calls {
		if slices.Contains(w.processes, c.process) {
			c.process.openRequests--
			w.tracef("client %d is answered", c.number)
			c.check()
		}
	}
	w.leave()
	for _, p := range slices.Clone(w.processes) {
		if !p.hasEnded() || p.openRequests > 0 || !p.isAwake() {
			continue
		}
		w.tracef("the process%s has ended (%v)", p, p.fault)
		if p.fault != nil && blueprint.CodeOf(p.fault) != blueprint.CodeUnavailable {
			w.fail("the process ended with %v", p.fault)
		}
		w.depart(p)
		w.processEnded(p)
	}
}

// isShared reports whether several nodes with side effects wait for a write before they
// start. Which of them waits first depends on the machine, and matters only if something
// else happens to the run before they continue.
func (w *world) isShared(one *write) bool {
	if one.commit == nil {
		return false
	}
	waiting, b := 0, w.byID[one.commit.Row.BlueprintID]
	for _, data := range one.commit.Entries {
		if e, err := readEntry(one.commit.Row.ID, data); err == nil && e.Kind == "start" && b.find(e.Node).effect() != blueprint.EffectPure {
			waiting++
		}
	}
	return waiting > 1
}

func (w *world) title(one *write) string {
	switch {
	case one.act != nil:
		if one.run != "" {
			return one.what + " for " + w.nameOf(one.run)
		}
		return one.what
	case one.commit == nil:
		return fmt.Sprintf("%d rows, the last %s", len(one.rows), one.rows[len(one.rows)-1].Decision)
	case one.commit.New:
		return fmt.Sprintf("%s begins, %s", w.nameOf(one.commit.Row.ID), one.commit.Row.Status)
	default:
		return fmt.Sprintf("%s is %s", w.nameOf(one.commit.Row.ID), one.commit.Row.Status)
	}
}

// processEnded records that a process has ended.
func (w *world) processEnded(p *process) {
	w.processes = slices.DeleteFunc(w.processes, func(other *process) bool { return other == p })
	w.visits = slices.DeleteFunc(w.visits, func(v *visit) bool { return v.process == p })
	w.writes = slices.DeleteFunc(w.writes, func(one *write) bool { return one.process == p })
	for _, h := range w.order {
		if w.cluster != nil {
			break // its runs move to another process
		}
		if !h.terminal {
			h.processes++
		}
		h.suspended = false
	}
	for _, id := range slices.Sorted(maps.Keys(w.acknowledged)) {
		if w.disk.stored(id) == nil {
			w.fail("I1: %s was acknowledged, but is missing", w.nameOf(id))
		}
	}
}

// sleep advances time. The odd part keeps later instants from coinciding with earlier ones.
func (w *world) sleep(d time.Duration) {
	time.Sleep(d + time.Duration(w.between(1, 999))*time.Microsecond + time.Duration(w.between(1, 999)))
}
