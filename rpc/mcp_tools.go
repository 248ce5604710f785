package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// toolStore is what these procedures ask of the database.
type toolStore interface {
	Tools(ctx context.Context, p blueprint.Principal) ([]blueprint.Tool, error)
	EnableTool(ctx context.Context, p blueprint.Principal, triggerID string) error
	DisableTool(ctx context.Context, p blueprint.Principal, triggerID string) error
}

func (s *Service) mcpTools() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("mcpTool.list", blueprint.ScopeWrite, s.mcpToolList),
		trpc.Mutation("mcpTool.enable", blueprint.ScopeWrite, s.mcpToolEnable),
		trpc.Mutation("mcpTool.disable", blueprint.ScopeWrite, s.mcpToolDisable),
	}
}

func (s *Service) mcpToolList(ctx context.Context, caller *trpc.Caller, _ struct{}) ([]blueprint.Tool, error) {
	return s.Store.Tools(ctx, caller.Principal)
}

func (s *Service) mcpToolEnable(ctx context.Context, caller *trpc.Caller, in triggerID) (succeeded, error) {
	err := s.Store.EnableTool(ctx, caller.Principal, in.ID)
	return succeeded{err == nil}, err
}

func (s *Service) mcpToolDisable(ctx context.Context, caller *trpc.Caller, in triggerID) (succeeded, error) {
	err := s.Store.DisableTool(ctx, caller.Principal, in.ID)
	return succeeded{err == nil}, err
}
