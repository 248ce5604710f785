package engine

import (
	"context"
	"sync"

	"blueprintd/blueprint"
)

// Handle is a caller's view of a run that it started. It is safe for concurrent use. A
// nil Handle ignores every signal.
type Handle struct {
	ID       string
	FiringID string

	acceptOnce, settleOnce, respondOnce sync.Once

	accepted chan struct{} // closed once the run is durable or refused
	refusal  error

	settled chan struct{} // closed once there is nothing more to wait for
	outcome *parkedRun
	failure error

	responded chan struct{}
	response  *blueprint.Response
}

// accept reports that the run is durable or, with an error, that it does not exist.
// Only the first call counts; the same holds for settle and respond.
func (h *Handle) accept(refusal error) {
	if h != nil {
		h.acceptOnce.Do(func() {
			h.refusal = refusal
			close(h.accepted)
		})
	}
}

// settle reports that the run has ended, paused, or was parked by a server that stops.
func (h *Handle) settle(outcome *parkedRun) {
	h.accept(nil)
	h.end(outcome, nil)
}

// refuse reports that the run does not exist or cannot continue.
func (h *Handle) refuse(err error) {
	h.accept(err)
	h.end(nil, err)
}

func (h *Handle) end(outcome *parkedRun, failure error) {
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

// Accepted waits until the run is durable. Errors: CodeConflict if the firing's key has
// started a run before, CodeUnavailable if the run could not be stored; in both cases the
// run does not exist.
func (h *Handle) Accepted(ctx context.Context) error {
	select {
	case <-h.accepted:
		return h.refusal
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Wait waits until the run has ended or paused, durably, and returns its record; if the
// server stops, that of the unfinished run. Errors are those of Accepted, and those of a
// journal that fails later. If ctx ends first, the run continues and Wait fails.
func (h *Handle) Wait(ctx context.Context) (*blueprint.Execution, error) {
	outcome, err := h.wait(ctx)
	if err != nil {
		return nil, err
	}
	return outcome.execution(), nil
}

// Ending is Wait for callers that need only the outcome. The output is unredacted data,
// the failure is redacted.
func (h *Handle) Ending(ctx context.Context) (blueprint.Ending, error) {
	outcome, err := h.wait(ctx)
	if err != nil {
		return blueprint.Ending{}, err
	}
	return outcome.ending(), nil
}

func (h *Handle) wait(ctx context.Context) (*parkedRun, error) {
	select {
	case <-h.settled:
		return h.outcome, h.failure
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Ended returns a channel that closes when Wait no longer blocks.
func (h *Handle) Ended() <-chan struct{} { return h.settled }

// Responded returns a channel that closes when a respond node has run.
func (h *Handle) Responded() <-chan struct{} { return h.responded }

// Response returns the unredacted response of the first respond node, nil without one.
func (h *Handle) Response() *blueprint.Response {
	select {
	case <-h.responded:
		return h.response
	default:
		return nil
	}
}
