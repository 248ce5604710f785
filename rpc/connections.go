package rpc

import (
	"context"

	"blueprintd/blueprint"
	"blueprintd/rpc/trpc"
)

// connectionStore is what these procedures ask of the database. A connection
// that the principal may not use is CodeForbidden, as is one that they may use
// but not change. None that it gives holds a secret.
type connectionStore interface {
	CreateConnection(ctx context.Context, p blueprint.Principal, given blueprint.NewConnection) (blueprint.Connection, error)
	Connections(ctx context.Context, p blueprint.Principal, organizationID string) ([]blueprint.Connection, error)
	Connection(ctx context.Context, p blueprint.Principal, id string) (blueprint.Connection, error)
	// UpdateConnection leaves the name alone when it is nil, and merges change into the config.
	UpdateConnection(ctx context.Context, p blueprint.Principal, id string, name *string, change map[string]any) (blueprint.Connection, error)
	DeleteConnection(ctx context.Context, p blueprint.Principal, id string) error
}

// ConnectionTester makes the cheapest real call through a connection and says
// in plain words, without secrets, what came of it. An error is a fault of the
// service or CodeNotFound, not a call that failed.
type ConnectionTester interface {
	Test(ctx context.Context, userID, id string) (ok bool, message string, err error)
	// SignIn returns the address where a user signs in for a connection;
	// CodeBadRequest when nobody has to.
	SignIn(ctx context.Context, userID, id string) (url string, err error)
}

func (s *Service) connections() []trpc.Procedure {
	return []trpc.Procedure{
		trpc.Query("connection.list", blueprint.ScopeRead, s.connectionList),
		trpc.Query("connection.get", blueprint.ScopeRead, s.connectionGet),
		trpc.Mutation("connection.create", blueprint.ScopeWrite, s.connectionCreate),
		trpc.Mutation("connection.update", blueprint.ScopeWrite, s.connectionUpdate),
		trpc.Mutation("connection.delete", blueprint.ScopeWrite, s.connectionDelete),
		trpc.Mutation("connection.test", blueprint.ScopeWrite, s.connectionTest),
	}
}

type connectionList struct {
	OrganizationID string `json:"organizationId" check:"uuid"`
}

func (s *Service) connectionList(ctx context.Context, caller *trpc.Caller, in connectionList) ([]blueprint.Connection, error) {
	found, err := s.Store.Connections(ctx, caller.Principal, in.OrganizationID)
	if found == nil {
		found = []blueprint.Connection{}
	}
	return found, err
}

type connectionID struct {
	ID string `json:"id" check:"required,uuid"`
}

func (s *Service) connectionGet(ctx context.Context, caller *trpc.Caller, in connectionID) (blueprint.Connection, error) {
	return s.Store.Connection(ctx, caller.Principal, in.ID)
}

// connectionWord is a connection type by its name.
type connectionWord string

// Words are the names of all types.
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

func (s *Service) connectionDelete(ctx context.Context, caller *trpc.Caller, in connectionID) (succeeded, error) {
	if err := s.Store.DeleteConnection(ctx, caller.Principal, in.ID); err != nil {
		return succeeded{}, err
	}
	return succeeded{true}, nil
}

type connectionTested struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

func (s *Service) connectionTest(ctx context.Context, caller *trpc.Caller, in connectionID) (connectionTested, error) {
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

// connectionSignIn returns the address where the caller signs in for a connection,
// without a run that waits for it.
func (s *Service) connectionSignIn(ctx context.Context, caller *trpc.Caller, in connectionID) (signInAddress, error) {
	if _, err := s.Store.Connection(ctx, caller.Principal, in.ID); err != nil {
		return signInAddress{}, err
	}
	if s.Connections == nil {
		return signInAddress{}, blueprint.Errorf(blueprint.CodeUnavailable, "this server cannot sign people in")
	}
	url, err := s.Connections.SignIn(ctx, caller.UserID, in.ID)
	if err != nil {
		return signInAddress{}, err
	}
	caller.Note("connection", in.ID, nil)
	return signInAddress{url}, nil
}
