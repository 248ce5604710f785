package dev

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/command/terminal"
	"blueprintd/project"
	"blueprintd/project/deploy"
)

// resolve resolves the references of files for a plan and prints those that it cannot
// resolve. In a sandbox, it creates missing connections. It leaves out files that refer
// to missing files, so that their blueprints stay as they are.
func (l *loop) resolve(ctx context.Context, server *deploy.InStore, files []project.Desired, have []project.Deployed) ([]project.Desired, []project.Deployed, error) {
	warn := func(line string) { l.reportOnce(terminal.Yellow, blueprint.OneLine(line)) }
	skipped := map[string]bool{}
	for _, d := range project.FindDangling(files) {
		if skipped[d.File] = true; l.wanted[d.Target(d.File)].Path == "" && !d.Indirect {
			if _, err := project.ReadListed(l.Dir, d.Target(d.File), document.MaxSize); err == nil {
				d.Message = "waits for " + d.Target(d.File) + ", which has errors"
			}
		}
		warn(l.wanted[d.File].Point(d.Path, d.Message))
	}
	files = slices.DeleteFunc(files, func(d project.Desired) bool { return skipped[d.Path] })
	have = slices.DeleteFunc(have, func(d project.Deployed) bool { return skipped[project.PathOf(l.Deploy.Name, d.Source)] })
	if !deploy.RefersTo(files, project.ConnectionKey) {
		return files, have, nil
	}
	all, err := server.Connections(ctx)
	if err == nil && l.server.Options.Sandbox != nil {
		all, err = l.createPlaceholders(ctx, files, all)
	}
	if err != nil {
		return nil, nil, err
	}
	l.Deploy.Connections = deploy.NamesOf(all)
	for i := range files {
		d := &files[i]
		files[i] = d.Connect(func(to project.Reference) string {
			id, wrong := deploy.ConnectionNamed(all, to)
			if wrong == "" {
				return id
			}
			if l.server.Options.Sandbox == nil {
				wrong += ", and save again; until then its nodes fail (--sandbox creates a placeholder)"
			}
			warn(d.Point(to.Path, wrong))
			return project.DerivedID(to.Key, to.Name) // the id of no connection
		})
	}
	return files, have, nil
}

// createPlaceholders creates the missing connections that files name, and returns all
// connections. In a sandbox they reach no real service.
func (l *loop) createPlaceholders(ctx context.Context, files []project.Desired, all []blueprint.Connection) ([]blueprint.Connection, error) {
	created := map[string]*blueprint.NewConnection{}
	var order []string
	for i := range files {
		for _, to := range files[i].References() {
			fit := to.Connections()
			if to.Key != project.ConnectionKey || len(fit) == 0 || slices.ContainsFunc(all, func(c blueprint.Connection) bool { return c.Name == to.Name }) {
				continue
			}
			c := created[to.Name]
			if c == nil {
				c = &blueprint.NewConnection{Name: to.Name, Type: fit[0], Config: blueprint.PlaceholderConfig(fit[0])}
				created[to.Name] = c
				order = append(order, to.Name)
			}
			if host := hostAround(files[i].Map, to.Path); host != "" && fit[0] == blueprint.ConnectionHTTP && c.Type == fit[0] {
				hosts, _ := c.Config["hosts"].([]any)
				if !slices.Contains(hosts, any(host)) {
					c.Config["hosts"] = append(hosts, host)
				}
			}
		}
	}
	for _, name := range order {
		hosts, _ := created[name].Config["hosts"].([]any)
		if hosts != nil && len(hosts) == 0 {
			created[name].Config["hosts"] = []any{"api.example.com"}
		}
		c, err := l.server.Store.CreateConnection(ctx, l.owner, *created[name])
		if err != nil {
			return nil, err
		}
		l.Screen.Say("", "connection %s: created a placeholder of type %s", blueprint.OneLine(name), c.Type)
		all = append(all, c)
	}
	return all, nil
}

// hostAround returns the host to which the node with a reference connects, "" if it
// depends on a template. The path of the reference starts at the file.
func hostAround(m any, path []any) string {
	config, _ := project.ValueAt(m, path[1:len(path)-2]).(map[string]any)
	text, _ := config["url"].(string)
	to, err := url.Parse(text)
	if err != nil || strings.Contains(to.Host, "{{") {
		return ""
	}
	return to.Host
}
