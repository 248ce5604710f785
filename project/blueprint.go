// Package project reads the files that people keep in a folder: blueprints
// (*.blueprint.yaml), tests, seeds and what they refer to. It finds them (Scan), waits
// until some have changed (Watcher), tells what is wrong with them and where, and has
// the JSON Schemas of these files for editors.
//
// Files name each other and connections in the place of ids (Reference), so that the
// same folder fits several servers.
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

// MessageOf is what an error says to who wrote the file.
func MessageOf(err error) string {
	var known *blueprint.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return fileio.Cause(err).Error()
}

// Pointed shows problems of a file with their places; others are problems that are
// not told.
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
	Map         any // the map
	Triggers    []Trigger
	References  []Reference // for which stand-ins are there
	settings
}

type Trigger struct {
	Kind   string
	Config map[string]any
	Active bool
}

// ReadFile reads a blueprint file and tells all that is wrong with it. Its
// errors are *document.SyntaxError, and *blueprint.InputError for a file that cannot be read.
func ReadFile(in *Inputs, name string) (*Blueprint, []blueprint.Issue, error) {
	data, called, err := in.Read(name, document.MaxSize)
	if err != nil {
		return nil, nil, blueprint.InputErrorf("check the path; - is standard input", "%s cannot be read: %s", called, fileio.Cause(err))
	}
	doc, err := document.Parse(called, data)
	if err != nil {
		return nil, nil, err
	}
	r := &Reader{Blueprint: &Blueprint{Document: doc}}
	r.Read()
	return r.Blueprint, r.Issues, nil
}

// showIssue returns an issue of a file with its place and its line.
func showIssue(d *document.Document, issue blueprint.Issue, others []blueprint.Issue) string {
	return blueprint.OneLine(d.Point(issue)) + "\n" + Excerpt(d, issue, others)
}

// Definition makes the definition of a blueprint file that is fit to run.
func Definition(id string, b *Blueprint) *blueprint.Definition {
	variables, _ := blueprint.ParseVariables(b.Variables)
	m, _ := blueprint.ParseMap(b.Map)
	return &blueprint.Definition{BlueprintID: id, Title: b.Title, Version: blueprint.InitialVersion, Map: m, Variables: variables}
}

// stdinName is what a file is called that came through standard input.
const stdinName = "stdin"

// Inputs reads the files that a command line names; "-" is standard input.
type Inputs struct {
	Stdin io.Reader
	spent bool // standard input was read
}

// Read returns the content of a file and what to call it.
func (in *Inputs) Read(name string, most int64) (data []byte, called string, err error) {
	if name == "" {
		return nil, `""`, fs.ErrNotExist
	}
	if name != "-" {
		data, err = fileio.Read(name, most)
		return data, name, err
	}
	if in.spent || in.Stdin == nil {
		return nil, stdinName, errors.New("it was read already")
	}
	in.spent = true
	data, err = fileio.ReadAll(in.Stdin, most)
	return data, stdinName, err
}
