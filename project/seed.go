package project

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
)

// Seed is the initial content of a server, from a valid seed file.
type Seed struct {
	Name          string
	Users         []seedUser
	Organizations []SeedOrganization
	Connections   []SeedConnection
	Blueprints    []SeedBlueprint
}

type seedUser struct{ Email, Name, APIKey, Password string }

// SeedOrganization is an organization of a seed file.
type SeedOrganization struct {
	Name    string
	Owner   string // the first of its owners
	Members []seedMember
}

type seedMember struct {
	Email string
	Role  blueprint.OrganizationRole
}

// SeedConnection is a connection of a seed file.
type SeedConnection struct {
	Name, Kind          string
	Config              map[string]any
	Owner, Organization string
}

// SeedBlueprint is a blueprint of a seed file.
type SeedBlueprint struct {
	*Blueprint
	Owner, Organization string
}

// anyConnection is the placeholder for the id of a connection.
const anyConnection = "00000000-0000-4000-8000-000000000000"

// SeedReader reads a seed from its document.
type SeedReader struct {
	issues
	Document *document.Document
	Lookup   func(string) (string, bool) // of environment variables
	Seed     *Seed
}

// ReadSeed reads and checks a seed file. The error is a *document.SyntaxError.
func ReadSeed(name string, data []byte, lookup func(string) (string, bool)) (*Seed, *document.Document, []blueprint.Issue, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, nil, err
	}
	r := &SeedReader{Document: doc, Lookup: lookup, Seed: &Seed{Name: name}}
	r.read()
	return r.Seed, doc, r.Issues, nil
}

func (r *SeedReader) read() {
	top, ok := r.Object(r.Document.Value, nil, "$schema", "users", "organizations", "connections", "blueprints")
	if !ok {
		return
	}
	if _, text := top["$schema"].(string); top["$schema"] != nil && !text {
		r.wrong("must be a string", "$schema")
	}
	r.Each(top, "users", r.ReadUser)
	r.Each(top, "organizations", r.ReadOrganization)
	r.Each(top, "connections", r.ReadConnection)
	r.Each(top, "blueprints", r.readBlueprint)
}

// Object returns a value that must be an object with only these members.
func (r *SeedReader) Object(value any, path []any, members ...string) (map[string]any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		r.wrong("must be an object", path...)
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(members, name) {
			r.wrong("unknown field in a seed file"+blueprint.DidYouMean(name, members), below(path, name)...)
		}
	}
	return object, true
}

// Each calls read for the elements of an optional array.
func (r *SeedReader) Each(object map[string]any, name string, read func(value any, path []any)) {
	r.eachOf(object, name, nil, read)
}

func (r *SeedReader) eachOf(object map[string]any, name string, above []any, read func(value any, path []any)) {
	value, given := object[name]
	if !given || value == nil {
		return
	}
	list, ok := value.([]any)
	if !ok {
		r.wrong("must be an array", below(above, name)...)
	}
	for i, element := range list {
		if len(r.Issues) >= blueprint.MaxIssues {
			return
		}
		read(element, below(above, name, i))
	}
}

func (r *SeedReader) email(object map[string]any, path []any, name string, required bool) string {
	email := r.text(object, path, name, required, 320)
	if _, given := object[name].(string); given && (email != "" || !required) && blueprint.CheckEmail(email) != nil {
		r.wrong("is not an email address", below(path, name)...)
	}
	return email
}

// filledText returns a string member with its environment variables filled in.
func (r *SeedReader) filledText(object map[string]any, path []any, name string) string {
	text := r.text(object, path, name, false, 4096)
	filled, _ := r.filled(text, below(path, name)).(string)
	return filled
}

// ReadUser reads a user at a path.
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
		r.wrong("must be 8 or more printable characters without blanks", below(path, "apiKey")...)
	}
	if object["password"] != nil {
		if err := blueprint.CheckPassword(user.Password, user.Email); err != nil {
			r.wrong(reasonOf(err), below(path, "password")...)
		}
	}
	for _, other := range r.Seed.Users {
		if SameEmail(other.Email, user.Email) {
			r.wrong("is a duplicate", below(path, "email")...)
		}
		if user.APIKey != "" && other.APIKey == user.APIKey {
			r.wrong("is the key of another user", below(path, "apiKey")...)
		}
	}
	r.Seed.Users = append(r.Seed.Users, user)
}

// reasonOf returns the message of an error without the name of the field.
func reasonOf(err error) string {
	message, _ := blueprint.DescribeError(err)
	if _, reason, found := strings.Cut(message, ": "); found {
		return reason
	}
	return message
}

// printableKey reports whether a string can be an API key.
func printableKey(key string) bool {
	return len(key) >= 8 && !strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

// SameEmail reports whether two email addresses are equal, ignoring case.
func SameEmail(a, b string) bool { return strings.EqualFold(a, b) }

// ReadOrganization reads an organization at a path.
func (r *SeedReader) ReadOrganization(value any, path []any) {
	object, ok := r.Object(value, path, "name", "members")
	if !ok {
		return
	}
	o := SeedOrganization{Name: r.text(object, path, "name", true, 200)}
	if o.Name != "" && r.organization(o.Name) != nil {
		r.wrong("is a duplicate", below(path, "name")...)
	}
	r.eachOf(object, "members", path, func(value any, path []any) {
		object, ok := r.Object(value, path, "email", "role")
		if !ok {
			return
		}
		member := seedMember{r.email(object, path, "email", true), blueprint.OrganizationRole(r.text(object, path, "role", true, 20))}
		r.known(member.Email, below(path, "email")...)
		if o.has(member.Email) {
			r.wrong("is a duplicate", below(path, "email")...)
		}
		switch member.Role {
		case blueprint.OrganizationOwner:
			if o.Owner == "" {
				o.Owner = member.Email
			}
		case blueprint.OrganizationAdmin, blueprint.OrganizationMember, "":
		default:
			r.wrong(`must be "owner", "admin" or "member"`, below(path, "role")...)
		}
		o.Members = append(o.Members, member)
	})
	if o.Owner == "" {
		r.wrong("must have a member with the role owner", below(path, "members")...)
	}
	r.Seed.Organizations = append(r.Seed.Organizations, o)
}

// ReadConnection reads a connection at a path. It may refer only to connections before it.
func (r *SeedReader) ReadConnection(value any, path []any) {
	object, ok := r.Object(value, path, "name", "type", "config", "owner", "organization")
	if !ok {
		return
	}
	c := SeedConnection{Name: r.text(object, path, "name", true, 200), Kind: r.text(object, path, "type", true, 40)}
	c.Owner, c.Organization = r.place(object, path)
	if c.Name != "" && r.connection(c.Name) != nil {
		r.wrong("is a duplicate", below(path, "name")...)
	}
	at := below(path, "config")
	if c.Config, ok = object["config"].(map[string]any); !ok {
		r.wrong("must be an object", at...)
		return
	}
	before := len(r.Issues)
	checked, _ := Connected(c.Config, at, func(name string, path []any) string {
		r.refer(c.Owner, name, path)
		return anyConnection
	}).(map[string]any)
	plain := checked
	checked, _ = r.filled(checked, at).(map[string]any)
	r.checkVariables(c.Kind, plain, at)
	if len(r.Issues) == before {
		c.Config, _ = r.filled(c.Config, at).(map[string]any)
		config, _, _ := blueprint.MergeConnection(blueprint.ConnectionType(c.Kind), nil, checked)
		for _, issue := range blueprint.CheckConnection(blueprint.ConnectionType(c.Kind), config) {
			r.wrong(issue.Message, below(at, issue.Path...)...)
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
			checked[name] = Connected(value, below(path, name), func(name string, path []any) string {
				r.refer(b.Owner, name, path)
				return anyConnection
			})
		}
	}
	if list, ok := checked["triggers"].([]any); ok {
		for i := range list {
			r.fillTrigger(list[i], below(path, "triggers", i, "config"))
		}
	}
	reader := &Reader{Blueprint: b.Blueprint}
	reader.Blueprint.Document = &document.Document{Name: r.Document.Name, Value: checked}
	reader.Read()
	for _, to := range reader.Blueprint.References { // those to connections are replaced
		r.wrong("a seed file cannot refer to blueprint files; use blueprintd sync for folders of files", below(path, to.Path...)...)
	}
	for _, issue := range reader.Issues {
		issue.Path = below(path, issue.Path...)
		r.Issues = append(r.Issues, issue)
	}
	b.Map = object["blueprint_map"]
	for _, other := range r.Seed.Blueprints {
		if other.Title == b.Title && r.OwnerOf(other.Owner) == r.OwnerOf(b.Owner) && other.Organization == b.Organization {
			r.wrong("is the title of another blueprint of this owner", below(path, "title")...)
		}
	}
	r.Seed.Blueprints = append(r.Seed.Blueprints, b)
}

// fillTrigger fills in the secrets of a trigger in place.
func (r *SeedReader) fillTrigger(trigger any, path []any) {
	object, _ := trigger.(map[string]any)
	config, _ := object["config"].(map[string]any)
	kind, _ := object["triggerType"].(string)
	_, renamed, _ := blueprint.TriggerConfigSpelling(blueprint.TriggerType(kind), config)
	for _, name := range blueprint.SecretTriggerConfig {
		name = cmp.Or(renamed[name], name)
		if text, ok := config[name].(string); ok && text != "" {
			config[name] = r.filled(text, below(path, name))
		}
	}
}
