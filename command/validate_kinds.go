package command

import (
	"path/filepath"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/project/local"
	"blueprintd/project/testsuite"
)

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
	if len(issues) == 0 {
		issues = referenceIssues(tests, name)
	}
	return problemsOf(tests.Document, issues, project.ExcerptOf), nil
}

// referenceIssues checks the references of a test file with a name to nodes,
// connections and cassettes.
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
	names := testsuite.ReferredConnections(tests, name)
	for _, test := range tests.Tests {
		issues = append(issues, test.Check(testsuite.NodesOf(b.Map))...)
		issues = append(issues, testsuite.UnknownConnections(test, names)...)
		issues = append(issues, testsuite.UnknownHandles(test, handles)...)
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
