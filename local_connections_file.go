package main

import (
	"fmt"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/project"
)

// givenConnections are the connections of a file, for runs without a server.
type givenConnections struct {
	name     string
	document *document.Document
	list     []*givenConnection
}

// givenConnection is one of them. Its config has stand-ins where it names others.
type givenConnection struct {
	blueprint.Connection
	// lacking are issues of the file: environment variables that it needs and that
	// are not set. Nobody who uses other connections has to set them.
	lacking []blueprint.Issue
	// hidden are values of environment variables in it, which may be secrets.
	hidden []string
}

// readConnections reads the connections of a seed file. What else such a file has
// is no concern of a run, but for who and what connections belong to.
func readConnections(name string, data []byte, lookup func(string) (string, bool)) (*givenConnections, []blueprint.Issue, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	g := &givenConnections{name: name, document: doc}
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

func (g *givenConnections) read(r *project.SeedReader, lookup func(string) (string, bool), value any, path []any) {
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
	made := &givenConnection{lacking: lacking, hidden: variablesIn(nil, project.ValueAt(value, []any{"config"}), lookup), Connection: blueprint.Connection{
		ID: project.DerivedID(project.ConnectionKey, read.Name), Name: read.Name, Type: blueprint.ConnectionType(read.Kind), Config: config, CreatedBy: maker, ConfiguredBy: maker,
	}}
	if read.Organization != "" {
		made.OrganizationID = &read.Organization
	}
	g.list = append(g.list, made)
}

// named finds a connection by its name, find by an id: what stands for its name, or
// its name itself where that is an id. They give nil for none, also where no file
// was given.
func (g *givenConnections) named(name string) *givenConnection {
	return g.first(func(c *givenConnection) bool { return c.Name == name })
}

func (g *givenConnections) find(id string) *givenConnection {
	return g.first(func(c *givenConnection) bool { return c.ID == id || c.Name == id && blueprint.IsUUID(id) })
}

func (g *givenConnections) first(fits func(*givenConnection) bool) *givenConnection {
	if g == nil {
		return nil
	}
	if i := slices.IndexFunc(g.list, fits); i >= 0 {
		return g.list[i]
	}
	return nil
}

// signIn tells what keeps a connection from being used without a server: that it,
// or the one that it names, asks a person to sign in. "" is nothing.
func (g *givenConnections) signIn(c *givenConnection) string {
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
		return "asks a person to sign in" + through + ", for which a server is needed: import the blueprint into one, and run it there"
	}
	return ""
}
