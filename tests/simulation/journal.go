package simulation

import (
	"context"

	"blueprintd/blueprint"
)

// journal is the disk of one process: engine.Journal and triggers.Store. A write blocks
// until the world decides about it; reads return at once. After a crash, every call fails.
type journal struct{ *process }

func (j journal) isDead() bool {
	select {
	case <-j.dead:
		return true
	default:
		return false
	}
}

// send waits until the world has decided about a write.
func (j journal) send(w *write) error {
	if j.isDead() {
		return errDead
	}
	if j.isLost() {
		return errLost
	}
	if w.process = j.process; j.cluster() != nil {
		w.key += j.String()
	}
	w.answer = make(chan error, 1)
	j.world.inbox.add(func(in *inbox) { in.writes = append(in.writes, w) })
	select {
	case err := <-w.answer:
		return err
	case <-j.dead:
		return errDead
	case <-j.lost:
		return errLost
	}
}

// readable returns the reason why this process cannot read the disk.
func (j journal) readable() error {
	if j.isDead() {
		return errDead
	}
	if j.isLost() {
		return errLost
	}
	unlinked := false
	if j.set(func() { unlinked = j.unlinked }); unlinked {
		return errUnreadable
	}
	return nil
}

func (j journal) Commit(_ context.Context, c *blueprint.JournalCommit) error {
	unlinked := false
	if j.set(func() { unlinked = j.unlinked }); unlinked && c.New && c.Row.ParentExecutionID == "" {
		return errUnreadable // as the store refuses new runs while it cannot reach the database
	}
	kept := *c // the engine may modify its own
	err := j.send(&write{key: "run " + c.Row.ID, commit: &kept})
	c.Handed = kept.Handed
	return err
}

func (j journal) RecordFirings(_ context.Context, trigger string, rows []blueprint.Firing, cursor blueprint.Time, _ ...blueprint.Event) error {
	if len(rows) == 0 {
		return nil // an event; these worlds have none
	}
	return j.send(&write{key: "rows " + trigger + " " + rows[0].ID, trigger: trigger, rows: rows, cursor: cursor})
}

func (j journal) Load(_ context.Context, id string) (*blueprint.StoredExecution, error) {
	if err := j.readable(); err != nil {
		return nil, err
	}
	return j.world.disk.load(id, j.id)
}

func (j journal) Unfinished(context.Context) ([]blueprint.ExecutionRow, error) {
	if err := j.readable(); err != nil {
		return nil, err
	}
	return j.world.disk.unfinished(j.id)
}

func (j journal) DefinitionVersion(_ context.Context, id, _ string) (*blueprint.Definition, error) {
	if err := j.readable(); err != nil {
		return nil, err
	}
	return j.world.disk.version(id)
}

func (j journal) Binding(_ context.Context, id string) (*blueprint.Binding, error) {
	if err := j.readable(); err != nil {
		return nil, err
	}
	return j.world.disk.binding(id)
}

// RecentBinding returns no earlier binding.
func (j journal) RecentBinding(ctx context.Context, id string) (*blueprint.Binding, int64, error) {
	binding, err := j.Binding(ctx, id)
	return binding, 0, err
}

func (j journal) GetTrigger(ctx context.Context, _ blueprint.Principal, id string) (blueprint.Trigger, error) {
	binding, err := j.Binding(ctx, id)
	if err != nil {
		return blueprint.Trigger{}, err
	}
	return binding.Trigger, nil
}

func (j journal) Schedules(_ context.Context, since int64) (list []blueprint.Schedule, generation int64, err error) {
	if err := j.readable(); err != nil {
		return nil, 0, err
	}
	return j.world.disk.schedules(since)
}

// SchedulesAfter returns them all on one page.
func (j journal) SchedulesAfter(_ context.Context, last int64, _ int) (page []blueprint.Schedule, next int64, err error) {
	if err := j.readable(); err != nil {
		return nil, 0, err
	}
	if last == 0 {
		page, _, err = j.world.disk.schedules(0)
	}
	return page, 1, err
}

// Listeners, Events, NextEvents and RemoveEvents are empty: these worlds have no events.
func (j journal) Listeners(context.Context, string, string) ([]string, error) { return nil, nil }

func (j journal) Events(context.Context, int64, int) ([]blueprint.OutboxEvent, error) {
	return nil, nil
}

func (j journal) NextEvents(context.Context, map[string]int64, int) ([]blueprint.OutboxEvent, error) {
	return nil, nil
}

func (j journal) RemoveEvents(context.Context, []string, ...blueprint.Firing) error { return nil }

// TryClaim has nothing to do: a world has one process.
func (j journal) TryClaim(context.Context, string) (release func(), held bool, err error) {
	return func() {}, true, nil
}

// Reactivate does nothing: all triggers are active.
func (j journal) Reactivate(context.Context, string) (bool, error) { return false, nil }

func (j journal) StartedFiring(_ context.Context, trigger, key string) (*blueprint.Firing, error) {
	if err := j.readable(); err != nil {
		return nil, err
	}
	return j.world.disk.firing(trigger, key)
}
