package testsuite

import (
	"context"
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/project/local"
)

// testedID is the id of the blueprint of every test, and testSeed what all ids of
// its run follow from: a test is the same each time.
const (
	testedID = "00000000-0000-4000-8000-000000000001"
	TestSeed = 1
)

// trialCase is a test that is ready to run.
type trialCase struct {
	trials     *Suite
	name       string // of the file
	data       []byte // its content
	source     string // the blueprint's file
	test       *Test
	definition *blueprint.Definition
	others     map[string]*blueprint.Definition
	names      map[string]bool // of connections to which the blueprints refer
	nodes      []string
	cassette   *recording.Cassette // nil = none

	stage   *Stage   // of the last run
	outcome *Outcome // once it has run
}

// result runs the test and judges it.
func (c *trialCase) result(ctx context.Context) *Result {
	document := c.test.File.Document
	r := &Result{
		File: c.name, Test: c.test.Name, Blueprint: c.source,
		Pos: func(path []any) (int, int) {
			at := document.At(path)
			return at.Line, at.Column
		},
		Excerpt: func(path []any) string {
			return project.Excerpt(document, blueprint.Issue{Path: path}, nil, c.secrets()...)
		},
	}
	began := clock.Real{}.Now()
	defer func() { r.Took = clock.Real{}.Now().Sub(began) }()
	var player *recording.Player
	if c.cassette != nil {
		player = recording.NewPlayer(c.cassette)
		player.Rules = c.rules()
	}
	record, err := c.run(ctx, player)
	if ctx.Err() != nil { // a run that was cancelled tells nothing
		r.NotRun = true
		return r
	}
	if err != nil {
		at := document.At([]any{"tests", c.test.Index})
		r.Fault = fmt.Errorf("%s:%d:%d: the test cannot run: %s\n%s", c.name, at.Line, at.Column, project.MessageOf(err), project.Excerpt(document, blueprint.Issue{Path: []any{"tests", c.test.Index}}, nil, c.secrets()...))
		return r
	}
	c.outcome = &Outcome{Recording: record, Nodes: c.nodes}
	r.Mismatches = c.test.Judge(c.outcome)
	for _, key := range c.stage.Unused() {
		at := document.At([]any{"tests", c.test.Index, "stubs", key})
		r.Notes = append(r.Notes, fmt.Sprintf("%s:%d:%d: the stub %q never answered", c.name, at.Line, at.Column, key))
	}
	if player != nil {
		if r.Differences = player.Differences(); !c.trials.Replay {
			r.Differences = recording.Calls(r.Differences)
		}
	}
	r.Cover(c.outcome)
	return r
}

// secrets gives the names of the variables that are secret.
func (c *trialCase) secrets() (names []string) {
	for i := range c.definition.Variables {
		if v := &c.definition.Variables[i]; v.Secret {
			names = append(names, v.Name)
		}
	}
	return names
}

func (c *trialCase) run(ctx context.Context, player *recording.Player) (*blueprint.Recording, error) {
	connections := map[string]recording.Connection{}
	if c.cassette != nil {
		for id, connection := range c.cassette.Connections {
			connections[id] = connection
		}
	}
	for id, connection := range c.test.Connections {
		connections[id] = connection
	}
	nameConnected(connections, c.names)
	definitions := []*blueprint.Definition{c.definition}
	for _, other := range c.others {
		definitions = append(definitions, other)
	}
	open := local.Stubs(connections, definitions...)
	stage := NewStage(c.test, testedID, player, c.trials.Replay)
	c.stage = stage
	local := &local.Run{
		Version:    c.trials.Version,
		Definition: c.definition, Others: c.others, Variables: StandIns(c.definition.Variables, c.test.Variables), Input: c.test.InputData, Clock: clock.NewVirtual(c.test.Clock),
		IDs: ids.Seeded(TestSeed), Scripts: c.trials.Scripts, Errors: c.trials.Errors, Instead: stage, Connections: open,
		Wrap: func(kind *blueprint.NodeType) *blueprint.NodeType { return stage.Instead(open.Around(kind)) }, Record: true, Halts: c.test.Expect["status"] == string(blueprint.StatusPaused),
		Emit: func(context.Context, blueprint.Event) (int, error) { return 0, nil },
	}
	return local.Do(ctx)
}

// rules takes the time of a recording from its exchanges.
func (c *trialCase) rules() recording.Rules {
	var from, to time.Time
	for i := range c.cassette.Exchanges {
		at := c.cassette.Exchanges[i].At.Time()
		if from.IsZero() || at.Before(from) {
			from = at
		}
		if at.After(to) {
			to = at
		}
	}
	if !from.IsZero() { // nodes ask after they began, and go on after they asked
		from, to = from.Add(-time.Hour), to.Add(time.Hour)
	}
	given := []any{c.test.Variables, c.test.InputData}
	if c.definition.Map != nil {
		given = append(given, c.definition.Map.Raw)
	}
	return recording.Rules{Passing: recording.NewPassing(from, to, c.cassette, given...)}
}
