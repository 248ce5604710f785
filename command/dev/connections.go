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

// refer prepares the references of files for a plan: connections are found by
// name, and made if that is what a sandbox is for; a file that refers to one that
// is not there stays as it was. What is wrong is told once.
func (l *loop) refer(ctx context.Context, server *deploy.InStore, files []project.Desired, have []project.Deployed) ([]project.Desired, []project.Deployed, error) {
	tell := func(line string) { l.tell(terminal.Yellow, blueprint.OneLine(line)) }
	left := map[string]bool{} // files that cannot be stored
	for _, d := range project.FindDangling(files) {
		if left[d.File] = true; l.wanted[d.Target(d.File)].Path == "" && !d.Indirect {
			if _, err := project.ReadListed(l.Dir, d.Target(d.File), document.MaxSize); err == nil {
				d.Message = "waits for " + d.Target(d.File) + ", which has errors"
			}
		}
		tell(l.wanted[d.File].Point(d.Path, d.Message))
	}
	files = slices.DeleteFunc(files, func(d project.Desired) bool { return left[d.Path] })
	have = slices.DeleteFunc(have, func(d project.Deployed) bool {
		return left[strings.TrimPrefix(d.Source, project.SourceOf(l.Deploy.Name, ""))]
	})
	if !deploy.RefersTo(files, project.ConnectionKey) {
		return files, have, nil
	}
	all, err := server.Connections(ctx)
	if err == nil && l.server.Options.Sandbox != nil {
		all, err = l.pretend(ctx, files, all)
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
				wrong += ", and save again; until then what needs it fails (--sandbox makes a stand-in)"
			}
			tell(d.Point(to.Path, wrong))
			return project.DerivedID(to.Key, to.Name) // which nobody has
		})
	}
	return files, have, nil
}

// pretend makes the connections that files name and that are not there, and gives
// them with the others. In a sandbox they reach nothing real.
func (l *loop) pretend(ctx context.Context, files []project.Desired, all []blueprint.Connection) ([]blueprint.Connection, error) {
	made := map[string]*blueprint.NewConnection{}
	var order []string
	for i := range files {
		for _, to := range files[i].References() {
			fit := to.Connections()
			if to.Key != project.ConnectionKey || len(fit) == 0 || slices.ContainsFunc(all, func(c blueprint.Connection) bool { return c.Name == to.Name }) {
				continue
			}
			if made[to.Name] == nil {
				made[to.Name] = &blueprint.NewConnection{Name: to.Name, Type: fit[0], Config: blueprint.PlaceholderConfig(fit[0])}
				order = append(order, to.Name)
			}
			if host := hostAround(files[i].Map, to.Path); host != "" && fit[0] == blueprint.ConnectionHTTP && made[to.Name].Type == fit[0] {
				hosts, _ := made[to.Name].Config["hosts"].([]any)
				if !slices.Contains(hosts, any(host)) {
					made[to.Name].Config["hosts"] = append(hosts, host)
				}
			}
		}
	}
	for _, name := range order {
		hosts, _ := made[name].Config["hosts"].([]any)
		if hosts != nil && len(hosts) == 0 {
			made[name].Config["hosts"] = []any{"api.example.com"}
		}
		c, err := l.server.Store.CreateConnection(ctx, l.owner, *made[name])
		if err != nil {
			return nil, err
		}
		l.Screen.Say("", "connection %s: a stand-in of type %s", blueprint.OneLine(name), c.Type)
		all = append(all, c)
	}
	return all, nil
}

// hostAround returns the host that the node with a reference calls, "" when it is
// not known before it runs. The path starts at the file.
func hostAround(m any, path []any) string {
	at := m
	for _, step := range path[1 : len(path)-2] {
		switch key := step.(type) {
		case string:
			object, _ := at.(map[string]any)
			at = object[key]
		case int:
			list, _ := at.([]any)
			if key >= len(list) {
				return ""
			}
			at = list[key]
		}
	}
	config, _ := at.(map[string]any)
	text, _ := config["url"].(string)
	to, err := url.Parse(text)
	if err != nil || strings.Contains(to.Host, "{{") {
		return ""
	}
	return to.Host
}
