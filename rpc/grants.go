package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

type grantStore interface {
	Grant(ctx context.Context, p blueprint.Principal, id, version string) error
	RevokeGrants(ctx context.Context, p blueprint.Principal, id string) error
	ListGrants(ctx context.Context, p blueprint.Principal) ([]blueprint.Granted, error)
	Authority(ctx context.Context, p blueprint.Principal, id string) (blueprint.AuthorityView, error)
	MissingGrantFor(ctx context.Context, p blueprint.Principal, stored *blueprint.MissingGrant) (*blueprint.MissingGrant, error)
}

func (s *Service) grants() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("blueprint.getAuthority", blueprint.ScopeRead, of[resourceID](s, Store.Authority)),
		trpc.Query("blueprint.listGrants", blueprint.ScopeRead, ofCaller(s, Store.ListGrants)),
		trpc.Mutation("blueprint.grant", blueprint.ScopeWrite, s.blueprintGrant),
		trpc.Mutation("blueprint.revokeGrant", blueprint.ScopeWrite, change[resourceID](s, Store.RevokeGrants)),
	}
}

type blueprintGrant struct {
	ID      string `json:"id" check:"required,uuid"`
	Version string `json:"version" guards:"version"` // "" = the current one
}

// blueprintGrant lets a version by another author use the caller's own resources.
func (s *Service) blueprintGrant(ctx context.Context, caller *trpc.Caller, in blueprintGrant) (succeeded, error) {
	return success(s.Store.Grant(ctx, caller.Principal, in.ID, in.Version))
}

// showNames replaces the ids of connections in the messages of a run by their names, where
// the user may use them.
func (s *display) showNames(ctx context.Context, principal blueprint.Principal, x *blueprint.Execution) error {
	if err := s.showGrants(ctx, principal, x); err != nil {
		return err
	}
	named := s.naming(ctx, principal)
	for i := range x.Steps {
		if at := x.Steps[i].Error; at != nil {
			shown := *at // the record may be shared
			shown.Message = named(at.Message)
			x.Steps[i].Error = &shown
		}
	}
	if x.Failure != nil {
		shown := *x.Failure
		shown.Message = named(shown.Message)
		x.Failure = &shown
	}
	for i := range x.Logs {
		x.Logs[i].Message = named(x.Logs[i].Message)
	}
	x.Telemetry.ErrorSummary = named(x.Telemetry.ErrorSummary)
	return nil
}

// naming returns a function that names the connections in a message that the user may use.
func (s *display) naming(ctx context.Context, principal blueprint.Principal) func(message string) string {
	known := map[string]string{}
	return func(message string) string {
		return blueprint.NameConnections(message, func(id string) string {
			if _, asked := known[id]; !asked {
				c, err := s.store.Connection(ctx, principal, id)
				if err != nil {
					c.Name = "" // of another user, or deleted
				}
				known[id] = c.Name
			}
			return known[id]
		})
	}
}

// showGrants completes missing grants of steps with what the user may know of them: the
// name of the resource and the author's e-mail address, which are not stored because other
// users see the run too.
func (s *display) showGrants(ctx context.Context, principal blueprint.Principal, x *blueprint.Execution) error {
	for i := range x.Steps {
		if at := x.Steps[i].Error; at != nil && at.Grant != nil {
			shown := *at // the record may be shared
			if err := s.showGrant(ctx, principal, &shown.Grant, &shown.Message); err != nil {
				return err
			}
			x.Steps[i].Error = &shown
		}
	}
	if x.Failure != nil && x.Failure.Grant != nil {
		shown := *x.Failure
		if err := s.showGrant(ctx, principal, &shown.Grant, &shown.Message); err != nil {
			return err
		}
		x.Failure = &shown
	}
	return nil
}

func (s *display) showGrant(ctx context.Context, principal blueprint.Principal, grant **blueprint.MissingGrant, message *string) error {
	shown, err := s.store.MissingGrantFor(ctx, principal, *grant)
	if err == nil {
		*message = (*grant).ReplaceMessage(shown, *message)
		*grant = shown
	}
	return err
}
