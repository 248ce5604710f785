package blueprint

import "context"

// Deletion deletes blueprints together with what they have set going.
type Deletion struct {
	// Store deletes a blueprint and its triggers, and returns the runs that have not
	// ended.
	Store interface {
		DeleteBlueprint(ctx context.Context, p Principal, id string) (unfinished []string, err error)
	}
	// CancelRuns cancels those runs.
	CancelRuns func(ctx context.Context, executions []string, reason string) error
	// TriggersChanged tells the scheduler that triggers are gone; nil = there is none.
	TriggersChanged func()
}

// Delete deletes a blueprint, cancels its unfinished runs and stops its triggers.
// Once the blueprint is deleted, the rest happens even when ctx ends.
func (d Deletion) Delete(ctx context.Context, p Principal, id string) error {
	unfinished, err := d.Store.DeleteBlueprint(ctx, p, id)
	if err != nil {
		return err
	}
	if d.TriggersChanged != nil {
		defer d.TriggersChanged() // last: it would let blocked runs begin that are to be cancelled
	}
	return d.CancelRuns(context.WithoutCancel(ctx), unfinished, "the blueprint was deleted")
}
