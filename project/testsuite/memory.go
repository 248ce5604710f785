package testsuite

import (
	"context"
	"io"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
	"blueprintd/foundation/recording"
)

// Memory is a blueprint that is not in a file, whose tests name no files.
type Memory struct {
	Definition *blueprint.Definition
	Others     map[string]*blueprint.Definition // blueprints that its nodes run, by id
	Cassettes  map[string]*recording.Cassette   // by their names in the tests
	Scripts    *script.Pool
	Version    string
	Room       int       // bytes that the runs of a test may keep; 0 = no limit
	Errors     io.Writer // receives the errors in the engine's log
	// Fakes reports that the stubs were given as fakes, as messages then call them.
	Fakes bool
}

// MemoryOutcome is the result of Run.
type MemoryOutcome struct {
	*Result
	Recording   *blueprint.Recording // nil if the test could not run
	Unused      []string             // the keys of stubs that were not used
	Expectation map[string]any       // what the test could expect; nil if it is incomplete
}

// Run runs a test. Without expectations the run stops where it waits for a person.
func (m *Memory) Run(ctx context.Context, name string, data []byte, test *Test) *MemoryOutcome {
	definition := *m.Definition
	definition.BlueprintID = testedID
	c := &testCase{
		suite: &Suite{Scripts: m.Scripts, Version: m.Version, Room: m.Room, Errors: m.Errors}, name: name, data: data, test: test, definition: &definition, others: m.Others,
		source: test.File.Blueprint, cassette: m.Cassettes[test.Cassette], halts: test.Expect == nil, fakes: m.Fakes,
	}
	if definition.Map != nil {
		c.nodes = NodesOf(definition.Map.Raw)
	}
	out := &MemoryOutcome{Result: c.result(ctx)}
	if c.outcome != nil {
		out.Recording, out.Unused = c.outcome.Recording, c.doubles.Unused()
		if c.doubles.unready() == "" {
			out.Expectation = test.Present(c.outcome)
		}
	}
	return out
}
