package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// categoryStore is what these procedures ask of the database. An organization
// "" is the principal's personal workspace.
type categoryStore interface {
	Categories(ctx context.Context, p blueprint.Principal, organizationID string) ([]blueprint.Category, error)
	CreateCategory(ctx context.Context, p blueprint.Principal, organizationID, name string) (blueprint.Category, error)
	DeleteCategory(ctx context.Context, p blueprint.Principal, id string) error
	SetCategories(ctx context.Context, p blueprint.Principal, blueprintID string, ids []string) ([]blueprint.Category, error)
}

func (s *Service) categories() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("category.list", blueprint.ScopeRead, s.categoryList),
		trpc.Mutation("category.create", blueprint.ScopeWrite, s.categoryCreate),
		trpc.Mutation("category.delete", blueprint.ScopeWrite, s.categoryDelete),
		trpc.Mutation("blueprint.setCategories", blueprint.ScopeWrite, s.blueprintSetCategories),
	}
}

type categoryList struct {
	OrganizationID string `json:"organizationId" check:"uuid"`
}

func (s *Service) categoryList(ctx context.Context, caller *trpc.Caller, in categoryList) ([]blueprint.Category, error) {
	return listed(s.Store.Categories(ctx, caller.Principal, in.OrganizationID))
}

type categoryCreate struct {
	OrganizationID string `json:"organizationId" check:"uuid"`
	Name           string `json:"name" check:"required,trim,line,min=1,max=200"`
}

func (s *Service) categoryCreate(ctx context.Context, caller *trpc.Caller, in categoryCreate) (blueprint.Category, error) {
	return s.Store.CreateCategory(ctx, caller.Principal, in.OrganizationID, in.Name)
}

type categoryID struct {
	ID string `json:"id" check:"required,uuid"`
}

func (s *Service) categoryDelete(ctx context.Context, caller *trpc.Caller, in categoryID) (succeeded, error) {
	if err := s.Store.DeleteCategory(ctx, caller.Principal, in.ID); err != nil {
		return succeeded{}, err
	}
	return succeeded{true}, nil
}

type blueprintSetCategories struct {
	ID          string   `json:"id" check:"required,uuid"`
	CategoryIDs []string `json:"categoryIds" check:"required,max=100" each:"uuid"`
}

func (s *Service) blueprintSetCategories(ctx context.Context, caller *trpc.Caller, in blueprintSetCategories) ([]blueprint.Category, error) {
	return listed(s.Store.SetCategories(ctx, caller.Principal, in.ID, in.CategoryIDs))
}
