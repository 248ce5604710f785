package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
)

func commandValidate() *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "tell what is wrong with blueprint files, without running them", ArgsUsage: "FILE...",
		Description: "Prints a line for each problem to standard output: file:line:column: message. What is only dubious is marked\n" +
			"\"warning:\". Exits with 1 when there is an error; warnings alone leave it at 0. A FILE of - is standard input.",
		Flags:  []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "print an array of {file, line, column, path, message, severity}"}},
		Action: validate,
	}
}

func validate(c *cli.Context) error {
	if c.NArg() == 0 {
		return usage("blueprintd validate my.blueprint.yaml", "name at least one file")
	}
	in := &inputs{stdin: c.App.Reader}
	all := []problem{}
	bad := false
	for _, name := range c.Args().Slice() {
		found, err := problems(in, name)
		if err != nil {
			return err
		}
		for _, p := range found {
			bad = bad || p.Severity == blueprint.SeverityError
			if c.Bool("json") {
				continue
			}
			if _, err := fmt.Fprintln(c.App.Writer, p.line); err != nil {
				return err
			}
		}
		all = append(all, found...)
	}
	if c.Bool("json") {
		if err := printJSON(c, all); err != nil {
			return err
		}
	}
	if bad {
		return &exit{code: exitFailed}
	}
	return nil
}

// problem is one thing that is wrong with a file.
type problem struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
	Path     []any  `json:"path"`
	Message  string `json:"message"`
	Severity string `json:"severity"`
	line     string // for people
}

// problems tells what is wrong with one file. An error means that it could not
// be read.
func problems(in *inputs, name string) ([]problem, error) {
	b, issues, err := readBlueprint(in, name)
	var syntax *file.SyntaxError
	if errors.As(err, &syntax) {
		return []problem{{syntax.Name, syntax.Line, syntax.Column, []any{}, syntax.Message, blueprint.SeverityError, syntax.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	var found []problem
	for _, issue := range issues {
		at := b.document.At(issue.Path)
		p := problem{b.document.Name, at.Line, at.Column, issue.Path, issue.Message, blueprint.SeverityError, b.document.Point(issue)}
		if issue.Severity == blueprint.SeverityWarning {
			p.Severity = blueprint.SeverityWarning
		}
		if p.Path == nil {
			p.Path = []any{}
		}
		found = append(found, p)
	}
	return found, nil
}

// mostPointed is how many problems of a file a command shows that only meets
// them on its way.
const mostPointed = 10

// pointOut shows the first problems of a file.
func pointOut(out io.Writer, b *blueprintFile, issues []blueprint.Issue) {
	for i, issue := range issues {
		if i == mostPointed {
			fmt.Fprintf(out, "%s: and %d more; blueprintd validate shows all\n", b.document.Name, len(issues)-i)
			return
		}
		fmt.Fprintln(out, b.document.Point(issue))
	}
}

// blueprintFile is a parsed blueprint file.
type blueprintFile struct {
	document    *file.Document
	title       string
	description string
	tags        []string
	variables   []any
	m           any // the map
	triggers    []triggerEntry
}

type triggerEntry struct {
	kind   string
	config map[string]any
	active bool
}

// readBlueprint reads a blueprint file and tells all that is wrong with it. Its
// errors are *file.SyntaxError, and usage errors for a file that cannot be read.
func readBlueprint(in *inputs, name string) (*blueprintFile, []blueprint.Issue, error) {
	data, called, err := in.read(name, file.MaxSize)
	if err != nil {
		return nil, nil, usage("check the path; - is standard input", "%s cannot be read: %s", called, cause(err))
	}
	document, err := file.Parse(called, data)
	if err != nil {
		return nil, nil, err
	}
	r := &fileReader{b: &blueprintFile{document: document}}
	r.read()
	return r.b, r.issues, nil
}
