package local

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
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

// named finds a connection by its name, and find by its id or a name that is an id. They
// return nil if there is none, or for a nil g.
func (g *Connections) named(name string) *givenConnection {
	return g.first(func(c *givenConnection) bool { return c.Name == name })
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

// signIn returns why a connection cannot be used without a server: it, or the one that it
// names, requires a user to sign in. "" means that it can.
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
// and can be used, and prints the errors. Names from templates are checked when their
// nodes run.
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
			c := g.named(to.Name)
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

// unfit returns why a reference cannot name a connection, "" if it can.
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

// lack records a connection, and the one that it names, if they need unset environment
// variables.
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

// knownWords are what excerpts of connections show below members that are to have
// one of them. Any other value may be a secret, also below a name that has a slip.
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
