package rpc

import (
	"context"
	"time"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// keyStore returns CodeNotFound for keys of other users.
type keyStore interface {
	Keys(ctx context.Context, p blueprint.Principal) ([]blueprint.APIKey, error)
	CreateLimitedKey(ctx context.Context, given blueprint.NewAPIKey) (blueprint.APIKey, error)
	RevokeKey(ctx context.Context, p blueprint.Principal, id string) error
}

func (s *Service) apiKeys() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("apiKey.list", blueprint.ScopeAdmin, ofCaller(s, Store.Keys)),
		trpc.Mutation("apiKey.create", blueprint.ScopeAdmin, s.keyCreate),
		trpc.Mutation("apiKey.revoke", blueprint.ScopeAdmin, change[keyID](s, Store.RevokeKey)),
	}
}

type keyCreate struct {
	Name   string              `json:"name" check:"required,trim,line,min=1,max=200"`
	Scopes blueprint.KeyScopes `json:"scopes" check:"nullable,min=1" each:"enum=admin|read|run|write" guards:"scope|permission|right|role|access"`
	// ExpiresAt is RFC 3339.
	ExpiresAt *string `json:"expiresAt" check:"nullable" guards:"expir|valid|until|ttl|lifetime"`
}

// newKey is the only result that holds a key.
type newKey struct {
	blueprint.APIKey
	Key string `json:"key"`
}

func (s *Service) keyCreate(ctx context.Context, caller *trpc.Caller, in keyCreate) (newKey, error) {
	given := blueprint.NewAPIKey{UserID: caller.UserID, Name: in.Name, Key: s.IDs.APIKey(), Scopes: blueprint.AllScopes()}
	if in.Scopes != nil {
		given.Scopes = in.Scopes.Sorted()
	}
	if in.ExpiresAt != nil {
		at, err := time.Parse(time.RFC3339, *in.ExpiresAt)
		if err != nil {
			return newKey{}, blueprint.InvalidInput([]blueprint.Issue{trpc.IssueAt("must be an RFC 3339 time such as 2026-03-01T12:00:00Z", "expiresAt")})
		}
		given.ExpiresAt = max(blueprint.TimeOf(at), 1)
	}
	if err := checkGrowth(caller.Admission, given); err != nil {
		return newKey{}, err
	}
	record, err := s.Store.CreateLimitedKey(ctx, given)
	if err != nil {
		return newKey{}, err
	}
	return newKey{record, given.Key}, nil
}

// checkGrowth returns CodeForbidden if a key would have more scopes, or expire later, than
// the one that creates it.
func checkGrowth(maker blueprint.Admission, given blueprint.NewAPIKey) error {
	for _, scope := range given.Scopes {
		if err := trpc.InScope(maker, scope); err != nil {
			return err
		}
	}
	if maker.ExpiresAt != 0 && (given.ExpiresAt == 0 || given.ExpiresAt > maker.ExpiresAt) {
		return blueprint.Errorf(blueprint.CodeForbidden, "expiresAt: this API key expires at %s and cannot create one that outlives it; set expiresAt to that time or an earlier one", maker.ExpiresAt)
	}
	return nil
}

type keyID struct {
	ID string `json:"id" check:"required"`
}

func (in keyID) target() string { return in.ID }
