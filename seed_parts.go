package main

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/server/accounts"
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
	message, _ := blueprint.Explain(err)
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
		member := seedMember{r.email(object, path, "email", true), blueprint.OrganizationRole(r.text(object, path, "role", true, 20))}
		r.known(member.email, append(slices.Clone(path), "email")...)
		if o.has(member.email) {
			r.wrong("stands there twice", append(slices.Clone(path), "email")...)
		}
		switch member.role {
		case blueprint.OrganizationOwner:
			if o.owner == "" {
				o.owner = member.email
			}
		case blueprint.OrganizationAdmin, blueprint.OrganizationMember, "":
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

func (r *seedReader) readConnection(value any, path []any) {
	object, ok := r.object(value, path, "name", "type", "config", "owner", "organization")
	if !ok {
		return
	}
	c := seedConnection{name: r.text(object, path, "name", true, 200), kind: r.text(object, path, "type", true, 40)}
	c.owner, c.organization = r.place(object, path)
	if c.name != "" && r.connection(c.name) != nil {
		r.wrong("stands there twice", append(slices.Clone(path), "name")...)
	}
	at := append(slices.Clone(path), "config")
	if c.config, ok = object["config"].(map[string]any); !ok {
		r.wrong("must be an object", at...)
		return
	}
	before := len(r.issues)
	checked, _ := connected(c.config, at, func(name string, path []any) string {
		r.refer(c.owner, name, path) // to one that stands before it
		return anyConnection
	}).(map[string]any)
	plain := checked
	checked, _ = r.filled(checked, at).(map[string]any)
	r.checkVariables(c.kind, plain, at)
	if len(r.issues) == before {
		c.config, _ = r.filled(c.config, at).(map[string]any)
		config, _, _ := blueprint.MergeConnection(blueprint.ConnectionType(c.kind), nil, checked)
		for _, issue := range blueprint.CheckConnection(blueprint.ConnectionType(c.kind), config) {
			r.wrong(issue.Message, append(slices.Clone(at), issue.Path...)...)
		}
	}
	r.seed.connections = append(r.seed.connections, c)
}

func (r *seedReader) readBlueprint(value any, path []any) {
	object, ok := value.(map[string]any)
	if !ok {
		r.wrong("must be an object", path...)
		return
	}
	b := seedBlueprint{blueprintFile: &blueprintFile{}}
	b.owner, b.organization = r.place(object, path)
	checked := maps.Clone(object)
	for _, name := range []string{"blueprint_map", "triggers"} {
		if value, given := object[name]; given {
			checked[name] = connected(value, append(slices.Clone(path), name), func(name string, path []any) string {
				r.refer(b.owner, name, path)
				return anyConnection
			})
		}
	}
	if list, ok := checked["triggers"].([]any); ok {
		for i := range list {
			r.fillTrigger(list[i], append(slices.Clone(path), "triggers", i, "config"))
		}
	}
	reader := &fileReader{b: b.blueprintFile}
	reader.b.document = &document.Document{Name: r.document.Name, Value: checked}
	reader.read()
	for _, to := range reader.b.references { // connections are there already
		r.wrong("a seed file names no blueprint files; blueprintd sync takes folders of them", append(slices.Clone(path), to.Path...)...)
	}
	for _, issue := range reader.issues {
		issue.Path = append(slices.Clone(path), issue.Path...)
		r.issues = append(r.issues, issue)
	}
	b.m = object["blueprint_map"]
	for _, other := range r.seed.blueprints {
		if other.title == b.title && r.ownerOf(other.owner) == r.ownerOf(b.owner) && other.organization == b.organization {
			r.wrong("its owner has another of this title here", append(slices.Clone(path), "title")...)
		}
	}
	r.seed.blueprints = append(r.seed.blueprints, b)
}

// fillTrigger fills in the secrets of a trigger, in place: connected has copied it.
func (r *seedReader) fillTrigger(trigger any, path []any) {
	object, _ := trigger.(map[string]any)
	config, _ := object["config"].(map[string]any)
	kind, _ := object["triggerType"].(string)
	_, renamed, _ := blueprint.TriggerConfigSpelling(blueprint.TriggerType(kind), config)
	for _, name := range blueprint.SecretTriggerConfig {
		name = cmp.Or(renamed[name], name)
		if text, ok := config[name].(string); ok && text != "" {
			config[name] = r.filled(text, append(slices.Clone(path), name)) // none is empty, which would let everybody in
		}
	}
}
