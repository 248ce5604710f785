package rpc

import (
	"context"

	"blueprintd/blueprint"
)

// toolStore is what these procedures ask of the database.
type toolStore interface {
	Tools(ctx context.Context, p blueprint.Principal) ([]blueprint.Tool, error)
	EnableTool(ctx context.Context, p blueprint.Principal, triggerID string) error
	DisableTool(ctx context.Context, p blueprint.Principal, triggerID string) error
}

func (s *Service) mcpTools() []Procedure {
	return []Procedure{
		query("mcpTool.list", blueprint.ScopeWrite, s.mcpToolList),
		mutation("mcpTool.enable", blueprint.ScopeWrite, s.mcpToolEnable),
		mutation("mcpTool.disable", blueprint.ScopeWrite, s.mcpToolDisable),
	}
}

func (s *Service) mcpToolList(ctx context.Context, caller *Caller, _ struct{}) ([]blueprint.Tool, error) {
	return s.Store.Tools(ctx, caller.Principal)
}

func (s *Service) mcpToolEnable(ctx context.Context, caller *Caller, in triggerID) (succeeded, error) {
	err := s.Store.EnableTool(ctx, caller.Principal, in.ID)
	return succeeded{err == nil}, err
}

func (s *Service) mcpToolDisable(ctx context.Context, caller *Caller, in triggerID) (succeeded, error) {
	err := s.Store.DisableTool(ctx, caller.Principal, in.ID)
	return succeeded{err == nil}, err
}
