package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/command/terminal"
	"blueprintd/engine/script"
	"blueprintd/project"

	"github.com/urfave/cli/v2"
)

func commandValidate() *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "tell what is wrong with blueprint, test and seed files, without running them", ArgsUsage: "FILE...",
		Description: "Prints a line for each problem to standard output: file:line:column: message. What is only dubious is marked\n" +
			"\"warning:\". Exits with 1 when there is an error; warnings alone leave it at 0. A FILE of - is standard input;\n" +
			"of a folder all files named *.blueprint.yaml, *.test.yaml and *.seed.yaml (or .json) are taken, also in\n" +
			"folders within. A file of tests or a seed is known by such a name, any other is taken for a blueprint.\n" +
			"The source of code nodes is compiled and not run.\n" +
			"On a terminal the place is shown beneath each line; that goes to standard error.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print an array of {file, line, column, endColumn?, path, message, severity}"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 1 for warnings too"},
			&cli.BoolFlag{Name: "caret", Usage: "show the place of each problem, on standard error, also without a terminal"},
			&cli.BoolFlag{Name: "no-caret", Usage: "never show it"},
		},
		Action: validate,
	}
}

func validate(c *cli.Context) error {
	if c.NArg() == 0 {
		return usage("blueprintd validate my.blueprint.yaml", "name at least one file")
	}
	if c.Bool("caret") && c.Bool("no-caret") {
		return usage("leave one of them out", "--caret and --no-caret say different things")
	}
	names, err := filesToCheck(c.Args().Slice())
	if err != nil {
		return err
	}
	carets := c.Bool("caret") || !c.Bool("no-caret") && !c.Bool("json") && terminal.IsTerminal(c.App.Writer) && terminal.IsTerminal(c.App.ErrWriter)
	scripts := script.New(script.Options{})
	defer scripts.Background()()
	in := &validation{files: &project.Inputs{Stdin: c.App.Reader}, scripts: scripts, compileTime: compileAllTime}
	all := []problem{}
	bad := false
	var unread error // of the first file that cannot be read
	for _, name := range names {
		found, err := checkerOf(name)(in, name)
		if err != nil { // the others are looked at all the same
			if unread == nil {
				unread = err
			} else {
				fmt.Fprintln(c.App.ErrWriter, project.MessageOf(err))
			}
			all = append(all, unreadable(name, err))
			continue
		}
		for _, p := range found {
			bad = bad || c.Bool("strict") || p.Severity == blueprint.SeverityError
			if !c.Bool("json") {
				if _, err := fmt.Fprintln(c.App.Writer, p.line); err != nil {
					return err
				}
			}
			if carets {
				fmt.Fprint(c.App.ErrWriter, p.excerpt())
			}
		}
		all = append(all, found...)
	}
	if c.Bool("json") {
		if err := terminal.JSON(c.App.Writer, all); err != nil {
			return err
		}
	}
	if bad && unread == nil {
		return &exit{code: ExitFailed}
	}
	return unread
}

// problem is one thing that is wrong with a file.
type problem struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndColumn int    `json:"endColumn,omitempty"` // just behind; 0 = unknown, or on another line
	Path      []any  `json:"path"`
	Message   string `json:"message"`
	Severity  string `json:"severity"`

	line    string        // for people
	excerpt func() string // the line of the file, with a caret beneath
}

// problems tells what is wrong with one blueprint file. An error means that it
// could not be read.
func problems(in *validation, name string) ([]problem, error) {
	b, issues, err := project.ReadFile(in.files, name)
	if b != nil && len(b.References) > 0 {
		f := project.Follow(name, name, b)
		issues = append(issues, f.Problems()[f.Root]...)
	}
	if b != nil {
		issues = append(issues, in.compiled(b.Document.Name, codeIn(nil, b.Map, []any{"blueprint_map"}))...)
	}
	return problemsOf(b.DocumentOrNil(), issues, err)
}

// unreadable tells programs of a file that cannot be looked at.
func unreadable(name string, err error) problem {
	return problem{File: name, Line: 1, Column: 1, Path: []any{}, Message: project.MessageOf(err), Severity: blueprint.SeverityError}
}

// problemsOf returns the issues of a document, in the order of its text, or what
// keeps it from being parsed. Any other error is given back.
func problemsOf(doc *document.Document, issues []blueprint.Issue, err error) ([]problem, error) {
	return problemsShown(doc, issues, err, nil)
}

// problemsShown is problemsOf for a file with secrets in it, which excerpt hides:
// nothing is shown of one that cannot be parsed. Without excerpt it is problemsOf.
func problemsShown(doc *document.Document, issues []blueprint.Issue, err error, excerpt func(*document.Document, blueprint.Issue, []blueprint.Issue) string) ([]problem, error) {
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		shown := syntax.Excerpt
		if excerpt != nil {
			shown = func() string { return "" }
		}
		return []problem{{
			File: syntax.Name, Line: syntax.Line, Column: syntax.Column, Path: []any{}, Message: syntax.Message,
			Severity: blueprint.SeverityError, line: syntax.Error(), excerpt: shown,
		}}, nil
	}
	if err != nil {
		return nil, err
	}
	var found []problem
	for _, issue := range issues {
		span := doc.SpanOf(issue)
		p := problem{
			File: doc.Name, Line: span.Start.Line, Column: span.Start.Column, EndColumn: span.End.Column, Path: issue.Path,
			Message: issue.Message, Severity: blueprint.SeverityError, line: doc.Point(issue),
		}
		p.excerpt = func() string {
			if excerpt != nil {
				return excerpt(doc, issue, issues)
			}
			return project.Excerpt(doc, issue, issues)
		}
		if issue.Severity == blueprint.SeverityWarning {
			p.Severity = blueprint.SeverityWarning
		}
		if p.Path == nil {
			p.Path = []any{}
		}
		found = append(found, p)
	}
	slices.SortStableFunc(found, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return found, nil
}

// mostPointed is how many problems of a file a command shows that only meets
// them on its way.
const mostPointed = 10

// pointOut shows the first problems of a file; on a terminal with their places
// in it.
func pointOut(out io.Writer, b *project.Blueprint, issues []blueprint.Issue) {
	carets := terminal.IsTerminal(out)
	for i, issue := range issues {
		if i == mostPointed {
			fmt.Fprintf(out, "%s: and %d more; blueprintd validate shows all\n", b.Document.Name, len(issues)-i)
			return
		}
		fmt.Fprintln(out, b.Document.Point(issue))
		if carets {
			fmt.Fprint(out, project.Excerpt(b.Document, issue, issues))
		}
	}
}
