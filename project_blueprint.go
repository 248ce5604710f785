package main

import (
	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/folder"
	"blueprintd/foundation/fileio"
	"errors"
	"slices"
	"strings"
)

// messageOf is what an error says to who wrote the file.
func messageOf(err error) string {
	var known *blueprint.Error
	if errors.As(err, &known) {
		return known.Message
	}
	return fileio.Cause(err).Error()
}

// pointed shows problems of a file with their places; others are problems that are
// not told.
func pointed(d *document.Document, issues []blueprint.Issue, others ...blueprint.Issue) string {
	var out strings.Builder
	for _, issue := range issues {
		out.WriteString(showIssue(d, issue, slices.Concat(issues, others)))
	}
	return out.String()
}

// documentOrNil is for what could not be parsed.
func (b *blueprintFile) documentOrNil() *document.Document {
	if b == nil {
		return nil
	}
	return b.document
}

// blueprintFile is a parsed blueprint file.
type blueprintFile struct {
	document    *document.Document
	title       string
	description string
	tags        []string
	variables   []any
	m           any // the map
	triggers    []triggerEntry
	references  []folder.Reference // for which stand-ins are there
	settings
}

type triggerEntry struct {
	kind   string
	config map[string]any
	active bool
}

// readBlueprint reads a blueprint file and tells all that is wrong with it. Its
// errors are *document.SyntaxError, and *InputError for a file that cannot be read.
func readBlueprint(in *fileInputs, name string) (*blueprintFile, []blueprint.Issue, error) {
	data, called, err := in.read(name, document.MaxSize)
	if err != nil {
		return nil, nil, unusable("check the path; - is standard input", "%s cannot be read: %s", called, fileio.Cause(err))
	}
	doc, err := document.Parse(called, data)
	if err != nil {
		return nil, nil, err
	}
	r := &fileReader{b: &blueprintFile{document: doc}}
	r.read()
	return r.b, r.issues, nil
}

// showIssue gives an issue of a file with its place and its line.
func showIssue(d *document.Document, issue blueprint.Issue, others []blueprint.Issue) string {
	return blueprint.OneLine(d.Point(issue)) + "\n" + excerptOf(d, issue, others)
}

// newDefinition makes the definition of a blueprint file that is fit to run.
func newDefinition(id string, b *blueprintFile) *blueprint.Definition {
	variables, _ := blueprint.ParseVariables(b.variables)
	m, _ := blueprint.ParseMap(b.m)
	return &blueprint.Definition{BlueprintID: id, Title: b.title, Version: blueprint.InitialVersion, Map: m, Variables: variables}
}
