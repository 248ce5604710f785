package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

type firingID struct {
	ID string `json:"firingId" check:"required"`
}

func (s *Service) triggerExplain(ctx context.Context, caller *trpc.Caller, in firingID) (*blueprint.Explanation, error) {
	story, err := s.Store.FiringStory(ctx, caller.Principal, in.ID)
	if err != nil {
		return nil, err
	}
	if story.Run != nil && story.Run.Status != blueprint.StatusNotFound {
		if err := s.lookUp(ctx, caller.Principal, story.Run); err != nil {
			return nil, err
		}
	}
	return s.Explain(story), nil
}

// lookUp completes what became of a run, as it is now. One that the caller may
// not see, or that cannot be read, stays as it is.
func (s *Service) lookUp(ctx context.Context, principal blueprint.Principal, run *blueprint.FiringRun) error {
	stored, _, err := s.Store.Execution(ctx, principal, run.ExecutionID)
	if err == nil {
		var view *blueprint.Execution
		if view, err = s.view(ctx, principal, stored, 0); err == nil {
			if run.Status = view.Status; view.Failure != nil {
				run.Error, run.Displaced = view.Failure.Message, view.Failure.Displaced
			}
		}
	}
	switch code := blueprint.CodeOf(err); {
	case code == "", code == blueprint.CodeNotFound, code == blueprint.CodeInternal && ctx.Err() == nil:
		return nil
	}
	return err
}
