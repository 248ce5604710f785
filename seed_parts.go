package main

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/accounts"
	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
)

func (r *seedReader) readUser(value any, path []any) {
	object, ok := r.object(value, path, "email", "name", "apiKey", "password")
	if !ok {
		return
	}
	user := seedUser{
		email: r.email(object, path, "email", true), name: r.text(object, path, "name", false, 200),
		apiKey: r.filledText(object, path, "apiKey"), password: r.filledText(object, path, "password"),
	}
	if user.name == "" {
		user.name, _, _ = strings.Cut(user.email, "@")
	}
	if object["apiKey"] != nil && !printableKey(user.apiKey) {
		r.wrong("must be 8 or more printable characters without blanks", append(slices.Clone(path), "apiKey")...)
	}
	if object["password"] != nil {
		if err := accounts.CheckPassword(user.password, user.email); err != nil {
			r.wrong(reasonOf(err), append(slices.Clone(path), "password")...)
		}
	}
	for _, other := range r.seed.users {
		if sameEmail(other.email, user.email) {
			r.wrong("stands there twice", append(slices.Clone(path), "email")...)
		}
		if user.apiKey != "" && other.apiKey == user.apiKey {
			r.wrong("is the key of another user", append(slices.Clone(path), "apiKey")...)
		}
	}
	r.seed.users = append(r.seed.users, user)
}

// reasonOf gives what is wrong with the field that an error is about.
func reasonOf(err error) string {
	_, message, _ := explain(err)
	if _, reason, found := strings.Cut(message, ": "); found {
		return reason
	}
	return message
}

// printableKey tells whether a text can be an API key.
func printableKey(key string) bool {
	return len(key) >= 8 && !strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

func sameEmail(a, b string) bool { return strings.EqualFold(a, b) }

func (r *seedReader) readOrganization(value any, path []any) {
	object, ok := r.object(value, path, "name", "members")
	if !ok {
		return
	}
	o := seedOrganization{name: r.text(object, path, "name", true, 200)}
	if o.name != "" && r.organization(o.name) != nil {
		r.wrong("stands there twice", append(slices.Clone(path), "name")...)
	}
	r.eachOf(object, "members", path, func(value any, path []any) {
		object, ok := r.object(value, path, "email", "role")
		if !ok {
			return
		}
		member := seedMember{r.email(object, path, "email", true), r.text(object, path, "role", true, 20)}
		switch member.role {
		case blueprint.RoleOwner:
			if o.owner == "" {
				o.owner = member.email
			}
		case blueprint.RoleAdmin, blueprint.RoleMember, "":
		default:
			r.wrong(`must be "owner", "admin" or "member"`, append(slices.Clone(path), "role")...)
		}
		o.members = append(o.members, member)
	})
	if o.owner == "" {
		r.wrong("needs a member whose role is owner", append(slices.Clone(path), "members")...)
	}
	r.seed.organizations = append(r.seed.organizations, o)
}

func (r *seedReader) organization(name string) *seedOrganization {
	for i := range r.seed.organizations {
		if r.seed.organizations[i].name == name {
			return &r.seed.organizations[i]
		}
	}
	return nil
}

// place reads to whom something belongs: a user of the server, and perhaps an
// organization of the seed, of which they are a member.
func (r *seedReader) place(object map[string]any, path []any) (owner, organization string) {
	owner, organization = r.email(object, path, "owner", false), r.text(object, path, "organization", false, 200)
	if organization == "" {
		return owner, ""
	}
	o := r.organization(organization)
	switch {
	case o == nil:
		r.wrong(fmt.Sprintf("the seed file has no organization %q", organization), append(slices.Clone(path), "organization")...)
	case owner == "":
		owner = o.owner
	case !slices.ContainsFunc(o.members, func(m seedMember) bool { return sameEmail(m.email, owner) }):
		r.wrong("is no member of "+organization, append(slices.Clone(path), "owner")...)
	}
	return owner, organization
}

func (r *seedReader) readConnection(value any, path []any) {
	object, ok := r.object(value, path, "name", "type", "config", "owner", "organization")
	if !ok {
		return
	}
	c := seedConnection{name: r.text(object, path, "name", true, 200), kind: r.text(object, path, "type", true, 40)}
	c.owner, c.organization = r.place(object, path)
	if r.connection(c.name) && c.name != "" {
		r.wrong("stands there twice", append(slices.Clone(path), "name")...)
	}
	at := append(slices.Clone(path), "config")
	if c.config, ok = object["config"].(map[string]any); !ok {
		r.wrong("must be an object", at...)
		return
	}
	before := len(r.issues)
	if c.config, _ = r.filled(c.config, at).(map[string]any); len(r.issues) == before {
		config, _, _ := blueprint.MergeConnection(blueprint.ConnectionType(c.kind), nil, c.config)
		for _, issue := range blueprint.CheckConnection(blueprint.ConnectionType(c.kind), config) {
			r.wrong(issue.Message, append(slices.Clone(at), issue.Path...)...)
		}
	}
	r.seed.connections = append(r.seed.connections, c)
}

func (r *seedReader) connection(name string) bool {
	return slices.ContainsFunc(r.seed.connections, func(c seedConnection) bool { return c.name == name })
}

func (r *seedReader) readBlueprint(value any, path []any) {
	object, ok := value.(map[string]any)
	if !ok {
		r.wrong("must be an object", path...)
		return
	}
	b := seedBlueprint{blueprintFile: &blueprintFile{}}
	b.owner, b.organization = r.place(object, path)
	checked, _ := connected(object, func(name string) string {
		if !r.connection(name) {
			r.wrong(fmt.Sprintf("the seed file has no connection %q, to which a node refers with %s", name, connectionKey), path...)
		}
		return anyConnection
	}).(map[string]any)
	if list, ok := checked["triggers"].([]any); ok {
		for i := range list {
			r.fillTrigger(list[i], append(slices.Clone(path), "triggers", i, "config"))
		}
	}
	reader := &fileReader{b: b.blueprintFile}
	reader.b.document = &file.Document{Name: r.document.Name, Value: checked}
	reader.read()
	for _, issue := range reader.issues {
		issue.Path = append(slices.Clone(path), issue.Path...)
		r.issues = append(r.issues, issue)
	}
	b.m = object["blueprint_map"]
	for _, other := range r.seed.blueprints {
		if other.title == b.title && sameEmail(other.owner, b.owner) && other.organization == b.organization {
			r.wrong("its owner has another of this title here", append(slices.Clone(path), "title")...)
		}
	}
	r.seed.blueprints = append(r.seed.blueprints, b)
}

// fillTrigger fills in the secrets of a trigger, in place: connected has copied it.
func (r *seedReader) fillTrigger(trigger any, path []any) {
	object, _ := trigger.(map[string]any)
	config, _ := object["config"].(map[string]any)
	for _, name := range blueprint.SecretTriggerConfig {
		if text, ok := config[name].(string); ok {
			config[name] = r.filled(text, append(slices.Clone(path), name))
		}
	}
}

// connected gives a copy of a value with the ids of connections in the place of
// {"$connection": name}.
func connected(value any, id func(name string) string) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = connected(v[i], id)
		}
		return out
	case map[string]any:
		if name, ok := v[connectionKey].(string); ok && len(v) == 1 {
			return id(name)
		}
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = connected(v[name], id)
		}
		return out
	}
	return value
}
