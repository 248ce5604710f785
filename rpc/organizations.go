package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// organizationStore is what these procedures ask of the database. Who may do
// what is decided there, in the transaction of the change: an organization that
// the principal is not a member of, known or not, is CodeForbidden.
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
		trpc.Query("organization.list", blueprint.ScopeRead, s.organizationList),
		trpc.Mutation("organization.create", blueprint.ScopeAdmin, s.organizationCreate),
		trpc.Mutation("organization.update", blueprint.ScopeAdmin, s.organizationUpdate),
		trpc.Query("organization.members", blueprint.ScopeAdmin, s.organizationMembers),
		trpc.Mutation("organization.addMember", blueprint.ScopeAdmin, s.organizationAddMember),
		trpc.Mutation("organization.removeMember", blueprint.ScopeAdmin, s.organizationRemoveMember),
		trpc.Mutation("user.update", blueprint.ScopeAdmin, s.userUpdate),
	}
}

func (s *Service) organizationList(ctx context.Context, caller *trpc.Caller, _ struct{}) ([]blueprint.Organization, error) {
	return listed(s.Store.Organizations(ctx, caller.Principal))
}

// listed makes an empty list of none.
func listed[T any](found []T, err error) ([]T, error) {
	if found == nil {
		found = []T{}
	}
	return found, err
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

func (s *Service) organizationMembers(ctx context.Context, caller *trpc.Caller, in ofOrganization) ([]blueprint.Member, error) {
	return listed(s.Store.Members(ctx, caller.Principal, in.OrganizationID))
}

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
	if err := s.Store.DropMember(ctx, caller.Principal, in.OrganizationID, in.UserID); err != nil {
		return succeeded{}, err
	}
	return succeeded{true}, nil
}

type userUpdate struct {
	Name string `json:"name" check:"required,trim,line,min=1,max=200"`
}

// userNamed is who somebody is.
type userNamed struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

func (s *Service) userUpdate(ctx context.Context, caller *trpc.Caller, in userUpdate) (userNamed, error) {
	user, err := s.Store.RenameUser(ctx, caller.Principal, in.Name)
	return userNamed{user.ID, user.Email, user.Name}, err
}
