// Package project reads the files of a project folder: blueprints (*.blueprint.yaml),
// tests and seeds. It lists them (Scan), watches them (Watcher), reports errors with
// their positions, and generates the JSON Schemas of these files for editors.
//
// Files refer to each other and to connections by name instead of by id (Reference), so
// that a folder works with several servers.
package project

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
)

// MessageOf returns the message of an error for the author of a file.
func MessageOf(err error) string {
	if known, ok := errors.AsType[*blueprint.Error](err); ok {
		return known.Message
	}
	return fileio.Cause(err).Error()
}

// Pointed returns issues of a document with their positions and source lines. others are
// issues that are not shown, but may be about secrets to hide.
func Pointed(d *document.Document, issues []blueprint.Issue, others ...blueprint.Issue) string {
	var out strings.Builder
	for _, issue := range issues {
		out.WriteString(showIssue(d, issue, slices.Concat(issues, others)))
	}
	return out.String()
}

// Errors returns the issues that are not warnings.
func Errors(issues []blueprint.Issue) []blueprint.Issue {
	return slices.DeleteFunc(slices.Clone(issues), func(i blueprint.Issue) bool { return i.Severity == blueprint.SeverityWarning })
}

// Blueprint is a parsed blueprint file.
type Blueprint struct {
	Document    *document.Document
	Title       string
	Description string
	Tags        []string
	Variables   []any
	Map         any // with placeholder ids instead of references
	Triggers    []Trigger
	References  []Reference

	// Import ignores these and creates a private draft, so that nothing is published
	// unseen. Sync applies those that are set.
	Status     string            // "" if not set
	Visibility string            // "" if not set
	Budget     *blueprint.Budget // nil if not set, without limits for none
}

// Trigger is a trigger of a blueprint file.
type Trigger struct {
	Kind   string
	Config map[string]any
	Active bool
}

// ReadFile reads a blueprint file and returns its issues. The error is a
// *document.SyntaxError, or a *blueprint.InputError for an unreadable file.
func ReadFile(in *Inputs, name string) (*Blueprint, []blueprint.Issue, error) {
	data, called, err := in.Read(name, document.MaxSize)
	if err != nil {
		return nil, nil, blueprint.InputErrorf("check the path; - is standard input", "%s cannot be read: %s", called, fileio.Cause(err))
	}
	return parseBlueprint(called, data)
}

func parseBlueprint(name string, data []byte) (*Blueprint, []blueprint.Issue, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	r := &Reader{Blueprint: &Blueprint{Document: doc}}
	r.Read()
	return r.Blueprint, r.Issues, nil
}

// showIssue returns an issue with its position and source line.
func showIssue(d *document.Document, issue blueprint.Issue, others []blueprint.Issue) string {
	return blueprint.OneLine(d.Point(issue)) + "\n" + Excerpt(d, issue, others)
}

// Definition returns the definition of a valid blueprint file.
func Definition(id string, b *Blueprint) *blueprint.Definition {
	variables, _ := blueprint.ParseVariables(b.Variables)
	m, _ := blueprint.ParseMap(b.Map)
	return &blueprint.Definition{BlueprintID: id, Title: b.Title, Version: blueprint.InitialVersion, Map: m, Variables: variables}
}

// stdinName is the name of standard input in messages.
const stdinName = "stdin"

// Inputs reads the files named on a command line; "-" is standard input.
type Inputs struct {
	Stdin io.Reader
	spent bool // standard input was read
}

// Read returns the content of a file of at most a number of bytes, and its name for
// messages.
func (in *Inputs) Read(name string, most int64) (data []byte, called string, err error) {
	if name == "" {
		return nil, `""`, fs.ErrNotExist
	}
	if name != "-" {
		data, err = fileio.Read(name, most)
		return data, name, err
	}
	if in.spent || in.Stdin == nil {
		return nil, stdinName, errors.New("it was already read")
	}
	in.spent = true
	data, err = fileio.ReadAll(in.Stdin, most)
	return data, stdinName, err
}
