package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// collaboratorStore is what these procedures ask of the database.
type collaboratorStore interface {
	Collaborators(ctx context.Context, p blueprint.Principal, blueprintID string) ([]blueprint.Collaborator, error)
	AddCollaborator(ctx context.Context, p blueprint.Principal, blueprintID, email string, role blueprint.CollaboratorRole) (blueprint.Collaborator, error)
	DropCollaborator(ctx context.Context, p blueprint.Principal, blueprintID, userID string) error
}

func (s *Service) collaborators() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("collaborator.list", blueprint.ScopeAdmin, s.collaboratorList),
		trpc.Mutation("collaborator.add", blueprint.ScopeAdmin, s.collaboratorAdd),
		trpc.Mutation("collaborator.remove", blueprint.ScopeAdmin, s.collaboratorRemove),
	}
}

func (s *Service) collaboratorList(ctx context.Context, caller *trpc.Caller, in ofBlueprint) ([]blueprint.Collaborator, error) {
	return listed(s.Store.Collaborators(ctx, caller.Principal, in.BlueprintID))
}

type collaboratorAdd struct {
	BlueprintID string                     `json:"blueprintId" check:"required,uuid"`
	Email       string                     `json:"email" check:"required,trim,min=1,max=320"`
	Role        blueprint.CollaboratorRole `json:"role" check:"required,enum=editor|admin"`
}

func (s *Service) collaboratorAdd(ctx context.Context, caller *trpc.Caller, in collaboratorAdd) (blueprint.Collaborator, error) {
	return s.Store.AddCollaborator(ctx, caller.Principal, in.BlueprintID, in.Email, in.Role)
}

type collaboratorRemove struct {
	BlueprintID string `json:"blueprintId" check:"required,uuid"`
	UserID      string `json:"userId" check:"required,uuid"`
}

func (s *Service) collaboratorRemove(ctx context.Context, caller *trpc.Caller, in collaboratorRemove) (succeeded, error) {
	if err := s.Store.DropCollaborator(ctx, caller.Principal, in.BlueprintID, in.UserID); err != nil {
		return succeeded{}, err
	}
	return succeeded{true}, nil
}
