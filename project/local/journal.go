package local

import (
	"context"
	"slices"
	"sync"

	"blueprintd/blueprint"
)

// memoryJournal is the engine's disk for a run without a server: it lasts as
// long as the process.
type memoryJournal struct {
	definition *blueprint.Definition
	others     map[string]*blueprint.Definition // by id
	mu         sync.Mutex
	runs       map[string]*blueprint.StoredExecution
	order      []string // the ids of the runs, in the order in which they were stored
}

func newMemoryJournal(definition *blueprint.Definition, others map[string]*blueprint.Definition) *memoryJournal {
	return &memoryJournal{definition: definition, others: others, runs: map[string]*blueprint.StoredExecution{}}
}

// ids returns the runs, the first first.
func (j *memoryJournal) ids() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.order)
}

// Runnable returns a blueprint that a node runs.
func (j *memoryJournal) Runnable(_ context.Context, _, id string) (*blueprint.Definition, bool, error) {
	if definition := j.others[id]; definition != nil {
		return definition, true, nil
	}
	return nil, false, blueprint.Errorf(blueprint.CodeNotFound, "there is no blueprint %s here", id)
}

// Commit keeps what a database would store.
func (j *memoryJournal) Commit(_ context.Context, c *blueprint.JournalCommit) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	stored := j.runs[c.Row.ID]
	if stored == nil {
		stored = &blueprint.StoredExecution{}
		j.runs[c.Row.ID] = stored
		j.order = append(j.order, c.Row.ID)
	}
	stored.Row = c.Row
	stored.Entries = append(stored.Entries, c.Entries...)
	if c.Row.Status.Terminal() {
		stored.Record, stored.State, stored.Entries = c.Record, c.State, nil
	}
	return nil
}

// Load returns a copy of what was stored.
func (j *memoryJournal) Load(_ context.Context, id string) (*blueprint.StoredExecution, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	stored := j.runs[id]
	if stored == nil {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "no execution %s", id)
	}
	out := *stored
	out.Entries = append([][]byte(nil), stored.Entries...)
	return &out, nil
}

// Unfinished returns nothing: a new process starts with nothing.
func (j *memoryJournal) Unfinished(context.Context) ([]blueprint.ExecutionRow, error) {
	return nil, nil
}

// DefinitionVersion returns one of the blueprints that there are.
func (j *memoryJournal) DefinitionVersion(_ context.Context, id, _ string) (*blueprint.Definition, error) {
	if other := j.others[id]; other != nil {
		return other, nil
	}
	return j.definition, nil
}
