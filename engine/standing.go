package engine

import "blueprintd/blueprint"

// standing is a run as it was when it came to rest. What is asked of it is made
// then, for most callers want the end alone, which takes far less. It is safe for
// concurrent use.
type standing interface {
	whole() *blueprint.Execution
	ending() blueprint.Ending
}

// rested is a run that this process brought to rest.
type rested struct {
	account *stored // as readers see it
	truth   *stored // as it is
	row     blueprint.ExecutionRow
}

func (r *rested) whole() *blueprint.Execution { return r.account.expand(&r.row) }

func (r *rested) ending() blueprint.Ending {
	ending := blueprint.Ending{Status: r.row.Status, Failure: r.account.failure(r.row.Status)}
	if ending.Status == blueprint.StatusCompleted {
		ending.Output = newValues(r.truth).output(r.truth.Ends)
	}
	return ending
}

// viewed is a run that has not ended, of which there is a view already.
type viewed struct{ *blueprint.Execution }

func (v viewed) whole() *blueprint.Execution { return v.Execution }

func (v viewed) ending() blueprint.Ending {
	return blueprint.Ending{Status: v.Status, Output: v.Output, Failure: v.Failure}
}
