package main

import (
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/server/accounts"
)

// seedFile is what a server is to begin with, read and checked.
type seedFile struct {
	name          string
	users         []seedUser
	organizations []seedOrganization
	connections   []seedConnection
	blueprints    []seedBlueprint
}

type seedUser struct{ email, name, apiKey, password string }

type seedOrganization struct {
	name    string
	owner   string // the first of its owners
	members []seedMember
}

type seedMember struct {
	email string
	role  blueprint.OrganizationRole
}

type seedConnection struct {
	name, kind          string
	config              map[string]any
	owner, organization string
}

type seedBlueprint struct {
	*blueprintFile
	owner, organization string
}

// anyConnection takes the place of the id of a connection until there is one.
const anyConnection = "00000000-0000-4000-8000-000000000000"

// seedReader turns a document into a seed and gathers what is wrong.
type seedReader struct {
	document *document.Document
	lookup   func(string) (string, bool) // of environment variables
	seed     *seedFile
	issues   []blueprint.Issue
}

// readSeed reads a seed file and checks it whole. Its issues point into the
// document; a file that cannot be read at all is an error.
func readSeed(name string, data []byte, lookup func(string) (string, bool)) (*seedFile, *document.Document, []blueprint.Issue, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, nil, err
	}
	r := &seedReader{document: doc, lookup: lookup, seed: &seedFile{name: name}}
	r.read()
	return r.seed, doc, r.issues, nil
}

func (r *seedReader) wrong(message string, path ...any) {
	r.issues = append(r.issues, blueprint.Issue{Path: path, Message: message, Severity: blueprint.SeverityError})
}

func (r *seedReader) read() {
	top, ok := r.object(r.document.Value, nil, "$schema", "users", "organizations", "connections", "blueprints")
	if !ok {
		return
	}
	if _, text := top["$schema"].(string); top["$schema"] != nil && !text {
		r.wrong("must be a string", "$schema")
	}
	r.each(top, "users", r.readUser)
	r.each(top, "organizations", r.readOrganization)
	r.each(top, "connections", r.readConnection)
	r.each(top, "blueprints", r.readBlueprint)
}

// object gives a value that must be an object of these members.
func (r *seedReader) object(value any, path []any, members ...string) (map[string]any, bool) {
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

// each reads the elements of a list that may be left out.
func (r *seedReader) each(object map[string]any, name string, read func(value any, path []any)) {
	r.eachOf(object, name, nil, read)
}

func (r *seedReader) eachOf(object map[string]any, name string, above []any, read func(value any, path []any)) {
	value, given := object[name]
	if !given || value == nil {
		return
	}
	list, ok := value.([]any)
	if !ok {
		r.wrong("must be an array", append(slices.Clone(above), name)...)
	}
	for i, element := range list {
		if len(r.issues) >= blueprint.MaxIssues {
			return
		}
		read(element, append(slices.Clone(above), name, i))
	}
}

// text gives a member that is a text of at most so many characters.
func (r *seedReader) text(object map[string]any, path []any, name string, required bool, most int) string {
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

func (r *seedReader) email(object map[string]any, path []any, name string, required bool) string {
	email := r.text(object, path, name, required, 320)
	if _, given := object[name].(string); given && (email != "" || !required) && accounts.CheckEmail(email) != nil {
		r.wrong("is no email address", append(slices.Clone(path), name)...)
	}
	return email
}

// filledText is filled for a member that is a text.
func (r *seedReader) filledText(object map[string]any, path []any, name string) string {
	text := r.text(object, path, name, false, 4096)
	filled, _ := r.filled(text, append(slices.Clone(path), name)).(string)
	return filled
}
