package main

import (
	"cmp"
	"context"
	"fmt"

	"blueprintd/blueprint"
	"blueprintd/connections"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/recording"
	"blueprintd/foundation/secret"
	"blueprintd/project"
)

// connectionsHint tells how a run without a server gets a connection.
const connectionsHint = "give it with --connections FILE"

// localStore is where the openers of a server find the connections of a file. It
// keeps no tokens: nobody signs in.
type localStore struct {
	given *givenConnections // nil = no file was given
	names map[string]string // of connections that blueprints name, by what stands for them
}

// newLocalStore makes one for the blueprints that run.
func newLocalStore(given *givenConnections, f *project.Followed) *localStore {
	s := &localStore{given: given, names: map[string]string{}}
	for name := range f.Connections() {
		s.names[project.DerivedID(project.ConnectionKey, name)] = name
	}
	return s
}

// open makes what opens connections as a server does, so that credentials go to
// the same hosts and are hidden alike.
func (s *localStore) open(way *outbound.Client, clock clock.Clock, source *ids.Source) engine.Connections {
	return hidingOpener{store: s, Connections: connections.New(connections.Options{
		Store: s, HTTP: way, Clock: clock, IDs: source.Stream("connections"), APIHost: func() string { return "" },
		Resume: func(context.Context, string, string) error { return nil },
	})}
}

// Authorize allows everything: a file runs for the user who started it.
func (s *localStore) Authorize(context.Context, blueprint.Authority, blueprint.Resource) error {
	return nil
}

// GrantVersions does nothing: a file run has no sign-ins.
func (s *localStore) GrantVersions(context.Context, string, []blueprint.VersionRef) error {
	return nil
}

// ConnectionForUse gives a connection with its secrets, or a *blueprint.Failure that
// says why there is none.
func (s *localStore) ConnectionForUse(_ context.Context, _ blueprint.Authority, id string) (*blueprint.Connection, error) {
	c := s.given.find(id)
	switch {
	case c == nil:
		return nil, unopened("there is no connection %q; hint: %s", cmp.Or(s.names[id], id), connectionsHint)
	case len(c.lacking) > 0:
		return nil, unopened("the connection %q cannot be used: %s", c.Name, c.lacking[0].Message)
	}
	if wrong := s.given.signIn(c); wrong != "" {
		return nil, unopened("the connection %q %s", c.Name, wrong)
	}
	opened := c.Connection
	opened.ID, opened.Named = id, true // all of it is the reader's own
	return &opened, nil
}

func unopened(format string, args ...any) error {
	return &blueprint.Failure{Code: "connection_unavailable", Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
}

// recorded describes the connections that a run opened, without what is secret.
func (s *localStore) recorded(used []blueprint.UsedConnection) map[string]recording.Connection {
	described := map[string]recording.Connection{}
	for _, u := range used {
		if c := s.given.find(u.ID); c != nil {
			config, _ := s.veiled(u.ID, new(secret.Redactor).Value(blueprint.RedactConnection(c.Type, c.Config))).(map[string]any)
			described[u.ID] = recording.Connection{Name: c.Name, Type: c.Type, Config: config}
		}
	}
	return described
}

// Token gives none.
func (s *localStore) Token(context.Context, string, string) ([]byte, error) { return nil, nil }

// SaveToken refuses to keep one.
func (s *localStore) SaveToken(context.Context, string, string, []byte, []byte) error {
	return errNoSignIn
}

// DeleteToken has none to delete.
func (s *localStore) DeleteToken(context.Context, string, string) error { return nil }

// errNoSignIn is said of what only a server does.
var errNoSignIn = unopened("nobody can sign in without a server")

// BeginSignIn refuses, as the others do that are about signing in.
func (s *localStore) BeginSignIn(context.Context, blueprint.SignIn) error { return errNoSignIn }

// OpenTicket refuses.
func (s *localStore) OpenTicket(context.Context, blueprint.SignIn) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// FindSignIn refuses.
func (s *localStore) FindSignIn(context.Context, []byte) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// TakeSignIn refuses.
func (s *localStore) TakeSignIn(context.Context, []byte) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// WaitingSignIns gives none.
func (s *localStore) WaitingSignIns(context.Context, string, string) ([]blueprint.SignIn, error) {
	return nil, nil
}

// ConnectionUser knows nobody.
func (s *localStore) ConnectionUser(context.Context, string) (blueprint.User, error) {
	return blueprint.User{}, errNoSignIn
}
