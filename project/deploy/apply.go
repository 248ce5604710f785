package deploy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// Apply makes all changes of a plan except conflicts, and calls done after each. It
// stops at the first error, a *Failure. Each blueprint then has its old or its new map,
// and a new plan makes the remaining changes. Deletions come last.
func (p *Plan) Apply(ctx context.Context, server Server, done func(Change) error) error {
	return p.ApplyEach(ctx, server, func(c Change, err error) error {
		if err != nil {
			return &Failure{Path: c.Path, Err: err}
		}
		return done(c)
	})
}

// ApplyEach is Apply that continues after failed changes: done is called with each change
// and its error, and stops it by returning an error.
func (p *Plan) ApplyEach(ctx context.Context, server Server, done func(Change, error) error) error {
	for _, c := range slices.Concat(p.aside, p.quiet) {
		if err := server.Update(ctx, c.ID, c.patch); err != nil {
			if err := done(c, err); err != nil {
				return err
			}
		}
	}
	ids := maps.Clone(p.ids)
	for _, c := range p.Changes {
		if c.Action == Keep || c.Conflict != "" {
			continue
		}
		err := c.link(ids)
		if err == nil {
			err = c.apply(ctx, server)
		}
		if err == nil && c.Action == Create {
			ids[c.Path] = c.ID
		}
		if err := done(c, err); err != nil {
			return err
		}
	}
	return nil
}

// Failure is the error of the change of a file.
type Failure struct {
	Path string
	Err  error
}

func (f *Failure) Error() string { return f.Path + ": " + f.Err.Error() }

// Unwrap returns the error without the path.
func (f *Failure) Unwrap() error { return f.Err }

// apply makes a change and sets c.ID. The blueprint comes first; the triggers follow in
// the order of the plan.
func (c *Change) apply(ctx context.Context, server Server) (err error) {
	switch c.Action {
	case Delete:
		return server.Delete(ctx, c.ID)
	case Create:
		c.ID, err = server.Create(ctx, c.create)
	case Update:
		err = server.Update(ctx, c.ID, c.patch)
	}
	if err != nil {
		return err
	}
	for i := range c.Triggers {
		if err := c.Triggers[i].apply(ctx, server, c.ID); err != nil {
			return err
		}
	}
	// The server records edits of triggers until an update sets the source again.
	edited := slices.ContainsFunc(c.Triggers, func(t TriggerChange) bool { return t.Action == Update && len(t.config) > 0 })
	if c.after.Visibility != nil || edited {
		c.after.Source = c.source()
		return server.Update(ctx, c.ID, c.after)
	}
	return nil
}

func (c *Change) source() *string {
	if c.Action == Create {
		return &c.create.Source
	}
	return c.patch.Source
}

func (t *TriggerChange) apply(ctx context.Context, server Server, blueprintID string) (err error) {
	switch t.Action {
	case Create:
		t.ID, t.Address, err = server.CreateTrigger(ctx, blueprintID, t.Type, t.config, t.active == nil || *t.active)
	case Update:
		change := t.config
		if len(change) == 0 {
			change = nil
		}
		err = server.UpdateTrigger(ctx, t.ID, change, t.active)
	case Delete:
		err = server.DeleteTrigger(ctx, t.ID)
	}
	return err
}

// Connections lists the connections that blueprints of the organization may use: those of
// the organization and of its owner.
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

// newTrigger returns the change that creates a trigger. If its secret is null in the file,
// a new one is generated, as the trigger would accept any request without one.
func newTrigger(want *project.DesiredTrigger, o Options) TriggerChange {
	c := TriggerChange{Action: Create, Type: want.Type, config: map[string]any{}}
	for name, value := range want.Config {
		if value != nil && (value != "" || !isSecret(name)) {
			c.config[name] = value
		}
	}
	var notes []string
	for _, name := range marks {
		if text := textOf(want.Config, name); text != "" {
			notes = append(notes, name+" "+shown(text))
		}
	}
	if name := blueprint.KindOf(want.Type).Secrets.Secret; name != "" {
		if value, given := want.Config[name]; given && value == nil {
			c.config[name] = o.Secret()
			notes = append(notes, "with a new "+name+", which is null in the file")
		}
	}
	if !want.Active {
		off := false
		c.active = &off
		notes = append(notes, "paused")
	}
	c.Note = strings.Join(notes, ", ")
	return c
}

// changedTrigger returns the change that makes a trigger match its file. A trigger that a
// user or the breaker has paused is activated only with force.
func changedTrigger(want *project.DesiredTrigger, have *blueprint.Trigger, o Options) TriggerChange {
	c := TriggerChange{Action: Update, Type: want.Type, ID: have.ID, config: configChange(want, have)}
	for _, name := range slices.Sorted(maps.Keys(c.config)) {
		if isSecret(name) {
			c.Fields = append(c.Fields, Field{Path: "config." + name, Hidden: true})
			continue
		}
		c.Fields = differences("config."+name, have.Config[name], c.config[name], c.Fields)
	}
	switch {
	case want.Active && !have.IsActive && !o.Force:
		if c.Note = "it is paused on the server; --force activates it"; len(c.config) == 0 {
			c.Action = Keep
		}
	case want.Active != have.IsActive:
		c.active = &want.Active
		c.Fields = append(c.Fields, Field{Path: "isActive", Before: have.IsActive, After: want.Active})
	}
	return c
}

func isSecret(name string) bool { return slices.Contains(blueprint.SecretTriggerConfig, name) }

// isKept reports whether a config key that is missing in a file keeps its value: secrets,
// and keys that the server sets.
func isKept(kind blueprint.TriggerType, name string) bool {
	return isSecret(name) || name == "previousSecretUntil" || name == "previousSigningSecretUntil" || blueprint.KindOf(kind).Mailbox && name == "address"
}

// configChange returns the update that makes a config match the file, empty if it does.
func configChange(want *project.DesiredTrigger, have *blueprint.Trigger) map[string]any {
	change := map[string]any{}
	for name, value := range want.Config {
		present, given := have.Config[name]
		switch {
		case value == nil && isSecret(name), value == "" && isSecret(name) && !given:
		case value == nil && !given:
		case isKept(want.Type, name) && !isSecret(name) && value == nil:
		case !blueprint.Equal(value, present):
			change[name] = value
		}
	}
	for name := range have.Config {
		if _, named := want.Config[name]; !named && !isKept(want.Type, name) {
			change[name] = nil
		}
	}
	return change
}
