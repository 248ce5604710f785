package local

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/connections"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/recording"
	"blueprintd/foundation/secret"
	"blueprintd/project"
)

// Connections are the connections of a seed file, for runs without a server.
type Connections struct {
	name     string
	document *document.Document
	List     []*givenConnection
}

// givenConnection is a connection whose references to others are placeholder ids.
type givenConnection struct {
	blueprint.Connection
	lacking []blueprint.Issue // unset environment variables; errors only if it is used
	hidden  []string          // the values of its environment variables, possibly secrets
}

// ReadConnections reads the connections of a seed file, and the users and organizations
// to which they belong.
func ReadConnections(name string, data []byte, lookup func(string) (string, bool)) (*Connections, []blueprint.Issue, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	g := &Connections{name: name, document: doc}
	r := &project.SeedReader{Document: doc, Seed: &project.Seed{Name: name}, Lookup: project.Assumed}
	top, ok := r.Object(doc.Value, nil, "$schema", "users", "organizations", "connections", "blueprints")
	if !ok {
		return g, r.Issues, nil
	}
	r.Each(top, "users", r.ReadUser)
	r.Each(top, "organizations", r.ReadOrganization)
	r.Each(top, "connections", func(value any, path []any) { g.read(r, lookup, value, path) })
	return g, r.Issues, nil
}

func (g *Connections) read(r *project.SeedReader, lookup func(string) (string, bool), value any, path []any) {
	var unset []string
	r.Lookup = func(name string) (string, bool) {
		text, known := lookup(name)
		if message := project.Unfilled(name, text, known); message != "" {
			unset = append(unset, message)
		}
		return text, known
	}
	issues, connections := len(r.Issues), len(r.Seed.Connections)
	r.ReadConnection(value, path)
	var lacking, wrong []blueprint.Issue
	for _, issue := range r.Issues[issues:] {
		if slices.Contains(unset, issue.Message) {
			lacking = append(lacking, issue)
		} else {
			wrong = append(wrong, issue)
		}
	}
	r.Issues = append(r.Issues[:issues], wrong...)
	if len(r.Seed.Connections) == connections {
		return
	}
	read := r.Seed.Connections[connections]
	config, _ := project.Connected(read.Config, nil, func(name string, _ []any) string { return project.DerivedID(project.ConnectionKey, name) }).(map[string]any)
	config, _, _ = blueprint.MergeConnection(blueprint.ConnectionType(read.Kind), nil, config)
	maker := r.OwnerOf(read.Owner)
	made := &givenConnection{lacking: lacking, hidden: VariablesIn(nil, project.ValueAt(value, []any{"config"}), lookup), Connection: blueprint.Connection{
		ID: project.DerivedID(project.ConnectionKey, read.Name), Name: read.Name, Type: blueprint.ConnectionType(read.Kind), Config: config, CreatedBy: maker, ConfiguredBy: maker,
	}}
	if read.Organization != "" {
		made.OrganizationID = &read.Organization
	}
	g.List = append(g.List, made)
}

func (g *Connections) find(id string) *givenConnection {
	return g.first(func(c *givenConnection) bool { return c.ID == id || c.Name == id && blueprint.IsUUID(id) })
}

func (g *Connections) first(fits func(*givenConnection) bool) *givenConnection {
	if g == nil {
		return nil
	}
	if i := slices.IndexFunc(g.List, fits); i >= 0 {
		return g.List[i]
	}
	return nil
}

// signIn returns the reason why a connection cannot be used without a server: it, or the
// connection that it names, requires a user to sign in. "" means that it can be used.
func (g *Connections) signIn(c *givenConnection) string {
	through := ""
	if auth, _ := c.Config["auth"].(map[string]any); auth["type"] == "oauth2" {
		id, _ := auth["connectionId"].(string)
		named := g.find(id)
		if named == nil || named.Type != blueprint.ConnectionOAuth2 {
			return ""
		}
		through, c = fmt.Sprintf(", through %q", named.Name), named
	}
	if c.Type == blueprint.ConnectionOAuth2 && c.Config["flow"] == "authorization_code" {
		return "requires a user to sign in" + through + ", which needs a server: import the blueprint and run it there"
	}
	return ""
}

// Check verifies before the run that all connections that the nodes of files name exist
// and can be used, and prints the errors. Names from templates are checked in runs.
func (g *Connections) Check(out io.Writer, f *project.Followed) error {
	wrong := map[string][]blueprint.Issue{}
	lacking := map[*givenConnection]bool{}
	hint, count := "", 0
	for _, path := range slices.Sorted(maps.Keys(f.Files)) {
		b := f.Files[path]
		for _, to := range b.References {
			if to.Key != project.ConnectionKey || to.Path[0] != "blueprint_map" { // triggers are not used here
				continue
			}
			c := g.first(func(c *givenConnection) bool { return c.Name == to.Name })
			if message := g.unfit(c, to); message != "" {
				count++
				wrong[path] = append(wrong[path], blueprint.Issue{Path: to.Path, Message: fmt.Sprintf("node %q: ", nodeAt(project.RawMap(b), to.Path[1:])) + message, Severity: blueprint.SeverityError})
				if c == nil {
					hint = connectionsHint
				}
				continue
			}
			g.lack(lacking, c)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(wrong)) {
		fmt.Fprint(out, project.Pointed(f.Files[path].Document, wrong[path]))
	}
	var unset []blueprint.Issue
	for _, c := range g.List {
		if lacking[c] {
			unset = append(unset, c.lacking...)
		}
	}
	switch {
	case count > 0:
		return blueprint.InputErrorf(hint, "%s lacks connections that this run needs: %s", g.name, blueprint.Counted(count, "problem"))
	case len(unset) > 0:
		g.Point(out, unset)
		return blueprint.InputErrorf("set it, or write the value into the file", "%s needs environment variables that are unset or empty", g.name)
	}
	return nil
}

// unfit returns the reason why a reference cannot name a connection, "" if it can.
func (g *Connections) unfit(c *givenConnection, to project.Reference) string {
	if c == nil {
		var all []string
		for _, c := range g.List {
			all = append(all, c.Name)
		}
		return fmt.Sprintf("there is no connection %q in %s", to.Name, g.name) + blueprint.DidYouMean(to.Name, all)
	}
	if fit := to.Connections(); fit != nil && !slices.Contains(fit, c.Type) {
		return fmt.Sprintf("the connection %q is of type %s; this needs one of type %s", c.Name, c.Type, project.TypeNames(fit))
	}
	if asks := g.signIn(c); asks != "" {
		return fmt.Sprintf("the connection %q %s", c.Name, asks)
	}
	return ""
}

// lack records a connection and the one it names, if environment variables are unset.
func (g *Connections) lack(lacking map[*givenConnection]bool, c *givenConnection) {
	lacking[c] = len(c.lacking) > 0
	if auth, _ := c.Config["auth"].(map[string]any); auth != nil {
		id, _ := auth["connectionId"].(string)
		if named := g.find(id); named != nil {
			lacking[named] = len(named.lacking) > 0
		}
	}
}

// nodeAt returns the id of the innermost node on a path of a map.
func nodeAt(m any, path []any) (id string) {
	for i, step := range path {
		if _, position := step.(int); position && i > 0 && path[i-1] == "nodes" {
			node, _ := project.ValueAt(m, path[:i+1]).(map[string]any)
			id, _ = node["id"].(string)
		}
	}
	return id
}

// knownWords are the values that excerpts of connections show for members with a fixed set
// of values. Any other value may be a secret, even under a misspelled name.
var knownWords = blueprint.ConnectionChoices()

// namedMembers are the members of users and connections that excerpts may show.
var namedMembers = []string{"email", "name", "owner", "organization", "$connection"}

// Point prints issues of the file with their positions, without its secrets.
func (g *Connections) Point(out io.Writer, issues []blueprint.Issue) {
	hidden := append(secretsOfSeed(g.document.Value), hiddenBelow(nil, nil, g.document.Value, false)...)
	fmt.Fprint(out, project.Pointed(g.document, issues, hidden...))
}

// ExcerptOfSeed is project.ExcerptOf for a seed file.
func ExcerptOfSeed(d *document.Document, issue blueprint.Issue, others []blueprint.Issue) string {
	return project.Excerpt(d, issue, slices.Concat(others, secretsOfSeed(d.Value)))
}

// secretsOfSeed returns an issue for each string and number of a seed file that may be a
// secret: in users, connections and unknown fields, which may be misspelled ones.
func secretsOfSeed(value any) (found []blueprint.Issue) {
	top, ok := value.(map[string]any)
	if !ok {
		return hiddenBelow(nil, nil, value, true)
	}
	for name, element := range top {
		if !slices.Contains([]string{"$schema", "organizations", "blueprints"}, name) {
			found = hiddenBelow(found, []any{name}, element, true)
		}
	}
	return found
}

// hiddenBelow appends an issue for each string and number inside a config at any depth,
// except names and known words.
func hiddenBelow(found []blueprint.Issue, path []any, value any, inside bool) []blueprint.Issue {
	switch v := value.(type) {
	case string, json.Number:
		if inside {
			found = append(found, blueprint.Issue{Path: path, Spot: blueprint.Spot{Secret: true}})
		}
	case []any:
		for i, element := range v {
			found = hiddenBelow(found, append(slices.Clip(path), i), element, inside)
		}
	case map[string]any:
		for name, element := range v {
			text, isText := element.(string)
			open := isText && (slices.Contains(knownWords[name], text) || slices.Contains(namedMembers, name) && (name == "$connection" || len(path) == 2))
			if !inside || !open {
				found = hiddenBelow(found, append(slices.Clip(path), name), element, inside || name == "config")
			}
		}
	}
	return found
}

var connectionsHint = blueprint.SeeDocs("add it with --connections FILE", "connections-and-sign-in")

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
			config, _ := secret.NewMasker(project.Words(s.hidden(u.ID))).Value(new(secret.Redactor).Value(blueprint.RedactConnection(c.Type, c.Config))).(map[string]any)
			described[u.ID] = recording.Connection{Name: c.Name, Type: c.Type, Config: config}
		}
	}
	return described
}

func (s *Store) Token(context.Context, string, string) ([]byte, error) { return nil, nil }

func (s *Store) SaveToken(context.Context, string, string, []byte, []byte) error {
	return errNoSignIn
}

func (s *Store) DeleteToken(context.Context, string, string) error { return nil }

// Claim implements connections.Store.
func (s *Store) Claim(context.Context, string) (release func(), err error) { return func() {}, nil }

// errNoSignIn is the error of all methods for sign-ins.
var errNoSignIn = unopened("signing in needs a server")

func (s *Store) BeginSignIn(context.Context, blueprint.SignIn) error { return errNoSignIn }

func (s *Store) OpenTicket(context.Context, blueprint.SignIn) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

func (s *Store) FindSignIn(context.Context, []byte) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

func (s *Store) TakeSignIn(context.Context, []byte) (blueprint.SignIn, error) {
	return blueprint.SignIn{}, errNoSignIn
}

func (s *Store) WaitingSignIns(context.Context, string, string) ([]blueprint.SignIn, error) {
	return nil, nil
}

func (s *Store) User(context.Context, string) (blueprint.User, error) {
	return blueprint.User{}, errNoSignIn
}

// leastHidden is the minimum length of the value of an environment variable that is masked,
// in bytes: shorter ones occur inside other words.
const leastHidden = 8

// openMembers are members of configs whose values are not masked, because they are needed
// to understand the output of a run. Of openAddresses, only the path is masked.
var (
	openMembers   = []string{"type", "name", "provider", "flow", "tls", "host", "hosts", "port", "from"}
	openAddresses = []string{"url", "baseUrl", "tokenUrl", "authorizationUrl"}
)

// VariablesIn appends the values of environment variables in a config that may be secrets.
// They are masked separately, because a response may contain a part of a credential.
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

// hidden returns values to mask besides the secrets of a connection and the one it names.
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

func (o hidingOpener) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	open, err := o.Connections.Open(ctx, use)
	if err == nil {
		open.Secrets = append(open.Secrets, o.store.hidden(use.ConnectionID)...)
	}
	return open, err
}

// placeholders opens connections that reach no real service. Every id opens a connection
// without secrets, of the type that its node needs.
type placeholders struct {
	given map[string]recording.Connection
	tools map[string]bool // ids of connections to MCP servers named by prompts
}

// Stubs returns placeholder connections for a run; given has their configs by id.
func Stubs(given map[string]recording.Connection, definitions ...*blueprint.Definition) *placeholders {
	s := &placeholders{given: given, tools: map[string]bool{}}
	for _, definition := range definitions {
		if definition.Map != nil {
			s.findTools(definition.Map.Raw)
		}
	}
	return s
}

func (s *placeholders) findTools(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			s.findTools(element)
		}
	case map[string]any:
		if list, ok := v["mcpConnectionIds"].([]any); ok {
			for _, element := range list {
				if id, ok := element.(string); ok {
					s.tools[id] = true
				}
			}
		}
		for _, element := range v {
			s.findTools(element)
		}
	}
}

func (s *placeholders) Open(ctx context.Context, use blueprint.ConnectionUse) (*blueprint.OpenConnection, error) {
	c, known := s.given[use.ConnectionID]
	if !known {
		if types := project.ConnectionsOf(outbound.CallerOf(ctx).NodeType); len(types) > 0 {
			c.Type = types[0]
		}
		if s.tools[use.ConnectionID] {
			c.Type = blueprint.ConnectionMCPServer
		}
		if c.Type == "" {
			return nil, blueprint.Errorf(blueprint.CodeNotFound, "there is no such connection")
		}
	}
	config := blueprint.RedactConnection(c.Type, blueprint.PlaceholderConfig(c.Type))
	maps.Copy(config, blueprint.RedactConnection(c.Type, c.Config))
	switch c.Type {
	case blueprint.ConnectionSMTP: // the stage does not speak TLS
		config["tls"] = "none"
		delete(config, "username")
		delete(config, "password")
	case blueprint.ConnectionAIProvider, blueprint.ConnectionSlack:
		config["baseUrl"] = connections.BaseURL(c.Type, config)
	}
	noCredentials := func(context.Context, *http.Request) error { return nil }
	return &blueprint.OpenConnection{ID: use.ConnectionID, Name: c.Name, Type: c.Type, Config: config, Hosts: hostsOf(config), Authorize: noCredentials}, nil
}

func hostsOf(config map[string]any) (hosts []string) {
	list, _ := config["hosts"].([]any)
	for _, element := range list {
		if host, ok := element.(string); ok {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// Around returns a node type whose HTTP requests ignore connections without hosts in
// given, as a real connection allows only its own hosts.
func (s *placeholders) Around(kind *blueprint.NodeType) *blueprint.NodeType {
	if kind.Type != "http-request" {
		return kind
	}
	free := *kind
	free.Run = func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		if id, _ := task.Config["connectionId"].(string); id != "" && len(hostsOf(s.given[id].Config)) == 0 {
			without := *task
			without.Config = maps.Clone(task.Config)
			delete(without.Config, "connectionId")
			task = &without
		}
		return kind.Run(ctx, task)
	}
	return &free
}
