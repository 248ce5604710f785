package engine_test

import (
	"context"
	"maps"
	"slices"
	"sync"

	"blueprintd/blueprint"
)

// journal is a Journal in memory that can fail, block, and be copied after any commit,
// which is the state after a crash.
type journal struct {
	mu          sync.Mutex
	definitions map[string]*blueprint.Definition // by blueprint id and version
	runs        map[string]*blueprint.StoredExecution
	keys        map[string]*blueprint.DuplicateFiringError // firing keys that have started a run
	commits     int
	loads       int
	history     []*journal // a copy after each commit, when kept
	keep        bool

	// fault, when set, is asked before the n-th commit, counted from 1; it may
	// also block. fault and loadFault are set before they are used.
	fault     func(n int, c *blueprint.JournalCommit) error
	loadFault func(id string) error
	block     chan struct{} // holds back what is read until it closes
	deleted   bool          // the blueprints of all runs are
}

func newJournal() *journal {
	return &journal{definitions: map[string]*blueprint.Definition{}, runs: map[string]*blueprint.StoredExecution{}, keys: map[string]*blueprint.DuplicateFiringError{}}
}

func (j *journal) add(d *blueprint.Definition) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.definitions[d.BlueprintID+" "+d.Version] = d
}

// copy returns the current state without faults.
func (j *journal) copy() *journal {
	out := newJournal()
	maps.Copy(out.definitions, j.definitions)
	maps.Copy(out.keys, j.keys)
	for id, stored := range j.runs {
		out.runs[id] = clone(stored)
	}
	return out
}

func clone(stored *blueprint.StoredExecution) *blueprint.StoredExecution {
	out := *stored
	out.Entries = slices.Clone(stored.Entries)
	return &out
}

func (j *journal) Commit(_ context.Context, c *blueprint.JournalCommit) error {
	j.mu.Lock()
	j.commits++
	n, fault := j.commits, j.fault
	j.mu.Unlock()
	if fault != nil {
		if err := fault(n, c); err != nil {
			return err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	stored := j.runs[c.Row.ID]
	switch {
	case c.New && stored != nil:
		return blueprint.Errorf(blueprint.CodeConflict, "%s exists already", c.Row.ID)
	case !c.New && stored == nil:
		return blueprint.Errorf(blueprint.CodeInternal, "%s does not exist", c.Row.ID)
	case !c.New && stored.Row.Status.Terminal():
		return blueprint.Errorf(blueprint.CodeConflict, "%s has ended", c.Row.ID)
	case !c.New && (c.Firing != nil || c.Coalesced != nil || c.Cursor != 0):
		return blueprint.Errorf(blueprint.CodeInternal, "a firing comes with a run that is not new")
	case c.Row.Status.Terminal() != (c.Record != nil), c.Row.Status.Terminal() != (c.Row.EndTime != 0):
		return blueprint.Errorf(blueprint.CodeInternal, "status, record and end time do not go together")
	}
	if c.Firing != nil {
		key := c.Firing.TriggerID + " " + c.Firing.Key
		if first := j.keys[key]; first != nil {
			return first
		}
		j.keys[key] = &blueprint.DuplicateFiringError{FiringID: c.Firing.ID, ExecutionID: c.Row.ID}
	}
	if stored == nil {
		stored = &blueprint.StoredExecution{}
		j.runs[c.Row.ID] = stored
	}
	stored.Row = c.Row
	stored.Entries = append(stored.Entries, c.Entries...)
	if c.Row.Status.Terminal() {
		stored.Entries, stored.Record, stored.State = nil, c.Record, c.State
	}
	if j.keep {
		j.history = append(j.history, j.copy())
	}
	return nil
}

func (j *journal) Load(ctx context.Context, id string) (*blueprint.StoredExecution, error) {
	j.mu.Lock()
	if block := j.block; block != nil {
		j.mu.Unlock()
		select {
		case <-block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		j.mu.Lock()
	}
	defer j.mu.Unlock()
	j.loads++
	if j.loadFault != nil {
		if err := j.loadFault(id); err != nil {
			return nil, err
		}
	}
	if stored := j.runs[id]; stored != nil {
		return clone(stored), nil
	}
	return nil, blueprint.Errorf(blueprint.CodeNotFound, "no execution %s", id)
}

func (j *journal) Unfinished(context.Context) ([]blueprint.ExecutionRow, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var rows []blueprint.ExecutionRow
	for _, id := range slices.Sorted(maps.Keys(j.runs)) {
		if row := j.runs[id].Row; !row.Status.Terminal() {
			row.BlueprintDeleted = j.deleted
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (j *journal) DefinitionVersion(_ context.Context, id, version string) (*blueprint.Definition, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if d := j.definitions[id+" "+version]; d != nil {
		return d, nil
	}
	return nil, blueprint.Errorf(blueprint.CodeNotFound, "no blueprint %s %s", id, version)
}

// stored returns a stored run, or nil.
func (j *journal) stored(id string) *blueprint.StoredExecution {
	j.mu.Lock()
	defer j.mu.Unlock()
	if stored := j.runs[id]; stored != nil {
		return clone(stored)
	}
	return nil
}

// count returns the number of attempted commits.
func (j *journal) count() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.commits
}

// setFault changes fault while the engine runs.
func (j *journal) setFault(fault func(n int, c *blueprint.JournalCommit) error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.fault = fault
}
