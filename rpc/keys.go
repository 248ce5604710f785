package rpc

import (
	"context"

	"blueprintd/blueprint"
)

// keyStore is what these procedures ask of the database. A key that is not the
// caller's own is CodeNotFound.
type keyStore interface {
	Keys(ctx context.Context, p blueprint.Principal) ([]blueprint.APIKey, error)
	CreateKey(ctx context.Context, userID, name, key string) (blueprint.APIKey, error)
	RevokeKey(ctx context.Context, p blueprint.Principal, id string) error
}

func (s *Service) apiKeys() []Procedure {
	return []Procedure{
		query("apiKey.list", s.keyList),
		mutation("apiKey.create", s.keyCreate),
		mutation("apiKey.revoke", s.keyRevoke),
	}
}

func (s *Service) keyList(ctx context.Context, caller *Caller, _ struct{}) ([]blueprint.APIKey, error) {
	found, err := s.Store.Keys(ctx, caller.Principal)
	if found == nil {
		found = []blueprint.APIKey{}
	}
	return found, err
}

type keyCreate struct {
	Name string `json:"name" check:"required,trim,line,min=1,max=200"`
}

// newKey is the only answer that ever holds a key.
type newKey struct {
	blueprint.APIKey
	Key string `json:"key"`
}

// KeyPrefix begins every key that the service makes, so that scanners for
// leaked secrets can tell one.
const KeyPrefix = "bpd_"

// KeyLength is how many characters of base62 follow the prefix: 256 bits.
const KeyLength = 43

func (s *Service) keyCreate(ctx context.Context, caller *Caller, in keyCreate) (newKey, error) {
	key := KeyPrefix + s.IDs.Token(KeyLength)
	record, err := s.Store.CreateKey(ctx, caller.UserID, in.Name, key)
	if err != nil {
		return newKey{}, err
	}
	return newKey{record, key}, nil
}

type keyRevoke struct {
	ID string `json:"id" check:"required"`
}

func (s *Service) keyRevoke(ctx context.Context, caller *Caller, in keyRevoke) (succeeded, error) {
	if err := s.Store.RevokeKey(ctx, caller.Principal, in.ID); err != nil {
		return succeeded{}, err
	}
	return succeeded{true}, nil
}
