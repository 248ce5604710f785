package agents

import (
	"context"

	"blueprintd/blueprint"
)

// Sandbox runs blueprints without an effect outside: fakes answer the calls of nodes. It
// is safe for concurrent use. Its errors are for the caller if they are *blueprint.Error;
// the paths of issues start at fakes, variables, clock or tests.
type Sandbox interface {
	Run(ctx context.Context, run *SandboxRun) (*SandboxOutcome, error)
	Test(ctx context.Context, tests *SandboxTests) ([]TestResult, error)
}

// Subject is a blueprint that runs in the sandbox.
type Subject struct {
	Definition *blueprint.Definition
	Others     map[string]*blueprint.Definition // blueprints that its nodes run, by id
}

// SandboxRun is a run in the sandbox.
type SandboxRun struct {
	Subject
	Variables map[string]any // nil = none
	Input     any
	Clock     string         // RFC 3339; "" = the default
	Fakes     map[string]any // as the stubs of a test
	SaveAs    string         // the name of the test to write; "" = none
}

// SandboxOutcome is the result of a SandboxRun.
type SandboxOutcome struct {
	Execution *blueprint.Execution
	Unused    []string // the keys of fakes that answered nothing
	Test      string   // the test file, YAML; "" = none
}

// SandboxTests are tests in the sandbox.
type SandboxTests struct {
	Subject
	Tests string            // the content of a test file
	Files map[string]string // cassettes that it names
}

// TestResult is the result of a test.
type TestResult struct {
	Name   string   `json:"name"`
	Passed bool     `json:"passed"`
	Lines  []string `json:"lines,omitempty"` // what differs, or why the test did not run
	Notes  []string `json:"notes,omitempty"`
}

// maxOthers is the maximum number of blueprints that a run in the sandbox includes.
const maxOthers = 20

// subject returns a blueprint with those that its nodes run, as far as the caller may see
// them. A node whose blueprint is missing fails.
func (t *task) subject(id string) (Subject, error) {
	row, err := t.call("blueprint.get", map[string]any{"id": id})
	if err != nil {
		return Subject{}, err
	}
	definition, err := definitionOf(row)
	if err != nil {
		return Subject{}, err
	}
	if len(definition.Map.Nodes) == 0 {
		return Subject{}, refuse("add a node with build_edit_draft", "the blueprint has no nodes to run")
	}
	s := Subject{definition, map[string]*blueprint.Definition{}}
	for waiting := referred(definition.Map.Raw, nil); len(waiting) > 0 && len(s.Others) < maxOthers; {
		next := waiting[0]
		waiting = waiting[1:]
		if s.Others[next] != nil {
			continue
		}
		row, err := t.call("blueprint.get", map[string]any{"id": next})
		switch code := blueprint.CodeOf(err); {
		case code == blueprint.CodeNotFound || code == blueprint.CodeForbidden:
			continue
		case err != nil:
			return Subject{}, err
		}
		other, err := definitionOf(row)
		if err != nil {
			return Subject{}, err
		}
		s.Others[next] = other
		waiting = referred(other.Map.Raw, waiting)
	}
	return s, nil
}

// referred appends the ids of blueprints that nodes run.
func referred(value any, ids []string) []string {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			ids = referred(element, ids)
		}
	case map[string]any:
		if id := str(v, "blueprintId"); blueprint.IsUUID(id) {
			ids = append(ids, id)
		}
		for _, element := range v {
			ids = referred(element, ids)
		}
	}
	return ids
}

func definitionOf(row map[string]any) (*blueprint.Definition, error) {
	content := planOf(row)
	m, issues := blueprint.ParseMap(content.m)
	variables, more := blueprint.ParseVariables(content.variables)
	if issues = append(issues, more...); len(issues) > 0 {
		return nil, blueprint.InvalidInput(issues)
	}
	for i := range variables { // a secret has no value here: a placeholder takes its place
		variables[i].Required = variables[i].Required || variables[i].Secret && !variables[i].HasDefault
	}
	return &blueprint.Definition{BlueprintID: str(row, "id"), Title: content.title, Version: str(row, "version"), Map: m, Variables: variables}, nil
}

func runSandbox(t *task, in map[string]any) (any, error) {
	subject, err := t.subject(str(in, "id"))
	if err != nil {
		return nil, err
	}
	run := &SandboxRun{Subject: subject, Variables: obj(in, "variables"), Input: in["input"], Clock: str(in, "clock"), Fakes: obj(in, "fakes"), SaveAs: str(in, "saveAs")}
	if run.Input == nil {
		run.Input = map[string]any{}
	}
	outcome, err := t.sandbox.Run(t, run)
	if err != nil {
		return nil, err
	}
	plain, err := blueprint.Plain(outcome.Execution.ExecutionStatus)
	if err != nil {
		return nil, err
	}
	record, _ := plain.(map[string]any)
	out := pick(record, "status")
	if outcome.Execution.Status == blueprint.StatusCompleted {
		out["output"] = bounded(outcome.Execution.Output, maxValue)
	}
	if failure := outcome.Execution.Failure; failure != nil {
		out["error"] = pick(map[string]any{"nodeId": failure.NodeID, "message": failure.Message, "code": failure.Code, "hint": failure.Hint}, "nodeId", "message", "code", "hint")
	}
	if asked := obj(record, "awaitingInput"); asked != nil {
		out["waitsFor"] = pick(asked, "nodeId", "kind", "prompt", "schema", "options")
		out["hint"] = "give the answer as a fake: " + `{"` + str(asked, "nodeId") + `": {"output": ...}}`
	}
	if len(outcome.Unused) > 0 {
		out["unusedFakes"] = listOf(outcome.Unused)
	}
	switch {
	case len(outcome.Test) > maxSteps:
		out["note"] = "the test is too large to be returned; use less input data or smaller fakes"
	case outcome.Test != "":
		out["test"] = outcome.Test
	case run.SaveAs != "":
		out["note"] = "there is no test, because a call had no fake"
	}
	addSteps(out, arr(record, "steps"), textsOf(arr(in, "nodes")))
	return out, nil
}

func runTests(t *task, in map[string]any) (any, error) {
	subject, err := t.subject(str(in, "id"))
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name, content := range obj(in, "files") {
		files[name], _ = content.(string)
	}
	results, err := t.sandbox.Test(t, &SandboxTests{Subject: subject, Tests: str(in, "tests"), Files: files})
	if err != nil {
		return nil, err
	}
	failed := 0
	for i := range results {
		if !results[i].Passed {
			failed++
		}
		for j, line := range results[i].Lines {
			results[i].Lines[j] = blueprint.Shorten(line, maxValue)
		}
	}
	plain, err := blueprint.Plain(results)
	if err != nil {
		return nil, err
	}
	return map[string]any{"passed": number(len(results) - failed), "failed": number(failed), "tests": bounded(plain, maxSteps)}, nil
}

func saveTest(t *task, in map[string]any) (any, error) {
	out, err := t.call("execution.exportTest", pick(in, "executionId"))
	if err != nil {
		return nil, err
	}
	if size(out) > maxSteps {
		return nil, refuse("export it in the dashboard, or with blueprintd export", "the test is larger than %d bytes", maxSteps)
	}
	return out, nil
}
