package simulation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// Flaw is a bug that is put into a world to show that the oracle finds it.
type Flaw int

// The flaws.
const (
	FlawNone        Flaw = iota
	FlawLosesLast        // a commit loses its last entry
	FlawNoKey            // a key may start several runs
	FlawEarlyAnswer      // commits are acknowledged before they are on the disk
	FlawForgetsTick      // a tick is stored without the cursor
	FlawSkipsTick        // the cursor moves one tick too far
	FlawRevives          // an ended run can be resumed
	FlawStaleRead        // a run is read back without its last entry
	FlawOnceTwice        // the engine treats nodes of effect "once" as idempotent
	FlawTorn             // a crash leaves part of a commit
	FlawLosesFiring      // a run is stored without its ledger row
	FlawWrongRecord      // a record has a wrong output
	FlawNoRecovery       // the disk does not report unfinished runs
	FlawForgetsItem      // the result of an item is not read back
	FlawForgetsCall      // the run for which a node waits is not read back
	FlawWrongChild       // a wrong output of a child run is read
	// Those of several processes.
	FlawNoFence         // a process that was declared dead still writes
	FlawKeepsHanded     // a run is handed to another process without removing it from the first
	FlawLeaseFromAnswer // a lease counts from the answer to a beat instead of its sending
	FlawUnknownFailed   // a commit whose answer was lost is taken for failed
	FlawUnknownDone     // a commit whose answer was lost is taken for done
	FlawTwoDuties       // several processes have the duties
	FlawDeadByClock     // silence counts before a process could look at the others
	FlawSignalTwice     // commands that a dead process has taken are taken again
	FlawSignalUnread    // a command is answered when it is taken
	FlawEarlyRelease    // a process that stops releases its runs before it has put them down
	FlawNoTakeOver      // dead processes are not noticed
	flaws
)

// disk survives a crash. A commit is applied whole or not at all.
type disk struct {
	flaw Flaw

	mu          sync.Mutex
	unreadable  bool // reads fail for a while
	definitions map[string]*blueprint.Definition
	runs        map[string]*blueprint.StoredExecution
	order       []string // of runs, in order of creation
	started     map[string]blueprint.Firing
	bindings    map[string]*blueprint.Binding
	triggers    []string
	cursors     map[string]blueprint.Time
	changed     map[string]int64 // generation of the last change of a trigger
	generation  int64
	signed      map[string]bool // nodes with a sign-in
	nodes                       // of several processes
}

func newDisk(flaw Flaw) *disk {
	return &disk{
		flaw: flaw, definitions: map[string]*blueprint.Definition{}, runs: map[string]*blueprint.StoredExecution{}, started: map[string]blueprint.Firing{},
		bindings: map[string]*blueprint.Binding{}, cursors: map[string]blueprint.Time{}, changed: map[string]int64{}, signed: map[string]bool{}, nodes: newNodes(),
	}
}

var errUnreadable = &blueprint.Error{Code: blueprint.CodeUnavailable, Message: "the disk cannot be read"}

// commit applies a commit of the engine.
func (d *disk) commit(c *blueprint.JournalCommit, by int) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	stored := d.runs[c.Row.ID]
	terminal := c.Row.Status.Terminal()
	switch {
	case c.New == (stored != nil):
		return fmt.Errorf("run %s: new is %v, and it is there: %v", c.Row.ID, c.New, stored != nil)
	case !c.New && stored.Row.Status.Terminal():
		return blueprint.Errorf(blueprint.CodeConflict, "run %s has ended", c.Row.ID)
	case !c.New && (c.Firing != nil || c.Coalesced != nil || c.Cursor != 0):
		return fmt.Errorf("run %s: a firing comes with a run that is not new", c.Row.ID)
	case terminal != (c.Record != nil), terminal != (c.Row.EndTime != 0):
		return fmt.Errorf("run %s: status, record and end do not go together", c.Row.ID)
	}
	if c.Firing != nil {
		key := c.Firing.TriggerID + " " + c.Firing.Key
		if first, taken := d.started[key]; taken && d.flaw != FlawNoKey {
			return &blueprint.DuplicateFiringError{FiringID: first.ID, ExecutionID: *first.ExecutionID}
		}
		d.started[key] = *c.Firing
		d.moveCursor(c.Firing.TriggerID, c.Cursor)
	}
	if stored == nil {
		stored = &blueprint.StoredExecution{}
		d.runs[c.Row.ID] = stored
		d.order = append(d.order, c.Row.ID)
		d.place(c, by)
	}
	entries := c.Entries
	if d.flaw == FlawLosesLast && len(entries) > 1 {
		entries = entries[:len(entries)-1]
	}
	before := stored.Entries
	stored.Row = c.Row
	stored.Entries = append(stored.Entries, entries...)
	if terminal {
		stored.Entries, stored.Record, stored.State = nil, c.Record, c.State
	}
	switch {
	case terminal && d.flaw == FlawRevives && len(before) > 0:
		stored.Row.Status, stored.Entries = blueprint.StatusRunning, before
	case terminal && d.flaw == FlawWrongRecord:
		stored.Record = withWrongOutput(c.Row.ID, c.Record, 1)
	}
	return nil
}

// moveCursor sets the instant up to which the ticks of a schedule are decided. The caller
// holds d.mu.
func (d *disk) moveCursor(trigger string, cursor blueprint.Time) {
	if cursor == 0 || d.flaw == FlawForgetsTick {
		return
	}
	if d.flaw == FlawSkipsTick {
		cursor += 60_000
	}
	d.cursors[trigger] = max(d.cursors[trigger], cursor)
}

// record applies ledger rows that start no run.
func (d *disk) record(trigger string, cursor blueprint.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.moveCursor(trigger, cursor)
}

func (d *disk) load(id string, by int) (*blueprint.StoredExecution, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unreadable {
		return nil, errUnreadable
	}
	stored := d.runs[id]
	if stored == nil {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "no execution %s", id)
	}
	out := *stored
	out.Entries = slices.Clone(stored.Entries)
	out.Elsewhere = d.owners[id] != by && !stored.Row.Status.Terminal()
	if d.flaw == FlawStaleRead && len(out.Entries) > 1 {
		out.Entries = out.Entries[:len(out.Entries)-1]
	}
	d.misread(&out)
	return &out, nil
}

// misread applies the flaws of reading that concern items and child runs. The caller holds
// d.mu.
func (d *disk) misread(stored *blueprint.StoredExecution) {
	switch d.flaw {
	case FlawForgetsItem:
		for at := len(stored.Entries) - 1; at >= 0; at-- {
			e, _ := readEntry(stored.Row.ID, stored.Entries[at])
			if e.Kind == "log" {
				continue
			}
			if e.Kind == "end" && strings.Contains(e.Node, "]/") { // later entries may be a consequence
				stored.Entries = slices.Delete(stored.Entries, at, at+1)
				d.runs[stored.Row.ID].Entries = slices.Clone(stored.Entries)
			}
			return
		}
	case FlawForgetsCall:
		stored.Entries = slices.DeleteFunc(stored.Entries, func(data []byte) bool {
			e, _ := readEntry(stored.Row.ID, data)
			return e.Kind == "call"
		})
	case FlawWrongChild:
		if stored.Row.ParentExecutionID != "" {
			stored.Record = withWrongOutput(stored.Row.ID, stored.Record, -1)
		}
	}
}

// withWrongOutput returns a record with another output, at most n times.
func withWrongOutput(id string, record []byte, n int) []byte {
	plain, err := sealer.Open(record, secret.RecordPlace(id))
	if err != nil {
		return record
	}
	return sealer.Seal(bytes.Replace(plain, []byte(`"attempt":1,"by"`), []byte(`"attempt":7,"by"`), n), secret.RecordPlace(id))
}

// sign records a sign-in for a node.
func (d *disk) sign(node string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.signed[node] = true
}

func (d *disk) isSigned(node string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.signed[node]
}

func (d *disk) unfinished(by int) ([]blueprint.ExecutionRow, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unreadable {
		return nil, errUnreadable
	}
	var rows []blueprint.ExecutionRow
	if d.flaw == FlawNoRecovery {
		return nil, nil
	}
	for _, id := range d.order {
		if row := d.runs[id].Row; !row.Status.Terminal() && d.owners[id] == by {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (d *disk) version(id string) (*blueprint.Definition, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.definitions[id]; found != nil {
		return found, nil
	}
	return nil, blueprint.Errorf(blueprint.CodeNotFound, "no blueprint %s", id)
}

// binding implements Binding of triggers.Store.
func (d *disk) binding(id string) (*blueprint.Binding, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unreadable {
		return nil, errUnreadable
	}
	if found := d.bindings[id]; found != nil {
		return found, nil
	}
	return nil, blueprint.Errorf(blueprint.CodeNotFound, "no trigger %s", id)
}

// schedules returns the schedules that have changed since a generation, or all active ones
// for 0.
func (d *disk) schedules(since int64) (list []blueprint.Schedule, generation int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unreadable {
		return nil, 0, errUnreadable
	}
	for _, id := range d.triggers {
		b := d.bindings[id]
		if b.Trigger.Type == blueprint.TriggerScheduled && d.changed[id] > since && (since > 0 || b.Trigger.IsActive) {
			list = append(list, blueprint.Schedule{Trigger: b.Trigger, Cursor: d.cursors[id]})
		}
	}
	return list, d.generation, nil
}

func (d *disk) firing(trigger, key string) (*blueprint.Firing, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.unreadable {
		return nil, errUnreadable
	}
	if row, found := d.started[trigger+" "+key]; found {
		return &row, nil
	}
	return nil, blueprint.Errorf(blueprint.CodeNotFound, "no such firing")
}

// addTrigger creates an active trigger.
func (d *disk) addTrigger(b *simBlueprint, kind blueprint.TriggerType, config map[string]any, cursor blueprint.Time) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := fmt.Sprintf("10000000-0000-4000-8000-%012d", len(d.triggers)+1)
	d.triggers = append(d.triggers, id)
	d.cursors[id] = cursor
	d.generation++
	d.changed[id] = d.generation
	d.bindings[id] = &blueprint.Binding{
		Trigger:    blueprint.Trigger{ID: id, BlueprintID: b.definition.BlueprintID, Type: kind, Config: config, IsActive: true, CreatedBy: owner.UserID},
		Definition: b.definition, Principal: owner, CanManage: true, Member: true,
	}
	return id
}

// editTrigger changes a schedule and restarts it. A nil config keeps the config.
func (d *disk) editTrigger(id string, config map[string]any, active bool, now blueprint.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := *d.bindings[id]
	b.Trigger.IsActive = active
	if config != nil {
		b.Trigger.Config = config
	}
	d.bindings[id] = &b
	d.cursors[id] = max(d.cursors[id], now)
	d.generation++
	d.changed[id] = d.generation
}

func (d *disk) setUnreadable(away bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unreadable = away
}

func (d *disk) isUnreadable() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.unreadable
}

// stored returns a run on the disk, nil for none, even while reads fail.
func (d *disk) stored(id string) *blueprint.StoredExecution {
	d.mu.Lock()
	defer d.mu.Unlock()
	if found := d.runs[id]; found != nil {
		out := *found
		return &out
	}
	return nil
}

// known returns the ids of all runs in order of creation.
func (d *disk) known() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.order)
}
