package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// connectionStore returns CodeForbidden for a connection that the principal may not use,
// or not change. Returned connections hold no secrets.
type connectionStore interface {
	CreateConnection(ctx context.Context, p blueprint.Principal, given blueprint.NewConnection) (blueprint.Connection, error)
	Connections(ctx context.Context, p blueprint.Principal, organizationID string) ([]blueprint.Connection, error)
	Connection(ctx context.Context, p blueprint.Principal, id string) (blueprint.Connection, error)
	// UpdateConnection leaves the name alone when it is nil, and merges change into the config.
	UpdateConnection(ctx context.Context, p blueprint.Principal, id string, name *string, change map[string]any) (blueprint.Connection, error)
	DeleteConnection(ctx context.Context, p blueprint.Principal, id string) error
}

// ConnectionTester tests connections.
type ConnectionTester interface {
	// Test makes the cheapest real call through a connection. The message describes the
	// outcome without secrets. A failed call is reported by ok, not by err.
	Test(ctx context.Context, userID, id string) (ok bool, message string, err error)
	// SignIn returns the URL where a user signs in for a connection; CodeBadRequest if the
	// connection needs no sign-in.
	SignIn(ctx context.Context, userID, id string) (url string, err error)
}

func (s *Service) connections() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("connection.list", blueprint.ScopeRead, of[inOrganization](s, Store.Connections)),
		trpc.Query("connection.get", blueprint.ScopeRead, of[resourceID](s, Store.Connection)),
		trpc.Mutation("connection.create", blueprint.ScopeWrite, s.connectionCreate),
		trpc.Mutation("connection.update", blueprint.ScopeWrite, s.connectionUpdate),
		trpc.Mutation("connection.delete", blueprint.ScopeWrite, change[resourceID](s, Store.DeleteConnection)),
		trpc.Mutation("connection.test", blueprint.ScopeWrite, s.connectionTest),
	}
}

type connectionWord string

// Words returns the names of the connection types.
func (connectionWord) Words() []string {
	words := make([]string, len(blueprint.ConnectionTypes))
	for i, kind := range blueprint.ConnectionTypes {
		words[i] = string(kind)
	}
	return words
}

type connectionCreate struct {
	Name           string         `json:"name" check:"required,trim,line,min=1,max=200"`
	Type           connectionWord `json:"type" check:"required"`
	Config         map[string]any `json:"config" check:"required"`
	OrganizationID string         `json:"organizationId" check:"uuid"`
}

func (s *Service) connectionCreate(ctx context.Context, caller *trpc.Caller, in connectionCreate) (blueprint.Connection, error) {
	return s.Store.CreateConnection(ctx, caller.Principal, blueprint.NewConnection{
		Name: in.Name, Type: blueprint.ConnectionType(in.Type), Config: in.Config, OrganizationID: in.OrganizationID,
	})
}

type connectionUpdate struct {
	ID     string         `json:"id" check:"required,uuid"`
	Name   *string        `json:"name" check:"trim,line,min=1,max=200"`
	Config map[string]any `json:"config" guards:"host|auth|tls|url|secret|token|password|scope"`
}

func (s *Service) connectionUpdate(ctx context.Context, caller *trpc.Caller, in connectionUpdate) (blueprint.Connection, error) {
	return s.Store.UpdateConnection(ctx, caller.Principal, in.ID, in.Name, in.Config)
}

type connectionTested struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

func (s *Service) connectionTest(ctx context.Context, caller *trpc.Caller, in resourceID) (connectionTested, error) {
	if _, err := s.Store.Connection(ctx, caller.Principal, in.ID); err != nil {
		return connectionTested{}, err
	}
	caller.Note("connection", in.ID, nil)
	if s.Connections == nil {
		return connectionTested{false, "this server cannot test connections"}, nil
	}
	ok, message, err := s.Connections.Test(ctx, caller.UserID, in.ID)
	if err != nil {
		return connectionTested{}, err
	}
	caller.Note("connection", in.ID, map[string]any{"ok": ok})
	return connectionTested{ok, s.naming(ctx, caller.Principal)(message)}, nil
}

type signInAddress struct {
	URL string `json:"url"` // to visit in a browser, by the caller alone
}

// connectionSignIn returns the URL for signing in for a connection without a waiting run.
func (s *Service) connectionSignIn(ctx context.Context, caller *trpc.Caller, in resourceID) (signInAddress, error) {
	if _, err := s.Store.Connection(ctx, caller.Principal, in.ID); err != nil {
		return signInAddress{}, err
	}
	if s.Connections == nil {
		return signInAddress{}, blueprint.Errorf(blueprint.CodeUnavailable, "this server offers no sign-ins")
	}
	url, err := s.Connections.SignIn(ctx, caller.UserID, in.ID)
	if err != nil {
		return signInAddress{}, err
	}
	caller.Note("connection", in.ID, nil)
	return signInAddress{url}, nil
}
