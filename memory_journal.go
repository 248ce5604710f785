package main

import (
	"context"
	"sync"

	"blueprintd/blueprint"
)

// memoryJournal is the engine's disk for a run without a server: it lasts as
// long as the process.
type memoryJournal struct {
	definition *blueprint.Definition
	mu         sync.Mutex
	runs       map[string]*blueprint.StoredExecution
}

func newMemoryJournal(definition *blueprint.Definition) *memoryJournal {
	return &memoryJournal{definition: definition, runs: map[string]*blueprint.StoredExecution{}}
}

// Commit keeps what a database would store.
func (j *memoryJournal) Commit(_ context.Context, c *blueprint.JournalCommit) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	stored := j.runs[c.Row.ID]
	if stored == nil {
		stored = &blueprint.StoredExecution{}
		j.runs[c.Row.ID] = stored
	}
	stored.Row = c.Row
	stored.Entries = append(stored.Entries, c.Entries...)
	if c.Row.Status.Terminal() {
		stored.Record, stored.State, stored.Entries = c.Record, c.State, nil
	}
	return nil
}

// Load gives a copy of what was stored.
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

// Unfinished gives nothing: a new process starts with nothing.
func (j *memoryJournal) Unfinished(context.Context) ([]blueprint.ExecutionRow, error) {
	return nil, nil
}

// DefinitionVersion gives the one blueprint that there is.
func (j *memoryJournal) DefinitionVersion(context.Context, string, string) (*blueprint.Definition, error) {
	return j.definition, nil
}
