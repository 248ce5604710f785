package local

import (
	"context"
	"slices"
	"sync"

	"blueprintd/blueprint"
)

// memoryJournal is an engine.Journal in memory.
type memoryJournal struct {
	definition *blueprint.Definition
	others     map[string]*blueprint.Definition // by id
	mu         sync.Mutex
	runs       map[string]*blueprint.StoredExecution
	order      []string // the ids of the runs in the order of their first commit
}

func newMemoryJournal(definition *blueprint.Definition, others map[string]*blueprint.Definition) *memoryJournal {
	return &memoryJournal{definition: definition, others: others, runs: map[string]*blueprint.StoredExecution{}}
}

// ids returns the ids of the runs in the order of their first commit.
func (j *memoryJournal) ids() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.order)
}

// Runnable returns the blueprint with an id.
func (j *memoryJournal) Runnable(_ context.Context, _, id string) (*blueprint.Definition, bool, error) {
	if definition := j.others[id]; definition != nil {
		return definition, true, nil
	}
	return nil, false, blueprint.Errorf(blueprint.CodeNotFound, "there is no blueprint %s here", id)
}

// Commit stores a change of a run.
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

// Load returns a copy of a stored run.
func (j *memoryJournal) Load(_ context.Context, id string) (*blueprint.StoredExecution, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	stored := j.runs[id]
	if stored == nil {
		return nil, blueprint.Errorf(blueprint.CodeNotFound, "no execution %s", id)
	}
	out := *stored
	out.Entries = slices.Clone(stored.Entries)
	return &out, nil
}

// Unfinished returns nothing.
func (j *memoryJournal) Unfinished(context.Context) ([]blueprint.ExecutionRow, error) {
	return nil, nil
}

// DefinitionVersion returns the blueprint with an id; there is one version of each.
func (j *memoryJournal) DefinitionVersion(_ context.Context, id, _ string) (*blueprint.Definition, error) {
	if other := j.others[id]; other != nil {
		return other, nil
	}
	return j.definition, nil
}
