package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// organizationStore checks access in the transaction of the change. It returns
// CodeForbidden unless the principal is a member, also for an unknown organization.
type organizationStore interface {
	Organizations(ctx context.Context, p blueprint.Principal) ([]blueprint.Organization, error)
	CreateOrganization(ctx context.Context, p blueprint.Principal, name string) (blueprint.Organization, error)
	RenameOrganization(ctx context.Context, p blueprint.Principal, organizationID, name string) (blueprint.Organization, error)
	Members(ctx context.Context, p blueprint.Principal, organizationID string) ([]blueprint.Member, error)
	AddMember(ctx context.Context, p blueprint.Principal, organizationID, email string, role blueprint.OrganizationRole) (blueprint.Member, error)
	DropMember(ctx context.Context, p blueprint.Principal, organizationID, userID string) error
	RenameUser(ctx context.Context, p blueprint.Principal, name string) (blueprint.User, error)
}

func (s *Service) organizations() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("organization.list", blueprint.ScopeRead, ofCaller(s, Store.Organizations)),
		trpc.Mutation("organization.create", blueprint.ScopeAdmin, s.organizationCreate),
		trpc.Mutation("organization.update", blueprint.ScopeAdmin, s.organizationUpdate),
		trpc.Query("organization.members", blueprint.ScopeAdmin, of[ofOrganization](s, Store.Members)),
		trpc.Mutation("organization.addMember", blueprint.ScopeAdmin, s.organizationAddMember),
		trpc.Mutation("organization.removeMember", blueprint.ScopeAdmin, s.organizationRemoveMember),
		trpc.Mutation("user.update", blueprint.ScopeAdmin, s.userUpdate),
	}
}

type organizationCreate struct {
	Name string `json:"name" check:"required,trim,line,min=1,max=200"`
}

func (s *Service) organizationCreate(ctx context.Context, caller *trpc.Caller, in organizationCreate) (blueprint.Organization, error) {
	return s.Store.CreateOrganization(ctx, caller.Principal, in.Name)
}

type organizationUpdate struct {
	ID   string `json:"organizationId" check:"required,uuid"`
	Name string `json:"name" check:"required,trim,line,min=1,max=200"`
}

func (s *Service) organizationUpdate(ctx context.Context, caller *trpc.Caller, in organizationUpdate) (blueprint.Organization, error) {
	return s.Store.RenameOrganization(ctx, caller.Principal, in.ID, in.Name)
}

type ofOrganization struct {
	OrganizationID string `json:"organizationId" check:"required,uuid"`
}

func (in ofOrganization) target() string { return in.OrganizationID }

type organizationAddMember struct {
	OrganizationID string                     `json:"organizationId" check:"required,uuid"`
	Email          string                     `json:"email" check:"required,trim,min=1,max=320"`
	Role           blueprint.OrganizationRole `json:"role" check:"required,enum=member|admin|owner"`
}

func (s *Service) organizationAddMember(ctx context.Context, caller *trpc.Caller, in organizationAddMember) (blueprint.Member, error) {
	return s.Store.AddMember(ctx, caller.Principal, in.OrganizationID, in.Email, in.Role)
}

type organizationRemoveMember struct {
	OrganizationID string `json:"organizationId" check:"required,uuid"`
	UserID         string `json:"userId" check:"required,uuid"`
}

func (s *Service) organizationRemoveMember(ctx context.Context, caller *trpc.Caller, in organizationRemoveMember) (succeeded, error) {
	return success(s.Store.DropMember(ctx, caller.Principal, in.OrganizationID, in.UserID))
}

type userUpdate struct {
	Name string `json:"name" check:"required,trim,line,min=1,max=200"`
}

type userNamed struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

func (s *Service) userUpdate(ctx context.Context, caller *trpc.Caller, in userUpdate) (userNamed, error) {
	user, err := s.Store.RenameUser(ctx, caller.Principal, in.Name)
	return userNamed{user.ID, user.Email, user.Name}, err
}

type collaboratorStore interface {
	Collaborators(ctx context.Context, p blueprint.Principal, blueprintID string) ([]blueprint.Collaborator, error)
	AddCollaborator(ctx context.Context, p blueprint.Principal, blueprintID, email string, role blueprint.CollaboratorRole) (blueprint.Collaborator, error)
	DropCollaborator(ctx context.Context, p blueprint.Principal, blueprintID, userID string) error
}

func (s *Service) collaborators() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("collaborator.list", blueprint.ScopeAdmin, of[ofBlueprint](s, Store.Collaborators)),
		trpc.Mutation("collaborator.add", blueprint.ScopeAdmin, s.collaboratorAdd),
		trpc.Mutation("collaborator.remove", blueprint.ScopeAdmin, s.collaboratorRemove),
	}
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
	return success(s.Store.DropCollaborator(ctx, caller.Principal, in.BlueprintID, in.UserID))
}

// categoryStore takes "" for the organization of the principal's personal workspace.
type categoryStore interface {
	Categories(ctx context.Context, p blueprint.Principal, organizationID string) ([]blueprint.Category, error)
	CreateCategory(ctx context.Context, p blueprint.Principal, organizationID, name string) (blueprint.Category, error)
	DeleteCategory(ctx context.Context, p blueprint.Principal, id string) error
	SetCategories(ctx context.Context, p blueprint.Principal, blueprintID string, ids []string) ([]blueprint.Category, error)
}

func (s *Service) categories() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("category.list", blueprint.ScopeRead, of[inOrganization](s, Store.Categories)),
		trpc.Mutation("category.create", blueprint.ScopeWrite, s.categoryCreate),
		trpc.Mutation("category.delete", blueprint.ScopeWrite, change[resourceID](s, Store.DeleteCategory)),
		trpc.Mutation("blueprint.setCategories", blueprint.ScopeWrite, s.blueprintSetCategories),
	}
}

type categoryCreate struct {
	OrganizationID string `json:"organizationId" check:"uuid"`
	Name           string `json:"name" check:"required,trim,line,min=1,max=200"`
}

func (s *Service) categoryCreate(ctx context.Context, caller *trpc.Caller, in categoryCreate) (blueprint.Category, error) {
	return s.Store.CreateCategory(ctx, caller.Principal, in.OrganizationID, in.Name)
}

type blueprintSetCategories struct {
	ID          string   `json:"id" check:"required,uuid"`
	CategoryIDs []string `json:"categoryIds" check:"required,max=100" each:"uuid"`
}

func (s *Service) blueprintSetCategories(ctx context.Context, caller *trpc.Caller, in blueprintSetCategories) ([]blueprint.Category, error) {
	return s.Store.SetCategories(ctx, caller.Principal, in.ID, in.CategoryIDs)
}
