package project

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/server/accounts"
)

// Seed is what a server is to begin with, read and checked.
type Seed struct {
	Name          string
	Users         []seedUser
	Organizations []SeedOrganization
	Connections   []SeedConnection
	Blueprints    []SeedBlueprint
}

type seedUser struct{ Email, Name, APIKey, Password string }

type SeedOrganization struct {
	Name    string
	Owner   string // the first of its owners
	Members []seedMember
}

type seedMember struct {
	Email string
	Role  blueprint.OrganizationRole
}

type SeedConnection struct {
	Name, Kind          string
	Config              map[string]any
	Owner, Organization string
}

type SeedBlueprint struct {
	*Blueprint
	Owner, Organization string
}

// anyConnection takes the place of the id of a connection until there is one.
const anyConnection = "00000000-0000-4000-8000-000000000000"

// SeedReader turns a document into a seed and gathers what is wrong.
type SeedReader struct {
	Document *document.Document
	Lookup   func(string) (string, bool) // of environment variables
	Seed     *Seed
	Issues   []blueprint.Issue
}

// ReadSeed reads a seed file and checks it whole. Its issues point into the
// document; a file that cannot be read at all is an error.
func ReadSeed(name string, data []byte, lookup func(string) (string, bool)) (*Seed, *document.Document, []blueprint.Issue, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, nil, err
	}
	r := &SeedReader{Document: doc, Lookup: lookup, Seed: &Seed{Name: name}}
	r.read()
	return r.Seed, doc, r.Issues, nil
}

func (r *SeedReader) wrong(message string, path ...any) {
	r.Issues = append(r.Issues, blueprint.Issue{Path: path, Message: message, Severity: blueprint.SeverityError})
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

// Object gives a value that must be an object of these members.
func (r *SeedReader) Object(value any, path []any, members ...string) (map[string]any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		r.wrong("must be an object", path...)
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(members, name) {
			r.wrong("is no member of a seed file here"+blueprint.DidYouMean(name, members), append(slices.Clone(path), name)...)
		}
	}
	return object, true
}

// Each reads the elements of a list that may be left out.
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
		r.wrong("must be an array", append(slices.Clone(above), name)...)
	}
	for i, element := range list {
		if len(r.Issues) >= blueprint.MaxIssues {
			return
		}
		read(element, append(slices.Clone(above), name, i))
	}
}

// text gives a member that is a text of at most so many characters.
func (r *SeedReader) text(object map[string]any, path []any, name string, required bool, most int) string {
	value, given := object[name]
	text, ok := value.(string)
	path = append(slices.Clone(path), name)
	switch {
	case required && (!given || ok && text == ""):
		r.wrong("required", path...)
	case given && !ok && (value != nil || required):
		r.wrong("must be a string", path...)
	case utf8.RuneCountInString(text) > most:
		r.wrong(fmt.Sprintf("must have at most %d characters", most), path...)
	}
	return text
}

func (r *SeedReader) email(object map[string]any, path []any, name string, required bool) string {
	email := r.text(object, path, name, required, 320)
	if _, given := object[name].(string); given && (email != "" || !required) && accounts.CheckEmail(email) != nil {
		r.wrong("is no email address", append(slices.Clone(path), name)...)
	}
	return email
}

// filledText is filled for a member that is a text.
func (r *SeedReader) filledText(object map[string]any, path []any, name string) string {
	text := r.text(object, path, name, false, 4096)
	filled, _ := r.filled(text, append(slices.Clone(path), name)).(string)
	return filled
}
