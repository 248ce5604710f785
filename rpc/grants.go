package rpc

import (
	"context"

	"blueprintd/blueprint"
)

// grantStore is what these procedures ask of the database.
type grantStore interface {
	Grant(ctx context.Context, p blueprint.Principal, id, version string) error
	RevokeGrants(ctx context.Context, p blueprint.Principal, id string) error
	ListGrants(ctx context.Context, p blueprint.Principal) ([]blueprint.Granted, error)
	Authority(ctx context.Context, p blueprint.Principal, id string) (blueprint.AuthorityView, error)
	// NameFor returns "" to a user who may not use the resource.
	NameFor(ctx context.Context, p blueprint.Principal, resource blueprint.Resource) (string, error)
}

func (s *Service) grants() []Procedure {
	return []Procedure{
		query("blueprint.getAuthority", scopeRead, s.blueprintAuthority),
		query("blueprint.listGrants", scopeRead, s.blueprintListGrants),
		mutation("blueprint.grant", scopeWrite, s.blueprintGrant),
		mutation("blueprint.revokeGrant", scopeWrite, s.blueprintRevokeGrant),
	}
}

type blueprintGrant struct {
	ID      string `json:"id" check:"required,uuid"`
	Version string `json:"version"` // "" = the current one
}

// blueprintGrant lets a version by somebody else use what is the caller's own.
func (s *Service) blueprintGrant(ctx context.Context, caller *Caller, in blueprintGrant) (succeeded, error) {
	err := s.Store.Grant(ctx, caller.Principal, in.ID, in.Version)
	return succeeded{err == nil}, err
}

// blueprintRevokeGrant takes back all grants of the caller for a blueprint.
func (s *Service) blueprintRevokeGrant(ctx context.Context, caller *Caller, in blueprintID) (succeeded, error) {
	err := s.Store.RevokeGrants(ctx, caller.Principal, in.ID)
	return succeeded{err == nil}, err
}

func (s *Service) blueprintListGrants(ctx context.Context, caller *Caller, _ struct{}) ([]blueprint.Granted, error) {
	return s.Store.ListGrants(ctx, caller.Principal)
}

func (s *Service) blueprintAuthority(ctx context.Context, caller *Caller, in blueprintID) (blueprint.AuthorityView, error) {
	return s.Store.Authority(ctx, caller.Principal, in.ID)
}

// nameResources names the resources that steps lacked a grant for, as far as the
// caller may use them. What is stored does not: others who see the run may not.
func (s *Service) nameResources(ctx context.Context, caller *Caller, x *blueprint.Execution) error {
	for i := range x.Steps {
		if at := x.Steps[i].Error; at != nil && at.Grant != nil {
			named := *at // the record may be shared
			if err := s.nameResource(ctx, caller, &named.Grant, &named.Message); err != nil {
				return err
			}
			x.Steps[i].Error = &named
		}
	}
	if x.Failure != nil && x.Failure.Grant != nil {
		named := *x.Failure
		if err := s.nameResource(ctx, caller, &named.Grant, &named.Message); err != nil {
			return err
		}
		x.Failure = &named
	}
	return nil
}

func (s *Service) nameResource(ctx context.Context, caller *Caller, grant **blueprint.MissingGrant, message *string) error {
	name, err := s.Store.NameFor(ctx, caller.Principal, (*grant).Resource)
	if err == nil && name != "" {
		*grant, *message = (*grant).Named(name, *message)
	}
	return err
}
