package command

import (
	"path/filepath"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/project/local"
	"blueprintd/project/testsuite"
)

// testProblems tells what is wrong with a test file: with itself, and with what
// it says of the nodes of its blueprint.
func testProblems(in *validation, name string) ([]problem, error) {
	data, called, err := in.files.Read(name, document.MaxSize)
	if err != nil {
		return nil, usage("check the path; - is standard input", "%s cannot be read: %s", called, fileio.Cause(err))
	}
	tests, issues, err := testsuite.Read(called, data, true)
	if err != nil {
		return problemsOf(nil, nil, err)
	}
	if len(issues) == 0 {
		issues = besideNodes(tests, name)
	}
	return problemsOf(tests.Document, issues, nil)
}

// besideNodes looks at tests beside the nodes of their blueprint and their
// cassettes, which a file with a name says where to find.
func besideNodes(tests *testsuite.File, name string) (issues []blueprint.Issue) {
	path := filepath.Join(filepath.Dir(name), tests.Blueprint)
	b, _, err := project.ReadFile(&project.Inputs{}, path)
	if err != nil {
		return []blueprint.Issue{{Path: []any{"blueprint"}, Message: project.MessageOf(err)}}
	}
	if m, _ := blueprint.ParseMap(b.Map); m == nil {
		return []blueprint.Issue{{Path: []any{"blueprint"}, Message: path + " has no map that could run; blueprintd validate " + path + " tells why"}}
	}
	ways := map[string][]string{}
	testsuite.WaysOf(b.Map, "", ways)
	names := testsuite.ReferredConnections(tests, name)
	for _, test := range tests.Tests {
		issues = append(issues, test.Check(testsuite.NodesOf(b.Map))...)
		issues = append(issues, testsuite.UnknownConnections(test, names)...)
		issues = append(issues, testsuite.UnknownWays(test, ways)...)
		if test.Cassette == "" {
			continue
		}
		if _, err := recording.ReadCassetteFile(filepath.Join(filepath.Dir(name), test.Cassette)); err != nil {
			issues = append(issues, blueprint.Issue{Path: []any{"tests", test.Index, "cassette"}, Message: test.Cassette + ": " + project.MessageOf(err)})
		}
	}
	testsuite.InOrder(tests.Document, issues)
	return issues
}

// seedProblems tells what is wrong with a seed file. Environment variables that
// it names are taken to be set.
func seedProblems(in *validation, name string) ([]problem, error) {
	data, called, err := in.files.Read(name, document.MaxSize)
	if err != nil {
		return nil, usage("check the path; - is standard input", "%s cannot be read: %s", called, fileio.Cause(err))
	}
	_, doc, issues, err := project.ReadSeed(called, data, project.Assumed)
	if doc != nil {
		issues = append(issues, project.VariablesWithoutBraces(doc.Value)...)
		issues = append(issues, in.compiled(called, codeOfSeed(doc.Value))...)
	}
	return problemsShown(doc, issues, err, local.ExcerptOfSeed)
}
