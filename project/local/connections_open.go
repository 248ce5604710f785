package local

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

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

const connectionsHint = "add it with --connections FILE"

// Store implements connections.Store over the connections of a file. It stores no tokens
// and has no sign-ins.
type Store struct {
	Given *Connections      // nil without a file
	names map[string]string // of referenced connections, by placeholder id
}

// NewStore returns a Store for the blueprints of a run.
func NewStore(given *Connections, f *project.Followed) *Store {
	s := &Store{Given: given, names: map[string]string{}}
	for name := range f.Connections() {
		s.names[project.DerivedID(project.ConnectionKey, name)] = name
	}
	return s
}

// Open returns an opener like that of a server, so that credentials are sent to the same
// hosts and masked in the same way.
func (s *Store) Open(client *outbound.Client, clock clock.Clock, source *ids.Source) engine.Connections {
	return hidingOpener{store: s, Connections: connections.New(connections.Options{
		Store: s, HTTP: client, Clock: clock, IDs: source.Stream("connections"), APIHost: func() string { return "" },
		Resume: func(context.Context, string, string) error { return nil },
	})}
}

// Authorize allows everything: a file runs with the rights of its user.
func (s *Store) Authorize(context.Context, blueprint.Authority, blueprint.Resource) error {
	return nil
}

// GrantVersions does nothing.
func (s *Store) GrantVersions(context.Context, string, []blueprint.VersionRef) error {
	return nil
}

// ConnectionForUse returns a connection with its secrets. Errors are *blueprint.Failure.
func (s *Store) ConnectionForUse(_ context.Context, _ blueprint.Authority, id string) (*blueprint.Connection, error) {
	c := s.Given.find(id)
	switch {
	case c == nil:
		return nil, unopened("there is no connection %q; hint: %s", cmp.Or(s.names[id], id), connectionsHint)
	case len(c.lacking) > 0:
		return nil, unopened("the connection %q cannot be used: %s", c.Name, c.lacking[0].Message)
	}
	if wrong := s.Given.signIn(c); wrong != "" {
		return nil, unopened("the connection %q %s", c.Name, wrong)
	}
	opened := c.Connection
	opened.ID, opened.NameVisible = id, true // the user owns the file
	return &opened, nil
}

func unopened(format string, args ...any) error {
	return &blueprint.Failure{Code: "connection_unavailable", Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
}

// Recorded returns the connections that a run opened, without secrets.
func (s *Store) Recorded(used []blueprint.UsedConnection) map[string]recording.Connection {
	described := map[string]recording.Connection{}
	for _, u := range used {
		if c := s.Given.find(u.ID); c != nil {
			config, _ := s.masked(u.ID, new(secret.Redactor).Value(blueprint.RedactConnection(c.Type, c.Config))).(map[string]any)
			described[u.ID] = recording.Connection{Name: c.Name, Type: c.Type, Config: config}
		}
	}
	return described
}

// Token returns none.
func (s *Store) Token(context.Context, string, string) ([]byte, error) { return nil, nil }

// SaveToken fails.
func (s *Store) SaveToken(context.Context, string, string, []byte, []byte) error {
	return errNoSignIn
}

// DeleteToken does nothing.
func (s *Store) DeleteToken(context.Context, string, string) error { return nil }

// errNoSignIn is the error of all methods for sign-ins.
var errNoSignIn = unopened("signing in needs a server")

// BeginSignIn fails.
func (s *Store) BeginSignIn(context.Context, blueprint.SignIn) error { return errNoSignIn }

// OpenTicket fails.
func (s *Store) OpenTicket(context.Context, blueprint.SignIn) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// FindSignIn fails.
func (s *Store) FindSignIn(context.Context, []byte) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// TakeSignIn fails.
func (s *Store) TakeSignIn(context.Context, []byte) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// WaitingSignIns returns none.
func (s *Store) WaitingSignIns(context.Context, string, string) ([]blueprint.SignIn, error) {
	return nil, nil
}

// User fails.
func (s *Store) User(context.Context, string) (blueprint.User, error) {
	return blueprint.User{}, errNoSignIn
}

// leastHidden is the length of the shortest value of an environment variable that is
// masked, in bytes: shorter ones occur inside other words.
const leastHidden = 8

// openMembers are members of configs whose values are not masked, because they are needed
// to understand the output of a run. Of openAddresses, only the path is masked.
var (
	openMembers   = []string{"type", "name", "provider", "flow", "tls", "host", "hosts", "port", "from"}
	openAddresses = []string{"url", "baseUrl", "tokenUrl", "authorizationUrl"}
)

// VariablesIn appends the values of environment variables in a config that may be
// secrets. They are masked separately, as a response may contain a part of a credential.
func VariablesIn(found []string, value any, lookup func(string) (string, bool)) []string {
	switch v := value.(type) {
	case string:
		for _, match := range project.FromEnvironment.FindAllStringSubmatch(v, -1) {
			if text, _ := lookup(match[1]); len(text) >= leastHidden && !slices.Contains(found, text) {
				found = append(found, text)
			}
		}
	case []any:
		for _, element := range v {
			found = VariablesIn(found, element, lookup)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			text, _ := v[name].(string)
			switch {
			case slices.Contains(openAddresses, name):
				found = VariablesIn(found, behindHost(text), lookup)
			case !slices.Contains(openMembers, name):
				found = VariablesIn(found, v[name], lookup)
			}
		}
	}
	return found
}

// behindHost returns the path and query of an address.
func behindHost(address string) string {
	_, rest, whole := strings.Cut(address, "://")
	if !whole { // a variable contains the host
		rest = address
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[i:]
	}
	return ""
}

// hidden returns the values to mask besides the secrets of a connection, and of the one
// that it names.
func (s *Store) hidden(id string) []string {
	c := s.Given.find(id)
	if c == nil {
		return nil
	}
	values := slices.Clone(c.hidden)
	if auth, _ := c.Config["auth"].(map[string]any); auth != nil {
		id, _ := auth["connectionId"].(string)
		if named := s.Given.find(id); named != nil {
			values = append(values, named.hidden...)
		}
	}
	return values
}

// hidingOpener adds environment variables to the secrets of opened connections.
type hidingOpener struct {
	engine.Connections
	store *Store
}

// Open implements engine.Connections.
func (o hidingOpener) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	open, err := o.Connections.Open(ctx, use)
	if err == nil {
		open.Secrets = append(open.Secrets, o.store.hidden(use.ConnectionID)...)
	}
	return open, err
}

// masked returns a config with the hidden values of its connection masked.
func (s *Store) masked(id string, config any) any {
	return secret.NewMasker(project.Words(s.hidden(id))).Value(config)
}
