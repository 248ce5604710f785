package engine

import (
	"context"
	"sync"

	"blueprintd/blueprint"
)

// Handle is one caller's hold on a run that it started. It is safe for
// concurrent use. A nil Handle takes every signal quietly.
type Handle struct {
	ID       string
	FiringID string

	acceptOnce, settleOnce, respondOnce sync.Once

	accepted chan struct{} // closed once durable, or refused
	refusal  error

	settled chan struct{} // closed once there is nothing to wait for any more
	outcome parkedRun
	failure error

	responded chan struct{}
	response  *blueprint.Response
}

func newHandle(id string) *Handle {
	return &Handle{ID: id, accepted: make(chan struct{}), settled: make(chan struct{}), responded: make(chan struct{})}
}

// accept says that the run is durable or, with an error, that it does not
// exist. Only the first call counts, as with settle and respond.
func (h *Handle) accept(refusal error) {
	if h != nil {
		h.acceptOnce.Do(func() {
			h.refusal = refusal
			close(h.accepted)
		})
	}
}

// settle gives the run's record: it ended, paused, or was put down by a server
// that stops.
func (h *Handle) settle(outcome parkedRun) {
	h.accept(nil)
	h.end(outcome, nil)
}

// refuse ends the handle with an error: the run does not exist, or it exists
// and cannot go on.
func (h *Handle) refuse(err error) {
	h.accept(err)
	h.end(nil, err)
}

// tell ends the handle with a record or the reason why there is none.
func (h *Handle) tell(execution *blueprint.Execution, err error) {
	if err != nil {
		h.refuse(err)
		return
	}
	h.settle(viewed{execution})
}

func (h *Handle) end(outcome parkedRun, failure error) {
	if h != nil {
		h.settleOnce.Do(func() {
			h.outcome, h.failure = outcome, failure
			close(h.settled)
		})
	}
}

func (h *Handle) respond(response *blueprint.Response) {
	if h != nil {
		h.respondOnce.Do(func() {
			h.response = response
			close(h.responded)
		})
	}
}

// Accepted waits until the run is durable. It returns *DuplicateFiringError when
// the firing's key had started a run before, CodeUnavailable when the run could
// not be stored; then the run does not exist.
func (h *Handle) Accepted(ctx context.Context) error {
	select {
	case <-h.accepted:
		return h.refusal
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Wait waits until the run has ended or paused, durably, and gives its record;
// when the server stops, that of an unfinished run. Its errors are those of
// Accepted, and those of a disk that fails later. When ctx ends first, the run
// goes on and Wait gives ctx's error.
func (h *Handle) Wait(ctx context.Context) (*blueprint.Execution, error) {
	outcome, err := h.wait(ctx)
	if err != nil {
		return nil, err
	}
	return outcome.whole(), nil
}

// Ending is Wait for a caller that needs only the outcome. Its output is data and
// unaltered, its failure is as readers see it.
func (h *Handle) Ending(ctx context.Context) (blueprint.Ending, error) {
	outcome, err := h.wait(ctx)
	if err != nil {
		return blueprint.Ending{}, err
	}
	return outcome.ending(), nil
}

func (h *Handle) wait(ctx context.Context) (parkedRun, error) {
	select {
	case <-h.settled:
		return h.outcome, h.failure
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Ended returns a channel that closes when Wait would not wait any more.
func (h *Handle) Ended() <-chan struct{} { return h.settled }

// Responded returns a channel that closes when a respond node has answered, and
// Response the answer from then on.
func (h *Handle) Responded() <-chan struct{} { return h.responded }

// Response returns the answer of the first respond node, unaltered; nil before
// there is one.
func (h *Handle) Response() *blueprint.Response {
	select {
	case <-h.responded:
		return h.response
	default:
		return nil
	}
}
