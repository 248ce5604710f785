package project

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
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

// seedMembers are the members of a seed file besides $schema.
var seedMembers = []string{"users", "organizations", "connections", "blueprints"}

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
	top, ok := r.Object(r.Document.Value, nil, slices.Concat([]string{"$schema"}, seedMembers)...)
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

func printableKey(key string) bool {
	return len(key) >= 8 && !strings.ContainsFunc(key, func(c rune) bool { return c <= ' ' || c >= 0x7f })
}

// SameEmail reports whether two email addresses are equal, ignoring case.
func SameEmail(a, b string) bool { return strings.EqualFold(a, b) }

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
			o.Owner = cmp.Or(o.Owner, member.Email)
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

// known adds an issue for users that the file does not list, so that an invalid seed is
// found before the database is created.
func (r *SeedReader) known(email string, path ...any) {
	if email == "" || slices.ContainsFunc(r.Seed.Users, func(u seedUser) bool { return SameEmail(u.Email, email) }) {
		return
	}
	var all []string
	for _, user := range r.Seed.Users {
		all = append(all, user.Email)
	}
	r.wrong("unknown user; list all users under users"+blueprint.DidYouMean(email, all), path...)
}

// OwnerOf returns the owner of an entry in lower case: email, or if that is empty the
// first user, who is the server's owner.
func (r *SeedReader) OwnerOf(email string) string {
	if email == "" && len(r.Seed.Users) > 0 {
		email = r.Seed.Users[0].Email
	}
	return strings.ToLower(email)
}

func (r *SeedReader) organization(name string) *SeedOrganization {
	for i := range r.Seed.Organizations {
		if r.Seed.Organizations[i].Name == name {
			return &r.Seed.Organizations[i]
		}
	}
	return nil
}

func (o *SeedOrganization) has(email string) bool {
	return slices.ContainsFunc(o.Members, func(m seedMember) bool { return SameEmail(m.Email, email) })
}

// place reads the owner and the organization of an entry. The owner must be a member.
func (r *SeedReader) place(object map[string]any, path []any) (owner, organization string) {
	owner, organization = r.email(object, path, "owner", false), r.text(object, path, "organization", false, 200)
	r.known(owner, below(path, "owner")...)
	if organization == "" {
		return owner, ""
	}
	o := r.organization(organization)
	switch {
	case o == nil:
		r.wrong(fmt.Sprintf("the seed file has no organization %q", organization), below(path, "organization")...)
	case owner == "":
		owner = o.Owner
	case !o.has(owner):
		r.wrong("is not a member of "+organization, below(path, "owner")...)
	}
	return owner, organization
}

func (r *SeedReader) connection(name string) *SeedConnection {
	for i := range r.Seed.Connections {
		if r.Seed.Connections[i].Name == name {
			return &r.Seed.Connections[i]
		}
	}
	return nil
}

// refer adds an issue for the name of an unknown connection, or of one that the owner of an
// entry may not use.
func (r *SeedReader) refer(owner, name string, path []any) {
	c := r.connection(name)
	switch {
	case c == nil:
		var all []string
		for _, c := range r.Seed.Connections {
			all = append(all, c.Name)
		}
		r.wrong(fmt.Sprintf("the seed file has no connection %q", name)+blueprint.DidYouMean(name, all), path...)
	case c.Organization == "" && r.OwnerOf(c.Owner) != r.OwnerOf(owner):
		r.wrong(fmt.Sprintf("the connection %q belongs to another user; give it an organization of both users", name), path...)
	case c.Organization != "":
		if o := r.organization(c.Organization); o != nil && owner != "" && !o.has(owner) {
			r.wrong(fmt.Sprintf("the connection %q belongs to %s, of which %s is not a member", name, c.Organization, owner), path...)
		}
	}
}

// Connected returns a copy of a value at a path with connections replaced by ids.
func Connected(value any, path []any, id func(name string, path []any) string) any {
	return Replace(value, path, func(to Reference) any {
		if to.Key != ConnectionKey {
			return to.Back()
		}
		return id(to.Name, to.Path)
	})
}

// FromEnvironment matches the reference to an environment variable, ${NAME}.
var (
	FromEnvironment = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	withoutBraces   = regexp.MustCompile(`^\$[A-Z_][A-Z0-9_]*$`)
)

// Environment looks up a variable in the environment of the process.
func Environment(name string) (string, bool) { return os.LookupEnv(name) }

// Assumed is a lookup in which every variable is set, each to its own value.
func Assumed(name string) (string, bool) { return "a-value-of-" + name, true }

// Unfilled returns an error message for an unset or empty environment variable.
func Unfilled(name, value string, known bool) string {
	switch {
	case !known:
		return "the environment variable " + name + " is not set"
	case value == "":
		return "the environment variable " + name + " is set, but empty"
	}
	return ""
}

// filled replaces ${NAME} by environment variables in all strings of a value. A variable
// may be empty only if the resulting string is not.
func (r *SeedReader) filled(value any, path []any) any {
	switch v := value.(type) {
	case string:
		empty := ""
		text := FromEnvironment.ReplaceAllStringFunc(v, func(match string) string {
			name := match[2 : len(match)-1]
			text, known := r.Lookup(name)
			message := Unfilled(name, text, known)
			if known {
				empty = message
			} else {
				r.wrong(message, path...)
			}
			return text
		})
		if text == "" && empty != "" {
			r.wrong(empty, path...)
		}
		return text
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.filled(v[i], below(path, i))
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = r.filled(v[name], below(path, name))
		}
		return out
	}
	return value
}

// checkVariables adds issues for empty variables in the secrets of an unfilled config, and
// for text that was meant as a variable but would be sent as part of a credential.
func (r *SeedReader) checkVariables(kind string, config map[string]any, path []any) {
	for _, at := range secretsOf(kind, config, path) {
		text, _ := ValueAt(config, at[len(path):]).(string)
		rest := FromEnvironment.ReplaceAllStringFunc(text, func(match string) string {
			name := match[2 : len(match)-1]
			value, known := r.Lookup(name)
			if message := Unfilled(name, value, known); known && message != "" && text != match {
				r.wrong(message, at...)
			}
			return "-"
		})
		if strings.Contains(rest, "${") {
			r.wrong("has ${ without a valid ${NAME}; hint: write ${NAME} with letters, digits and _; a value that contains ${ must come from an environment variable", at...)
		}
	}
}

func secretsOf(kind string, config map[string]any, path []any) (places [][]any) {
	for _, names := range blueprint.ConnectionSecretPaths(blueprint.ConnectionType(kind), config) {
		at := slices.Clone(path)
		for _, name := range names {
			at = append(at, name)
		}
		places = append(places, at)
	}
	return places
}

// VariablesWithoutBraces warns about secrets of connections that look like variables
// without braces, which are not replaced.
func VariablesWithoutBraces(value any) (issues []blueprint.Issue) {
	list, _ := ValueAt(value, []any{"connections"}).([]any)
	for i := range list {
		kind, _ := ValueAt(list[i], []any{"type"}).(string)
		config, _ := ValueAt(list[i], []any{"config"}).(map[string]any)
		path := []any{"connections", i, "config"}
		for _, at := range secretsOf(kind, config, path) {
			if text, _ := ValueAt(config, at[len(path):]).(string); withoutBraces.MatchString(text) {
				issues = append(issues, blueprint.Issue{
					Path: at, Severity: blueprint.SeverityWarning, Spot: blueprint.Spot{Secret: true},
					Message: "is not replaced; write ${NAME} for an environment variable",
				})
			}
		}
	}
	return issues
}
