package project

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/server/accounts"
)

func (r *SeedReader) ReadUser(value any, path []any) {
	object, ok := r.Object(value, path, "email", "name", "apiKey", "password")
	if !ok {
		return
	}
	user := seedUser{
		Email: r.email(object, path, "email", true), Name: r.text(object, path, "name", false, 200),
		APIKey: r.filledText(object, path, "apiKey"), Password: r.filledText(object, path, "password"),
	}
	if user.Name == "" {
		user.Name, _, _ = strings.Cut(user.Email, "@")
	}
	if object["apiKey"] != nil && !printableKey(user.APIKey) {
		r.wrong("must be 8 or more printable characters without blanks", append(slices.Clone(path), "apiKey")...)
	}
	if object["password"] != nil {
		if err := accounts.CheckPassword(user.Password, user.Email); err != nil {
			r.wrong(reasonOf(err), append(slices.Clone(path), "password")...)
		}
	}
	for _, other := range r.Seed.Users {
		if SameEmail(other.Email, user.Email) {
			r.wrong("stands there twice", append(slices.Clone(path), "email")...)
		}
		if user.APIKey != "" && other.APIKey == user.APIKey {
			r.wrong("is the key of another user", append(slices.Clone(path), "apiKey")...)
		}
	}
	r.Seed.Users = append(r.Seed.Users, user)
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

func SameEmail(a, b string) bool { return strings.EqualFold(a, b) }

func (r *SeedReader) ReadOrganization(value any, path []any) {
	object, ok := r.Object(value, path, "name", "members")
	if !ok {
		return
	}
	o := SeedOrganization{Name: r.text(object, path, "name", true, 200)}
	if o.Name != "" && r.organization(o.Name) != nil {
		r.wrong("stands there twice", append(slices.Clone(path), "name")...)
	}
	r.eachOf(object, "members", path, func(value any, path []any) {
		object, ok := r.Object(value, path, "email", "role")
		if !ok {
			return
		}
		member := seedMember{r.email(object, path, "email", true), blueprint.OrganizationRole(r.text(object, path, "role", true, 20))}
		r.known(member.Email, append(slices.Clone(path), "email")...)
		if o.has(member.Email) {
			r.wrong("stands there twice", append(slices.Clone(path), "email")...)
		}
		switch member.Role {
		case blueprint.OrganizationOwner:
			if o.Owner == "" {
				o.Owner = member.Email
			}
		case blueprint.OrganizationAdmin, blueprint.OrganizationMember, "":
		default:
			r.wrong(`must be "owner", "admin" or "member"`, append(slices.Clone(path), "role")...)
		}
		o.Members = append(o.Members, member)
	})
	if o.Owner == "" {
		r.wrong("needs a member whose role is owner", append(slices.Clone(path), "members")...)
	}
	r.Seed.Organizations = append(r.Seed.Organizations, o)
}

func (r *SeedReader) ReadConnection(value any, path []any) {
	object, ok := r.Object(value, path, "name", "type", "config", "owner", "organization")
	if !ok {
		return
	}
	c := SeedConnection{Name: r.text(object, path, "name", true, 200), Kind: r.text(object, path, "type", true, 40)}
	c.Owner, c.Organization = r.place(object, path)
	if c.Name != "" && r.connection(c.Name) != nil {
		r.wrong("stands there twice", append(slices.Clone(path), "name")...)
	}
	at := append(slices.Clone(path), "config")
	if c.Config, ok = object["config"].(map[string]any); !ok {
		r.wrong("must be an object", at...)
		return
	}
	before := len(r.Issues)
	checked, _ := Connected(c.Config, at, func(name string, path []any) string {
		r.refer(c.Owner, name, path) // to one that stands before it
		return anyConnection
	}).(map[string]any)
	plain := checked
	checked, _ = r.filled(checked, at).(map[string]any)
	r.checkVariables(c.Kind, plain, at)
	if len(r.Issues) == before {
		c.Config, _ = r.filled(c.Config, at).(map[string]any)
		config, _, _ := blueprint.MergeConnection(blueprint.ConnectionType(c.Kind), nil, checked)
		for _, issue := range blueprint.CheckConnection(blueprint.ConnectionType(c.Kind), config) {
			r.wrong(issue.Message, append(slices.Clone(at), issue.Path...)...)
		}
	}
	r.Seed.Connections = append(r.Seed.Connections, c)
}

func (r *SeedReader) readBlueprint(value any, path []any) {
	object, ok := value.(map[string]any)
	if !ok {
		r.wrong("must be an object", path...)
		return
	}
	b := SeedBlueprint{Blueprint: &Blueprint{}}
	b.Owner, b.Organization = r.place(object, path)
	checked := maps.Clone(object)
	for _, name := range []string{"blueprint_map", "triggers"} {
		if value, given := object[name]; given {
			checked[name] = Connected(value, append(slices.Clone(path), name), func(name string, path []any) string {
				r.refer(b.Owner, name, path)
				return anyConnection
			})
		}
	}
	if list, ok := checked["triggers"].([]any); ok {
		for i := range list {
			r.fillTrigger(list[i], append(slices.Clone(path), "triggers", i, "config"))
		}
	}
	reader := &Reader{Blueprint: b.Blueprint}
	reader.Blueprint.Document = &document.Document{Name: r.Document.Name, Value: checked}
	reader.Read()
	for _, to := range reader.Blueprint.References { // connections are there already
		r.wrong("a seed file names no blueprint files; blueprintd sync takes folders of them", append(slices.Clone(path), to.Path...)...)
	}
	for _, issue := range reader.Issues {
		issue.Path = append(slices.Clone(path), issue.Path...)
		r.Issues = append(r.Issues, issue)
	}
	b.Map = object["blueprint_map"]
	for _, other := range r.Seed.Blueprints {
		if other.Title == b.Title && r.OwnerOf(other.Owner) == r.OwnerOf(b.Owner) && other.Organization == b.Organization {
			r.wrong("its owner has another of this title here", append(slices.Clone(path), "title")...)
		}
	}
	r.Seed.Blueprints = append(r.Seed.Blueprints, b)
}

// fillTrigger fills in the secrets of a trigger, in place: connected has copied it.
func (r *SeedReader) fillTrigger(trigger any, path []any) {
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
