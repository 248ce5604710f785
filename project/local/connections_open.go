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

// connectionsHint tells how a run without a server gets a connection.
const connectionsHint = "give it with --connections FILE"

// Store is where the openers of a server find the connections of a file. It
// keeps no tokens: nobody signs in.
type Store struct {
	Given *Connections      // nil = no file was given
	names map[string]string // of connections that blueprints name, by what stands for them
}

// NewStore makes one for the blueprints that run.
func NewStore(given *Connections, f *project.Followed) *Store {
	s := &Store{Given: given, names: map[string]string{}}
	for name := range f.Connections() {
		s.names[project.DerivedID(project.ConnectionKey, name)] = name
	}
	return s
}

// Open makes what opens connections as a server does, so that credentials go to
// the same hosts and are hidden alike.
func (s *Store) Open(way *outbound.Client, clock clock.Clock, source *ids.Source) engine.Connections {
	return hidingOpener{store: s, Connections: connections.New(connections.Options{
		Store: s, HTTP: way, Clock: clock, IDs: source.Stream("connections"), APIHost: func() string { return "" },
		Resume: func(context.Context, string, string) error { return nil },
	})}
}

// Authorize allows everything: a file runs for the user who started it.
func (s *Store) Authorize(context.Context, blueprint.Authority, blueprint.Resource) error {
	return nil
}

// GrantVersions does nothing: a file run has no sign-ins.
func (s *Store) GrantVersions(context.Context, string, []blueprint.VersionRef) error {
	return nil
}

// ConnectionForUse returns a connection with its secrets, or a *blueprint.Failure that
// says why there is none.
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
	opened.ID, opened.NameVisible = id, true // all of it is the reader's own
	return &opened, nil
}

func unopened(format string, args ...any) error {
	return &blueprint.Failure{Code: "connection_unavailable", Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
}

// Recorded describes the connections that a run opened, without what is secret.
func (s *Store) Recorded(used []blueprint.UsedConnection) map[string]recording.Connection {
	described := map[string]recording.Connection{}
	for _, u := range used {
		if c := s.Given.find(u.ID); c != nil {
			config, _ := s.veiled(u.ID, new(secret.Redactor).Value(blueprint.RedactConnection(c.Type, c.Config))).(map[string]any)
			described[u.ID] = recording.Connection{Name: c.Name, Type: c.Type, Config: config}
		}
	}
	return described
}

// Token returns none.
func (s *Store) Token(context.Context, string, string) ([]byte, error) { return nil, nil }

// SaveToken refuses to keep one.
func (s *Store) SaveToken(context.Context, string, string, []byte, []byte) error {
	return errNoSignIn
}

// DeleteToken has none to delete.
func (s *Store) DeleteToken(context.Context, string, string) error { return nil }

// errNoSignIn is said of what only a server does.
var errNoSignIn = unopened("nobody can sign in without a server")

// BeginSignIn refuses, as the others do that are about signing in.
func (s *Store) BeginSignIn(context.Context, blueprint.SignIn) error { return errNoSignIn }

// OpenTicket refuses.
func (s *Store) OpenTicket(context.Context, blueprint.SignIn) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// FindSignIn refuses.
func (s *Store) FindSignIn(context.Context, []byte) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// TakeSignIn refuses.
func (s *Store) TakeSignIn(context.Context, []byte) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

// WaitingSignIns returns none.
func (s *Store) WaitingSignIns(context.Context, string, string) ([]blueprint.SignIn, error) {
	return nil, nil
}

// User knows nobody.
func (s *Store) User(context.Context, string) (blueprint.User, error) {
	return blueprint.User{}, errNoSignIn
}

// leastHidden is how many bytes the value of an environment variable must have to
// be hidden: shorter ones are in other words, too.
const leastHidden = 8

// openMembers are those of configs that say where connections go, and how, which
// whoever reads the output of a run has to see. In openAddresses that is the part
// before the path.
var (
	openMembers   = []string{"type", "name", "provider", "flow", "tls", "host", "hosts", "port", "from"}
	openAddresses = []string{"url", "baseUrl", "tokenUrl", "authorizationUrl"}
)

// VariablesIn adds the values of the environment variables in a config that may be
// secrets: a service may tell a part of a credential.
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

// behindHost returns the path of an address and what follows it.
func behindHost(address string) string {
	_, rest, whole := strings.Cut(address, "://")
	if !whole { // it begins with a variable
		rest = address
	}
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		return rest[i:]
	}
	return ""
}

// hidden returns what nobody may see of a connection, and of the one that it names,
// besides its secrets.
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

// hidingOpener opens connections as another does, and hides the variables that
// they are made of.
type hidingOpener struct {
	engine.Connections
	store *Store
}

// Open returns a connection.
func (o hidingOpener) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	open, err := o.Connections.Open(ctx, use)
	if err == nil {
		open.Secrets = append(open.Secrets, o.store.hidden(use.ConnectionID)...)
	}
	return open, err
}

// veiled returns a config without what is hidden of its connection.
func (s *Store) veiled(id string, config any) any {
	var values []any
	for _, value := range s.hidden(id) {
		values = append(values, value)
	}
	return secret.NewMasker(values).Value(config)
}
