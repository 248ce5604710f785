package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// triggerRedeliver names one firing, or what several of a trigger have in
// common.
type triggerRedeliver struct {
	FiringID        *string            `json:"firingId" check:"min=1"`
	TriggerID       *string            `json:"triggerId" check:"uuid"`
	Decision        string             `json:"decision" check:"enum=started|duplicate|skipped|refused|coalesced"`
	ExecutionStatus string             `json:"executionStatus" check:"enum=failed"`
	From            trpc.Optional[any] `json:"from"`
	To              trpc.Optional[any] `json:"to"`
	After           string             `json:"after"` // next of the answer before
	Limit           int                `json:"limit" check:"min=1,max=1000,default=100"`
	DryRun          bool               `json:"dryRun"`
	Again           bool               `json:"again"`
}

// redelivered is the answer: the first two about one firing, the others about
// several.
type redelivered struct {
	Success     bool                      `json:"success"`
	ExecutionID string                    `json:"executionId,omitempty"`
	FiringID    string                    `json:"firingId,omitempty"`
	Matched     *int                      `json:"matched,omitempty"`
	Redelivered *int                      `json:"redelivered,omitempty"`
	Refused     *[]blueprint.RefusedAgain `json:"refused,omitempty"`
	Firings     *[]blueprint.RanAgain     `json:"firings,omitempty"`
	Next        **string                  `json:"next,omitempty"` // after, to go on; null when all is done
	Stopped     string                    `json:"stopped,omitempty"`
}

func (s *Service) triggerRedeliver(ctx context.Context, caller *trpc.Caller, in triggerRedeliver) (redelivered, error) {
	if in.FiringID != nil && in.TriggerID == nil {
		executionID, firingID, err := s.Triggers.Redeliver(ctx, caller.Principal, *in.FiringID)
		if err != nil {
			return redelivered{}, err
		}
		caller.Note("firing", *in.FiringID, map[string]any{"executionId": executionID, "firingId": firingID})
		return redelivered{Success: true, ExecutionID: executionID, FiringID: firingID}, nil
	}
	r := filterReading{filter: blueprint.FiringFilter{Status: blueprint.Status(in.ExecutionStatus)}}
	r.span(in.From, in.To)
	switch {
	case in.FiringID != nil:
		r.refuse("names one firing and cannot stand beside triggerId", "firingId")
	case in.TriggerID == nil:
		r.refuse("required, or triggerId with decision or executionStatus, and from", "firingId")
	default:
		if in.Decision == "" && in.ExecutionStatus == "" {
			r.refuse(`required, unless executionStatus is "failed"`, "decision")
		}
		if in.ExecutionStatus != "" && in.Decision != "" && in.Decision != string(blueprint.DecisionStarted) {
			r.refuse("only a firing that started a run has one", "executionStatus")
		}
		if !in.From.Set {
			r.refuse("required", "from")
		}
	}
	if len(r.issues) > 0 {
		return redelivered{}, trpc.InvalidInput(r.issues...)
	}
	if in.Decision != "" {
		r.filter.Decisions = []blueprint.Decision{blueprint.Decision(in.Decision)}
	}
	result, err := s.Triggers.RedeliverSeveral(ctx, caller.Principal, &blueprint.RedeliverRequest{
		TriggerID: *in.TriggerID, Filter: r.filter, After: in.After, Limit: in.Limit, Again: in.Again, DryRun: in.DryRun,
	})
	if err != nil {
		return redelivered{}, err
	}
	caller.Note("trigger", *in.TriggerID, map[string]any{"redelivered": result.Redelivered})
	if in.DryRun || result.Stopped != "" && result.Redelivered+len(result.Refused) == 0 {
		caller.NoteNothing()
	}
	next := &result.Next
	if *next == "" {
		next = nil
	}
	return redelivered{
		Success: true, Matched: &result.Matched, Redelivered: &result.Redelivered, Refused: &result.Refused, Firings: &result.Firings,
		Next: &next, Stopped: result.Stopped,
	}, nil
}
