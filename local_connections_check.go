package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// check looks, before anything runs, whether all connections that the nodes of
// files name are given and can be used; it shows where not. Whatever a template
// names is found out when its node runs.
func (g *givenConnections) check(out io.Writer, f *project.Followed) error {
	wrong := map[string][]blueprint.Issue{}
	lacking := map[*givenConnection]bool{}
	hint, count := "", 0
	for _, path := range slices.Sorted(maps.Keys(f.Files)) {
		b := f.Files[path]
		for _, to := range b.References {
			if to.Key != project.ConnectionKey || to.Path[0] != "blueprint_map" { // triggers start nothing here
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
	for _, c := range g.list {
		if lacking[c] {
			unset = append(unset, c.lacking...)
		}
	}
	switch {
	case count > 0:
		return project.Unusable(hint, "%s has not all connections that this run needs: %s", g.name, blueprint.Counted(count, "problem"))
	case len(unset) > 0:
		g.point(out, unset)
		return project.Unusable("set it, or write the value into the file", "%s needs environment variables that are not set, or empty", g.name)
	}
	return nil
}

// unfit tells why a reference cannot be to a connection; "" when it can.
func (g *givenConnections) unfit(c *givenConnection, to project.Reference) string {
	if c == nil {
		var all []string
		for _, c := range g.list {
			all = append(all, c.Name)
		}
		return fmt.Sprintf("there is no connection %q in %s", to.Name, g.name) + blueprint.DidYouMean(to.Name, all)
	}
	if fit := to.Connections(); fit != nil && !slices.Contains(fit, c.Type) {
		types := make([]string, len(fit))
		for i, kind := range fit {
			types[i] = string(kind)
		}
		return fmt.Sprintf("the connection %q is of type %s; this needs one of type %s", c.Name, c.Type, strings.Join(types, " or "))
	}
	if asks := g.signIn(c); asks != "" {
		return fmt.Sprintf("the connection %q %s", c.Name, asks)
	}
	return ""
}

// lack notes a connection, and the one that it names, if they need environment
// variables that are not set.
func (g *givenConnections) lack(lacking map[*givenConnection]bool, c *givenConnection) {
	lacking[c] = len(c.lacking) > 0
	if auth, _ := c.Config["auth"].(map[string]any); auth != nil {
		id, _ := auth["connectionId"].(string)
		if named := g.find(id); named != nil {
			lacking[named] = len(named.lacking) > 0
		}
	}
}

// nodeAt gives the id of the innermost node that a path of a map leads through.
func nodeAt(m any, path []any) (id string) {
	for i, step := range path {
		if _, position := step.(int); position && i > 0 && path[i-1] == "nodes" {
			node, _ := project.ValueAt(m, path[:i+1]).(map[string]any)
			id, _ = node["id"].(string)
		}
	}
	return id
}
