package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/engine/script"
	"blueprintd/foundation/recording"
	"blueprintd/project/testsuite"
	"blueprintd/rpc/agents"
)

// maxAgentRuns is how many runs and test files of agents are at work at once.
const maxAgentRuns = 2

// maxAgentBytes is how many bytes the run of a call, or of a test, and those that it starts keep
// in memory.
const maxAgentBytes = 64 << 20

// maxAgentTests is the maximum number of tests of one call.
const maxAgentTests = 200

// agentSandbox runs blueprints for agents. They reach no network, no connection and no
// database: the journal is in memory.
type agentSandbox struct {
	scripts *script.Pool
	version string
	timeout time.Duration // real time of one call
	slots   chan struct{}
}

func (s *Server) newAgentSandbox() *agentSandbox {
	return &agentSandbox{s.Scripts, s.Options.Version, s.Options.SyncTimeout, make(chan struct{}, maxAgentRuns)}
}

// within waits for a slot and limits the time. The caller must call done.
func (a *agentSandbox) within(ctx context.Context) (limited context.Context, done func(), err error) {
	limited, cancel := context.WithTimeout(ctx, a.timeout)
	select {
	case a.slots <- struct{}{}:
		return limited, func() { <-a.slots; cancel() }, nil
	case <-limited.Done():
		cancel()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, blueprint.Errorf(blueprint.CodeUnavailable, "other runs in the sandbox are at work; try again")
	}
}

func (a *agentSandbox) memory(subject agents.Subject) *testsuite.Memory {
	return &testsuite.Memory{Definition: subject.Definition, Others: subject.Others, Scripts: a.scripts, Version: a.version, Room: maxAgentBytes, Errors: io.Discard}
}

func (a *agentSandbox) Run(ctx context.Context, run *agents.SandboxRun) (*agents.SandboxOutcome, error) {
	limited, done, err := a.within(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	name := run.SaveAs
	if name == "" {
		name = "run"
	}
	members := []document.Member{{Name: "name", Value: name}, {Name: "inputData", Value: run.Input}}
	if len(run.Variables) > 0 {
		members = append(members, document.Member{Name: "variables", Value: run.Variables})
	}
	if run.Clock != "" {
		members = append(members, document.Member{Name: "clock", Value: run.Clock})
	}
	if len(run.Fakes) > 0 {
		members = append(members, document.Member{Name: "stubs", Value: run.Fakes})
	}
	given := map[string]any{}
	for _, member := range members {
		given[member.Name] = member.Value
	}
	data, err := blueprint.Encode(map[string]any{"blueprint": "draft.blueprint.yaml", "tests": []any{given}})
	if err != nil {
		return nil, err
	}
	file, issues, err := testsuite.Read("run", data, true)
	if err != nil {
		return nil, err
	}
	if len(issues) == 0 {
		issues = file.Tests[0].Check(testsuite.NodesOf(run.Definition.Map.Raw))
	}
	if len(issues) > 0 {
		return nil, blueprint.InvalidInput(asFakes(issues))
	}
	memory := a.memory(run.Subject)
	memory.Fakes = true
	outcome := memory.Run(limited, "run", data, file.Tests[0])
	switch {
	case outcome.NotRun:
		return nil, a.stopped(ctx)
	case outcome.Fault != nil:
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "%s", outcome.Fault)
	}
	out := &agents.SandboxOutcome{Execution: outcome.Recording.Execution, Unused: outcome.Unused}
	if run.SaveAs != "" && outcome.Expectation != nil {
		test := map[string]any{"expect": outcome.Expectation}
		for _, member := range members {
			test[member.Name] = member.Value
		}
		text, err := document.Marshal([]document.Member{{Name: "blueprint", Value: fileStem(run.Definition.Title) + ".blueprint.yaml"}, {Name: "tests", Value: []any{test}}}, false)
		if err != nil {
			return nil, err
		}
		out.Test = string(text)
	}
	return out, nil
}

// fileStem returns the name of the file of a blueprint, without its ending.
func fileStem(title string) string {
	return cmp.Or(blueprint.Slug(blueprint.DraftedTitle(title)), "blueprint")
}

// stopped returns the error of a call that did not end in time.
func (a *agentSandbox) stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return blueprint.Errorf(blueprint.CodeTimeout, "the run took longer than %s of real time, so it was stopped", a.timeout)
}

// asFakes replaces tests[0].stubs in the paths of issues by fakes.
func asFakes(issues []blueprint.Issue) []blueprint.Issue {
	out := slices.Clone(issues)
	for i := range out {
		path := slices.Clone(out[i].Path)
		if len(path) > 2 && path[0] == any("tests") {
			path = path[2:]
		}
		switch {
		case len(path) > 0 && path[0] == any("stubs"):
			path[0] = "fakes"
		case len(path) > 0 && path[0] == any("inputData"):
			path[0] = "input"
		}
		out[i].Path = path
	}
	return out
}

func (a *agentSandbox) Test(ctx context.Context, given *agents.SandboxTests) ([]agents.TestResult, error) {
	limited, done, err := a.within(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	data := []byte(given.Tests)
	file, issues, err := testsuite.Read("tests", data, false)
	if syntax, ok := errors.AsType[*document.SyntaxError](err); ok {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "%s", syntax)
	}
	if err != nil {
		return nil, err
	}
	memory := a.memory(given.Subject)
	if len(issues) == 0 {
		issues, err = a.complete(memory, file, given)
	}
	if err != nil {
		return nil, err
	}
	if len(issues) > 0 {
		return nil, blueprint.InvalidInput(issues)
	}
	results := make([]agents.TestResult, len(file.Tests))
	for i, test := range file.Tests {
		outcome := memory.Run(limited, "tests", data, test)
		if outcome.NotRun {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			outcome.Fault = a.stopped(ctx)
		}
		results[i] = agents.TestResult{Name: test.Name, Passed: outcome.Passed(), Lines: outcome.Lines(false), Notes: outcome.Notes}
	}
	return results, nil
}

// complete reads the cassettes of a test file and returns the issues of its tests.
func (a *agentSandbox) complete(memory *testsuite.Memory, file *testsuite.File, given *agents.SandboxTests) (issues []blueprint.Issue, err error) {
	if len(file.Tests) > maxAgentTests {
		return []blueprint.Issue{{Path: []any{"tests"}, Message: "has more tests than one call runs (200); split the file"}}, nil
	}
	memory.Cassettes = map[string]*recording.Cassette{}
	nodes := testsuite.NodesOf(given.Definition.Map.Raw)
	for i, test := range file.Tests {
		issues = append(issues, test.Check(nodes)...)
		if test.Cassette == "" || memory.Cassettes[test.Cassette] != nil {
			continue
		}
		content, there := given.Files[test.Cassette]
		if !there {
			issues = append(issues, blueprint.Issue{Path: []any{"tests", i, "cassette"}, Message: "is not among files; pass its content there"})
			continue
		}
		cassette, err := recording.ReadCassette([]byte(content))
		if err != nil {
			issues = append(issues, blueprint.Issue{Path: []any{"files", test.Cassette}, Message: err.Error()})
			continue
		}
		memory.Cassettes[test.Cassette] = cassette
	}
	return issues, nil
}
