package simulation

import (
	"context"
	"slices"
	"time"

	"blueprintd/blueprint"
)

// The times of the store: how often a process sends a beat and looks at the others, how
// long it may act after it has sent one, when others declare it dead, and the longest time
// without a look after which a process begins to look again.
const (
	beatInterval  = time.Second
	pulseInterval = 200 * time.Millisecond
	leaseTime     = 7 * time.Second
	deadAfter     = 10 * time.Second
	longestGap    = 2500 * time.Millisecond
	// takeOverBound is how long the runs of a dead process may stay without another one,
	// while a process can look and no write of a take-over waits for the disk.
	takeOverBound = 15 * time.Second
)

// cluster is the part of a world about several processes.
type cluster struct {
	most        int              // number of processes
	byID        map[int]*process // also those that have ended
	ghosts      []*process       // killed, with goroutines that have not ended yet
	outageFrom  time.Time
	outageUntil time.Time // zero while the disk can be reached
	reachable   time.Time // since when, without short outages
	takingOver  time.Time // when a take-over last waited for the disk
	limit       int       // of the concurrency group of some runs; 0 without one
	displaces   bool      // a run of it cancels the oldest one beyond the limit, instead of waiting
}

// member is what a process knows as one of several.
type member struct {
	id      int // 0 in a world with one process
	name    string
	ctx     context.Context // ends when the process stops
	lost    chan struct{}   // closed when it notices that it was declared dead
	duties  chan struct{}   // closed when it has the duties
	left    bool            // it has announced its end
	until   map[fault]time.Time
	faultAt time.Time // when its last fault ended
	owed    []owed

	// Guarded by process.mu.
	beats     beats
	changes   chan struct{} // closed and replaced when the lease may have changed
	wake      chan struct{} // of a frozen process; nil while it is awake
	work      int           // goroutines that its end waits for
	takesOver bool
	listens   bool
	unlinked  bool // cut off from the disk
}

// fault is something that keeps a process from sending beats.
type fault int

const (
	faultFrozen fault = iota // it does nothing
	faultCut                 // it does not reach the disk
	faultLate                // a beat is on its way
)

// owed is a write that has reached its end on the disk, whose outcome the process does not
// know yet.
type owed struct {
	write *write
	err   error
}

func newMember(name string, now time.Time) member {
	return member{
		name: name, lost: make(chan struct{}), duties: make(chan struct{}), changes: make(chan struct{}), until: map[fault]time.Time{},
		beats: beats{from: now, sent: now, answered: now, seen: now, looks: now},
	}
}

// beats are the beats of a process. While nothing holds them, one is sent and answered at
// once each second.
type beats struct {
	held     bool
	heldAt   time.Time
	from     time.Time // the first of those that nothing held
	sent     time.Time // the last one that was answered
	answered time.Time // and when
	flying   time.Time // when the one without an answer was sent; zero for none
	arrived  bool      // that one has reached the disk
	seen     time.Time // when the last one reached the disk
	next     time.Time // when the next one is sent after a fault
	looks    time.Time // since when the process looks at the others
}

// bring brings the beats up to now.
func (b *beats) bring(now time.Time) {
	if !b.held {
		last := b.from.Add(now.Sub(b.from).Truncate(beatInterval))
		b.sent, b.answered, b.seen = last, last, last
	}
}

// lease returns how long the process may act.
func (b *beats) lease(now time.Time, flaw Flaw) time.Duration {
	b.bring(now)
	if flaw == FlawLeaseFromAnswer {
		return leaseTime - now.Sub(b.answered)
	}
	return leaseTime - now.Sub(b.sent)
}

// createCluster adds several processes to worlds with an even seed.
func (w *world) createCluster() {
	if w.Seed%2 == 0 {
		w.cluster = &cluster{most: w.between(2, 3), byID: map[int]*process{}, reachable: w.now()}
		if w.chance(50) {
			w.cluster.limit = w.between(1, 2)
			onLimit := blueprint.LimitQueue
			if w.cluster.displaces = w.chance(30); w.cluster.displaces {
				onLimit = blueprint.LimitCancel
			}
			w.disk.limit(w.api, w.cluster.limit, onLimit)
		}
		w.budget += w.budget / 2
	}
}

// bootAll starts the first processes.
func (w *world) bootAll() {
	if w.cluster == nil {
		w.boot("")
		return
	}
	for range w.cluster.most {
		w.boot(w.freeName())
		w.settleGoroutines()
	}
}

// join registers a process that starts.
func (w *world) join(p *process) {
	if w.cluster == nil {
		return
	}
	var taken []string
	if !w.cluster.outageUntil.IsZero() { // the last process that it concerned has ended
		w.endOutage()
	}
	p.id, taken = w.disk.register(p.name)
	w.cluster.byID[p.id] = p
	w.tracef("%s joins and takes %d runs", p, len(taken))
	var rows []blueprint.ExecutionRow
	for _, id := range taken {
		rows = append(rows, w.disk.stored(id).Row)
	}
	w.moved(rows, p)
}

// String returns the name and number of a process, "" if it is the only one.
func (p *process) String() string {
	if p.cluster() == nil {
		return ""
	}
	return " " + p.name + string(rune('0'+p.id%10))
}

// freeName returns a name that no running process has.
func (w *world) freeName() string {
	if w.cluster == nil {
		return ""
	}
	var free []string
	for _, name := range []string{"a", "b", "c", "d"} {
		if !slices.ContainsFunc(w.processes, func(p *process) bool { return p.name == name }) {
			free = append(free, name)
		}
	}
	return free[w.IntN(len(free))]
}

// moved records that a process has the runs of dead ones.
func (w *world) moved(rows []blueprint.ExecutionRow, p *process) {
	for i := range rows {
		h := w.histories[rows[i].ID]
		if h == nil {
			continue // a flaw stored it
		}
		h.processes++
		h.suspended = false
		h.holder, h.heldSince, h.began = p.id, w.now(), len(h.starts) > 0
		p.restoreRounds(h)
		w.count("runs taken over")
	}
}

// begunOf returns since when the process of a run could work on it.
func (w *world) begunOf(h *history) time.Time {
	if w.cluster == nil {
		return w.processes[0].begun
	}
	since := h.heldSince
	if p := w.cluster.byID[h.holder]; p != nil && p.faultAt.After(since) {
		since = p.faultAt
	}
	return since
}

func (p *process) isAwake() bool { return p.until[faultFrozen].IsZero() }
func (p *process) isCut() bool   { return !p.until[faultCut].IsZero() }

func (p *process) isLost() bool {
	select {
	case <-p.lost:
		return true
	default:
		return false
	}
}

// readyProcesses returns the processes that clients can reach.
func (w *world) readyProcesses() (ready []*process) {
	for _, p := range w.processes {
		if p.isReady() && p.isAwake() && !p.isLost() {
			ready = append(ready, p)
		}
	}
	return ready
}

// pickReady returns one of them.
func (w *world) pickReady() *process {
	ready := w.readyProcesses()
	if len(ready) == 1 {
		return ready[0]
	}
	return ready[w.IntN(len(ready))]
}

// canEdit reports whether some process is at work and does not stop.
func (w *world) canEdit() bool {
	return slices.ContainsFunc(w.readyProcesses(), func(p *process) bool { return !p.stopping })
}

func (w *world) waitingClients() (sum int) {
	for _, p := range w.processes {
		sum += p.openRequests
	}
	return sum
}

// stopAll stops all processes.
func (w *world) stopAll() {
	for _, p := range w.processes {
		if !p.stopping {
			w.stop(p)
		}
	}
}

// left returns the processes with goroutines that have not ended.
func (w *world) left() []*process {
	if w.cluster == nil {
		return w.processes
	}
	return append(slices.Clone(w.processes), w.cluster.ghosts...)
}

// nextTimer returns the first planned instant of any process.
func (w *world) nextTimer() (first time.Time) {
	for _, p := range w.processes {
		if next := p.clock.next(w.now()); p.isAwake() && !next.IsZero() && (first.IsZero() || next.Before(first)) {
			first = next
		}
	}
	return first
}

// pending returns the indexes of the writes about which the disk may decide. A process whose
// last commit has no outcome yet makes no other.
func (w *world) pending() (indexes []int) {
	for i, one := range w.writes {
		if p := one.process; !p.isCut() && len(p.owed) == 0 {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// sharedWrite returns the index of a write that several nodes wait for, -1 for none.
func (w *world) sharedWrite() int {
	for _, i := range w.pending() {
		if w.writes[i].shared && w.writes[i].process.isAwake() {
			return i
		}
	}
	return -1
}
