package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// Connections lists the connections that blueprints of the organization may use: those of
// the organization and of the owner.
func (s *InStore) Connections(ctx context.Context) ([]blueprint.Connection, error) {
	of, err := s.Store.Organizations(ctx, s.Owner)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.Connections(ctx, s.Owner, "")
	if err != nil {
		return nil, err
	}
	return connectionsAt(all, of, s.OrganizationID)
}

// Connections lists the connections that blueprints of the organization may use.
func (r *Remote) Connections(ctx context.Context) ([]blueprint.Connection, error) {
	var of []blueprint.Organization
	if err := r.query(ctx, "organization.list", map[string]any{}, &of); err != nil {
		return nil, err
	}
	var all []blueprint.Connection
	if err := r.query(ctx, "connection.list", map[string]any{}, &all); err != nil {
		return nil, err
	}
	return connectionsAt(all, of, r.organizationID)
}

// connectionsAt leaves out the connections of other organizations.
func connectionsAt(all []blueprint.Connection, of []blueprint.Organization, wanted string) ([]blueprint.Connection, error) {
	home, err := homeAmong(of, wanted)
	return slices.DeleteFunc(all, func(c blueprint.Connection) bool { return c.OrganizationID != nil && *c.OrganizationID != home }), err
}

// ConnectionNamed returns the id of the connection that a reference names, or an error
// message if there is not exactly one.
func ConnectionNamed(all []blueprint.Connection, to project.Reference) (id, wrong string) {
	fit := to.Connections()
	var found, others []string
	var otherType blueprint.ConnectionType
	for i := range all {
		switch c := &all[i]; {
		case c.Name != to.Name:
			others = append(others, c.Name)
		case fit == nil || slices.Contains(fit, c.Type):
			found = append(found, c.ID)
		default:
			otherType = c.Type
		}
	}
	needed := ""
	if len(fit) > 0 {
		needed = " of type " + project.TypeNames(fit)
	}
	switch {
	case len(found) == 1:
		return found[0], ""
	case len(found) > 1:
		return "", fmt.Sprintf("there are %d connections with the name %q (%s); rename all but one", len(found), to.Name, strings.Join(found[:min(len(found), 5)], ", "))
	case otherType != "":
		return "", fmt.Sprintf("the connection %q is of type %s; this needs one%s", to.Name, otherType, needed)
	}
	return "", fmt.Sprintf("there is no connection %q here", to.Name) + blueprint.DidYouMean(to.Name, others) + "; create one" + needed + " with this name on the dashboard, under Connections"
}

// RefersTo reports whether a file has a reference with a key.
func RefersTo(files []project.Desired, key string) bool {
	return slices.ContainsFunc(files, func(d project.Desired) bool {
		return slices.ContainsFunc(d.References(), func(to project.Reference) bool { return to.Key == key })
	})
}

// connectFolder replaces the names of connections by the ids of a server.
func connectFolder(ctx context.Context, server Server, files []project.Desired, o *Options) ([]project.Desired, error) {
	if !RefersTo(files, project.ConnectionKey) {
		return files, nil
	}
	all, err := server.Connections(ctx)
	if err != nil {
		return nil, err
	}
	o.Connections = NamesOf(all)
	var problems []string
	out := make([]project.Desired, len(files))
	for i := range files {
		out[i] = files[i].Connect(func(to project.Reference) string {
			id, wrong := ConnectionNamed(all, to)
			if wrong != "" {
				problems = append(problems, files[i].Point(to.Path, wrong))
			}
			return id
		})
	}
	if len(problems) > 0 {
		return nil, blueprint.Hinted("nothing was changed", "%s", strings.Join(problems, "\n"))
	}
	return out, nil
}

// NamesOf returns the names of connections by id.
func NamesOf(all []blueprint.Connection) map[string]string {
	names := make(map[string]string, len(all))
	for i := range all {
		names[all[i].ID] = all[i].Name
	}
	return names
}
