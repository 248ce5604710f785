package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/command/terminal"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/project/local"
	"blueprintd/project/testsuite"
)

func commandValidate() *cli.Command {
	return &cli.Command{
		Name: "validate", Usage: "check blueprint, test and seed files without running them", ArgsUsage: "FILE...",
		Description: "Prints each problem to standard output as file:line:column: message. Exits with 1 when there is an error.\n" +
			"Test and seed files are recognized by their names, *.test.yaml and *.seed.yaml (.yml, .json); any other FILE is a\n" +
			"blueprint. If FILE is a folder, all such files below it are checked. A FILE of - is standard input.\n" +
			"The source of code nodes is compiled, not run. On a terminal, the source line of each problem is shown.",
		UsageText: "blueprintd validate my.blueprint.yaml\nblueprintd validate flows --strict --json",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print an array of {file, line, column, endColumn?, path, message, severity}"},
			&cli.BoolFlag{Name: "strict", Usage: "exit with 1 for warnings too"},
			&cli.BoolFlag{Name: "caret", Usage: "show the source line of each problem on standard error, even without a terminal"},
			&cli.BoolFlag{Name: "no-caret", Usage: "do not show source lines"},
		},
		Action: validate,
	}
}

func validate(c *cli.Context) error {
	if c.Bool("caret") && c.Bool("no-caret") {
		return exclude("--caret and --no-caret exclude each other")
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
		if err != nil {
			if unread == nil {
				unread = err
			} else {
				fmt.Fprintln(c.App.ErrWriter, blueprint.OneLine(project.MessageOf(err)))
			}
			all = append(all, problem{File: name, Line: 1, Column: 1, Path: []any{}, Message: project.MessageOf(err), Severity: blueprint.SeverityError})
			continue
		}
		for _, p := range found {
			bad = bad || c.Bool("strict") || p.Severity == blueprint.SeverityError
			if !c.Bool("json") {
				if _, err := fmt.Fprintln(c.App.Writer, blueprint.OneLine(p.line)); err != nil {
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

type problem struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndColumn int    `json:"endColumn,omitempty"` // exclusive; 0 if unknown or on another line
	Path      []any  `json:"path"`
	Message   string `json:"message"`
	Severity  string `json:"severity"`

	line    string        // file:line:column: message
	excerpt func() string // the source line with a caret
}

// blueprintProblems checks a blueprint file. An error means that it cannot be read.
func blueprintProblems(in *validation, name string) ([]problem, error) {
	b, issues, err := project.ReadFile(in.files, name)
	if b != nil && len(b.References) > 0 {
		f := project.Follow(name, name, b)
		issues = append(issues, f.Problems()[f.Root]...)
	}
	if b != nil {
		issues = append(issues, in.compiled(b.Document.Name, codeIn(nil, b.Map, []any{"blueprint_map"}))...)
	}
	if err != nil {
		return syntaxProblem(err, false)
	}
	return problemsOf(b.Document, issues, project.ExcerptOf), nil
}

// syntaxProblem returns a *document.SyntaxError as a problem, and any other error as it
// is. secret hides the source line.
func syntaxProblem(err error, secret bool) ([]problem, error) {
	var syntax *document.SyntaxError
	if !errors.As(err, &syntax) {
		return nil, err
	}
	excerpt := syntax.Excerpt
	if secret {
		excerpt = func() string { return "" }
	}
	return []problem{{
		File: syntax.Name, Line: syntax.Line, Column: syntax.Column, Path: []any{}, Message: syntax.Message,
		Severity: blueprint.SeverityError, line: syntax.Error(), excerpt: excerpt,
	}}, nil
}

// problemsOf returns the issues of a document in the order of its text. excerpt returns
// the source line of an issue without the secrets of the document.
func problemsOf(doc *document.Document, issues []blueprint.Issue, excerpt func(*document.Document, blueprint.Issue, []blueprint.Issue) string) []problem {
	var found []problem
	for _, issue := range issues {
		span := doc.SpanOf(issue)
		p := problem{
			File: doc.Name, Line: span.Start.Line, Column: span.Start.Column, EndColumn: span.End.Column, Path: issue.Path,
			Message: issue.Message, Severity: blueprint.SeverityError, line: doc.Point(issue),
			excerpt: func() string { return excerpt(doc, issue, issues) },
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
	return found
}

// maxPointedOut is the number of problems that commands other than validate show.
const maxPointedOut = 10

// pointOut prints the first problems of a file, on a terminal with their source lines.
func pointOut(out io.Writer, b *project.Blueprint, issues []blueprint.Issue) {
	carets := terminal.IsTerminal(out)
	for i, issue := range issues {
		if i == maxPointedOut {
			fmt.Fprintf(out, "%s: and %d more; run blueprintd validate for all\n", blueprint.OneLine(b.Document.Name), len(issues)-i)
			return
		}
		fmt.Fprintln(out, blueprint.OneLine(b.Document.Point(issue)))
		if carets {
			fmt.Fprint(out, project.Excerpt(b.Document, issue, issues))
		}
	}
}

// The compiler's time for one node and for all files. A normal script takes a millisecond.
const (
	compileOneTime = 2 * time.Second
	compileAllTime = 10 * time.Second
)

type validation struct {
	files       *project.Inputs
	scripts     *script.Pool  // compiles the code of blueprints; nil skips that
	compileTime time.Duration // the rest of compileAllTime
}

type codeSource struct {
	text string
	path []any
}

// codeIn appends the sources of the code nodes of a map at a path, also in for-each nodes.
func codeIn(found []codeSource, m any, path []any) []codeSource {
	object, _ := m.(map[string]any)
	list, _ := object["nodes"].([]any)
	for i, element := range list {
		node, _ := element.(map[string]any)
		name, _ := node["type"].(string)
		config, _ := node["config"].(map[string]any)
		at := append(slices.Clone(path), "nodes", i, "config")
		switch blueprint.NormalType(name) {
		case "code":
			if text, ok := config["source"].(string); ok && len(text) <= script.MaxSource {
				found = append(found, codeSource{text, append(at, "source")})
			}
		case "for-each":
			found = codeIn(found, config, at)
		}
	}
	return found
}

// codeOfSeed returns the sources of the blueprints of a seed file.
func codeOfSeed(value any) (found []codeSource) {
	object, _ := value.(map[string]any)
	list, _ := object["blueprints"].([]any)
	for i, element := range list {
		b, _ := element.(map[string]any)
		found = codeIn(found, b["blueprint_map"], []any{"blueprints", i, "blueprint_map"})
	}
	return found
}

// compiled returns the sources that do not compile. They are compiled, and not run, in
// the isolated processes that run scripts. A source that cannot be checked is a warning.
func (in *validation) compiled(owner string, sources []codeSource) (issues []blueprint.Issue) {
	if in.scripts == nil || len(sources) == 0 {
		return nil
	}
	began := clock.Real{}.Now()
	defer func() { in.compileTime -= clock.Real{}.Now().Sub(began) }()
	ctx, cancel := context.WithTimeout(context.Background(), in.compileTime)
	defer cancel()
	for _, source := range sources {
		if len(issues) >= blueprint.MaxIssues {
			break
		}
		mistake, err := in.scripts.Check(ctx, script.Script{Owner: owner, Source: source.text, Timeout: compileOneTime})
		var failure *blueprint.Failure
		switch {
		case mistake != nil:
			issues = append(issues, blueprint.Issue{Path: source.path, Message: mistake.Message, Severity: blueprint.SeverityError, Spot: blueprint.Spot{Line: mistake.Line, Column: mistake.Column}})
		case ctx.Err() != nil:
			return append(issues, uncompiled(source, "too many scripts are slow to compile; the rest is not checked"))
		case errors.As(err, &failure):
			issues = append(issues, uncompiled(source, failure.Message))
			if failure.Code == script.CodeUnavailable { // for all sources
				return issues
			}
		case err != nil:
			return append(issues, uncompiled(source, err.Error()))
		}
	}
	return issues
}

func uncompiled(source codeSource, why string) blueprint.Issue {
	return blueprint.Issue{Path: source.path, Message: "was not compiled: " + why, Severity: blueprint.SeverityWarning}
}

// testProblems checks a test file, and its references to the nodes of its blueprint.
func testProblems(in *validation, name string) ([]problem, error) {
	data, called, err := in.files.Read(name, document.MaxSize)
	if err != nil {
		return nil, unreadableInput(called, err)
	}
	tests, issues, err := testsuite.Read(called, data, true)
	if err != nil {
		return syntaxProblem(err, false)
	}
	if !within([]any{"blueprint"}, issues) && tests.Blueprint != "" {
		for _, issue := range referenceIssues(tests, name) {
			if !within(issue.Path, issues) {
				issues = append(issues, issue)
			}
		}
	}
	return problemsOf(tests.Document, issues, project.ExcerptOf), nil
}

// within reports whether a value, or one that contains it, has an issue.
func within(path []any, issues []blueprint.Issue) bool {
	return slices.ContainsFunc(issues, func(issue blueprint.Issue) bool {
		return len(issue.Path) <= len(path) && slices.Equal(issue.Path, path[:len(issue.Path)])
	})
}

// referenceIssues checks the references to nodes, connections and cassettes of a test file.
func referenceIssues(tests *testsuite.File, name string) (issues []blueprint.Issue) {
	path := filepath.Join(filepath.Dir(name), tests.Blueprint)
	b, _, err := project.ReadFile(&project.Inputs{}, path)
	if err != nil {
		return []blueprint.Issue{{Path: []any{"blueprint"}, Message: project.MessageOf(err)}}
	}
	if m, _ := blueprint.ParseMap(b.Map); m == nil {
		return []blueprint.Issue{{Path: []any{"blueprint"}, Message: path + " has no valid map; run blueprintd validate " + path}}
	}
	handles := map[string][]string{}
	testsuite.HandlesOf(b.Map, "", handles)
	issues = append(issues, testsuite.UnknownConnections(tests, testsuite.ReferredConnections(tests, name))...)
	for _, test := range tests.Tests {
		issues = append(issues, test.Check(testsuite.NodesOf(b.Map))...)
		issues = append(issues, testsuite.UnknownHandles(test, handles)...)
		if test.Cassette == "" {
			continue
		}
		if _, err := recording.ReadCassetteFile(filepath.Join(filepath.Dir(name), test.Cassette)); err != nil {
			issues = append(issues, blueprint.Issue{Path: []any{"tests", test.Index, "cassette"}, Message: test.Cassette + ": " + project.MessageOf(err)})
		}
	}
	return issues
}

// seedProblems checks a seed file as if all its environment variables were set.
func seedProblems(in *validation, name string) ([]problem, error) {
	data, called, err := in.files.Read(name, document.MaxSize)
	if err != nil {
		return nil, unreadableInput(called, err)
	}
	_, doc, issues, err := project.ReadSeed(called, data, project.Assumed)
	if err != nil {
		return syntaxProblem(err, true)
	}
	issues = append(issues, project.VariablesWithoutBraces(doc.Value)...)
	issues = append(issues, in.compiled(called, codeOfSeed(doc.Value))...)
	return problemsOf(doc, issues, local.ExcerptOfSeed), nil
}

// fileChecker checks files whose names have one of several endings.
type fileChecker struct {
	endings []string
	check   func(in *validation, name string) ([]problem, error)
}

// fileCheckers are the kinds of files that validate knows.
var fileCheckers = []fileChecker{
	{[]string{".blueprint.yaml", ".blueprint.yml", ".blueprint.json"}, blueprintProblems},
	{[]string{".test.yaml", ".test.yml", ".test.json"}, testProblems},
	{[]string{".seed.yaml", ".seed.yml", ".seed.json"}, seedProblems},
}

// checkerIndex returns the index of the checker of a file, -1 for none.
func checkerIndex(name string) int {
	return slices.IndexFunc(fileCheckers, func(k fileChecker) bool {
		return slices.ContainsFunc(k.endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
	})
}

// checkerOf returns the check for a file; an unknown name is a blueprint's.
func checkerOf(name string) func(*validation, string) ([]problem, error) {
	return fileCheckers[max(checkerIndex(name), 0)].check
}

// maxFiles is the largest number of files in a folder.
const maxFiles = 10_000

// filesToCheck replaces folders by the files in them that validate knows.
func filesToCheck(names []string) (files []string, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			files = append(files, name) // an unreadable file is reported when it is read
			continue
		}
		found, err := filesBelow(name)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// filesBelow returns the sorted files below a folder, without hidden folders.
func filesBelow(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return usage("check the path and its permissions", "%s cannot be read: %s", path, fileio.Cause(err))
		case entry.IsDir() && path != folder && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || checkerIndex(name) < 0:
			return nil
		case len(files) == maxFiles:
			return usage("name its subfolders one by one", "%s has more than %d files", folder, maxFiles)
		}
		files = append(files, path)
		return nil
	})
	if err == nil && len(files) == 0 {
		err = usage(blueprint.SeeDocs("name blueprint files *.blueprint.yaml or *.blueprint.json", "files"), "%s has no file to validate", folder)
	}
	return files, err
}
