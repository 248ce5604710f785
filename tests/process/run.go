package process

// RunState is the part of a run's record, as getExecutionStatus returns it, that says
// whether the run has ended and what it waits for.
type RunState struct {
	Status      string     `json:"status"`
	Awaiting    *Awaiting  `json:"awaitingInput"`
	AwaitingAll []Awaiting `json:"awaitingInputs"`
}

// Awaiting is a question of a run.
type Awaiting struct {
	NodeID string `json:"nodeId"`
	Kind   string `json:"kind"`
}

// Terminal reports whether the run has ended.
func (r *RunState) Terminal() bool { return r.Status == "completed" || r.Status == "failed" }

// Waiting returns everything that the run waits for.
func (r *RunState) Waiting() []Awaiting {
	if r.Awaiting == nil || len(r.AwaitingAll) > 0 {
		return r.AwaitingAll
	}
	return []Awaiting{*r.Awaiting}
}
