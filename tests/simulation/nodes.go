package simulation

import (
	"encoding/json"
	"fmt"
	"slices"

	"blueprintd/blueprint"
)

// The states of a process on the disk, as in the store.
const (
	stateLive    = "live"
	stateLeaving = "leaving"
	stateDead    = "dead"
)

// nodes is the part of the disk about several processes. In a world with one process it
// stays empty, and all runs belong to process 0.
type nodes struct {
	rows     []*nodeRow
	lastID   int
	owners   map[string]int    // by run
	groups   map[string]string // the concurrency group of each run that has one
	signals  []*signal
	released []int // those that go on writing by FlawEarlyRelease
}

// nodeRow is a process that has not ended, or whose runs have not been taken over.
type nodeRow struct {
	id     int
	name   string
	state  string
	duties bool
}

// signal is a command for the process that has a run. Without data it announces a new run.
type signal struct {
	seq         int64
	executionID string
	target      int
	data        []byte
	taken       bool
	takes       int // how often
	answer      []byte
	answered    chan struct{} // closed with the answer
}

func newNodes() nodes {
	return nodes{owners: map[string]int{}, groups: map[string]string{}}
}

// row returns the row of a process; nil if there is none.
func (n *nodes) row(id int) *nodeRow {
	for _, row := range n.rows {
		if row.id == id {
			return row
		}
	}
	return nil
}

func (n *nodes) isLiving(id int) bool {
	row := n.row(id)
	return row != nil && row.state != stateDead
}

// isAlive reports whether a process may write.
func (d *disk) isAlive(id int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.isLiving(id) || slices.Contains(d.released, id)
}

// members returns a copy of the rows.
func (d *disk) members() []nodeRow {
	d.mu.Lock()
	defer d.mu.Unlock()
	var list []nodeRow
	for _, row := range d.rows {
		list = append(list, *row)
	}
	return list
}

// register adds a process, ends another one of its name, and gives it all runs that belong
// to no living process. It returns these.
func (d *disk) register(name string) (id int, taken []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, row := range d.rows {
		if row.name == name {
			row.state, row.duties = stateDead, false
		}
	}
	d.lastID++
	d.rows = append(d.rows, &nodeRow{id: d.lastID, name: name, state: stateLive})
	taken = d.take(d.lastID)
	d.inherit(d.lastID)
	return d.lastID, taken
}

// take makes the unfinished runs without a living process those of a process.
func (d *disk) take(id int) (taken []string) {
	for _, run := range d.order {
		if !d.runs[run].Row.Status.Terminal() && !d.isLiving(d.owners[run]) {
			d.owners[run] = id
			taken = append(taken, run)
		}
	}
	return taken
}

// inherit makes a process the target of commands for dead ones, which it removes.
func (d *disk) inherit(id int) {
	for _, s := range d.signals {
		if !d.isLiving(s.target) {
			s.target = id
			s.taken = s.taken && d.flaw != FlawSignalTwice
		}
	}
	d.rows = slices.DeleteFunc(d.rows, func(row *nodeRow) bool { return row.state == stateDead })
}

// takeOver makes the runs of dead processes those of another one, and returns them.
func (d *disk) takeOver(id int) (rows []blueprint.ExecutionRow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, run := range d.take(id) {
		rows = append(rows, d.runs[run].Row)
	}
	d.inherit(id)
	return rows
}

// end marks a process as dead, or as leaving.
func (d *disk) end(id int, state string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if row := d.row(id); row != nil && row.state != stateDead {
		row.state, row.duties = state, false
	}
}

// release marks a process that goes on writing as dead.
func (d *disk) release(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if row := d.row(id); row != nil {
		row.state, row.duties = stateDead, false
		d.released = append(d.released, id)
	}
}

// takeDuties assigns the duties to a live process, unless another one has them.
func (d *disk) takeDuties(id int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	held := slices.ContainsFunc(d.rows, func(row *nodeRow) bool { return row.duties && row.state == stateLive })
	if row := d.row(id); row != nil && row.state == stateLive && (!held || d.flaw == FlawTwoDuties) {
		row.duties = true
	}
}

// place assigns a new run to the process of its concurrency group, or to the one that stores
// it. The caller holds d.mu.
func (d *disk) place(c *blueprint.JournalCommit, by int) {
	id := c.Row.ID
	d.owners[id] = by
	if c.Group == nil || c.Row.Status.Terminal() {
		return
	}
	to := 0
	for run, key := range d.groups {
		if key == c.Group.Key && !d.runs[run].Row.Status.Terminal() {
			to = max(to, d.owners[run])
		}
	}
	d.groups[id] = c.Group.Key
	if to == 0 || to == by {
		return
	}
	d.owners[id], c.Handed = to, d.flaw != FlawKeepsHanded
	d.add(&signal{executionID: id, target: to})
}

func (d *disk) add(s *signal) *signal {
	s.seq, s.answered = int64(len(d.signals)+1), make(chan struct{})
	d.signals = append(d.signals, s)
	return s
}

// owner returns the process of a run on the disk, 0 for none.
func (d *disk) owner(run string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.owners[run]
}

// ask adds a command for the process of an unfinished run; nil if by has it, or it has
// ended.
func (d *disk) ask(run string, by int, data []byte) *signal {
	d.mu.Lock()
	defer d.mu.Unlock()
	stored := d.runs[run]
	if stored == nil || stored.Row.Status.Terminal() || d.owners[run] == by {
		return nil
	}
	return d.add(&signal{executionID: run, target: d.owners[run], data: data})
}

// withdraw removes a command that its process has not taken, and reports whether it did.
func (d *disk) withdraw(s *signal) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s.taken {
		return false
	}
	s.taken, s.target = true, 0
	return true
}

// commands takes the commands for a process, and reports whether one was taken before.
func (d *disk) commands(id int) (list []blueprint.RunCommand, again bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.signals {
		if s.target == id && !s.taken {
			again = again || s.takes > 0
			s.taken = true
			s.takes++
			list = append(list, blueprint.RunCommand{Seq: s.seq, ExecutionID: s.executionID, Data: s.data})
			if d.flaw == FlawSignalUnread && s.data != nil {
				s.answer = sealer.Seal([]byte("{}"), "signals/"+s.executionID)
				close(s.answered)
			}
		}
	}
	return list, again
}

// asked reports whether there are commands for a process.
func (d *disk) asked(id int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.signals, func(s *signal) bool { return s.target == id && !s.taken })
}

func (d *disk) answer(seq int64, data []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if s := d.signals[seq-1]; s.answer == nil {
		s.answer = data
		close(s.answered)
	}
}

// answerAbout returns the answer to the announcement of a run; nil while there is none.
func (d *disk) answerAbout(run string) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.signals {
		if s.executionID == run && s.data == nil {
			return s.answer
		}
	}
	return nil
}

// limit limits the runs of a trigger.
func (d *disk) limit(trigger string, most int, onLimit blueprint.OnLimit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := *d.bindings[trigger]
	b.Trigger.Config = map[string]any{"concurrency": map[string]any{"limit": json.Number(fmt.Sprint(most)), "onLimit": string(onLimit)}}
	d.bindings[trigger] = &b
}
