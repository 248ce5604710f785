package testsuite

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
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

// testCase is a test that is ready to run.
type testCase struct {
	suite      *Suite
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
func (c *testCase) result(ctx context.Context) *Result {
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
	r.Mismatches = c.test.judge(c.outcome)
	for _, key := range c.stage.Unused() {
		at := document.At([]any{"tests", c.test.Index, "stubs", key})
		r.Notes = append(r.Notes, fmt.Sprintf("%s:%d:%d: the stub %q never answered", c.name, at.Line, at.Column, key))
	}
	if player != nil {
		if r.Differences = player.Differences(); !c.suite.Replay {
			r.Differences = recording.CallDifferences(r.Differences)
		}
	}
	r.cover(c.outcome)
	return r
}

// secrets returns the names of the variables that are secret.
func (c *testCase) secrets() (names []string) {
	for i := range c.definition.Variables {
		if v := &c.definition.Variables[i]; v.Secret {
			names = append(names, v.Name)
		}
	}
	return names
}

func (c *testCase) run(ctx context.Context, player *recording.Player) (*blueprint.Recording, error) {
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
	stage := NewStage(c.test, testedID, player, c.suite.Replay)
	c.stage = stage
	local := &local.Run{
		Version:    c.suite.Version,
		Definition: c.definition, Others: c.others, Variables: StandIns(c.definition.Variables, c.test.Variables), Input: c.test.InputData, Clock: clock.NewVirtual(c.test.Clock),
		IDs: ids.Seeded(TestSeed), Scripts: c.suite.Scripts, Errors: c.suite.Errors, Instead: stage, Connections: open,
		Wrap: func(kind *blueprint.NodeType) *blueprint.NodeType { return stage.Instead(open.Around(kind)) }, Record: true, Halts: c.test.Expect["status"] == string(blueprint.StatusPaused),
		Emit: func(context.Context, blueprint.Event) (int, error) { return 0, nil },
	}
	return local.Do(ctx)
}

// rules takes the time of a recording from its exchanges.
func (c *testCase) rules() recording.Rules {
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
	return recording.Rules{Volatile: recording.NewVolatile(from, to, c.cassette, given...)}
}

// HandlesOf gives the handles at which each node of a map may go on, by its address
// as nodesOf gives it; nil for a node that may take any.
func HandlesOf(m any, before string, out map[string][]string) {
	object, _ := m.(map[string]any)
	nodes, _ := object["nodes"].([]any)
	for _, element := range nodes {
		node, _ := element.(map[string]any)
		id, _ := node["id"].(string)
		config, _ := node["config"].(map[string]any)
		kind := project.Catalogue()[blueprint.NormalType(fmt.Sprint(node["type"]))]
		if kind == nil || slices.Contains(kind.Handles, "*") {
			out[before+id] = nil
			continue
		}
		ways := append([]string{"main"}, kind.Handles...)
		if node["onError"] == string(blueprint.OnErrorBranch) {
			ways = append(ways, blueprint.ErrorHandle)
		}
		cases, _ := config["cases"].([]any)
		for _, element := range cases {
			object, _ := element.(map[string]any)
			if handle, ok := object["handle"].(string); ok {
				ways = append(ways, handle)
			}
		}
		out[before+id] = ways
		if kind.Type == "for-each" {
			HandlesOf(config, before+id+"[*]/", out)
		}
	}
}

// UnknownHandles tells which branches a test expects that their nodes do not have.
func UnknownHandles(test *Test, ways map[string][]string) (issues []blueprint.Issue) {
	branches, _ := test.Expect["branches"].(map[string]any)
	for _, address := range slices.Sorted(maps.Keys(branches)) {
		handle, _ := branches[address].(string)
		known := ways[everyItem(address)]
		if known == nil || slices.Contains(known, handle) {
			continue
		}
		issues = append(issues, blueprint.Issue{
			Path: []any{"tests", test.Index, "expect", "branches", address}, Severity: blueprint.SeverityError,
			Message: fmt.Sprintf("the node has no handle %q", handle) + blueprint.DidYouMean(handle, known),
		})
	}
	return issues
}

// nameConnected gives the stand-ins of connections to which blueprints refer what
// is said of them by name: by the test, or, if there is one of that name alone, by
// the recording.
func nameConnected(connections map[string]recording.Connection, names map[string]bool) {
	for name := range names {
		id := project.DerivedID(project.ConnectionKey, name)
		if c, given := connections[name]; given {
			connections[id] = c
			continue
		}
		var called []recording.Connection
		for _, other := range slices.Sorted(maps.Keys(connections)) {
			if connections[other].Name == name {
				called = append(called, connections[other])
			}
		}
		if len(called) == 1 {
			connections[id] = called[0]
		}
	}
}

// UnknownConnections refuses what a test says of connections to which nothing can
// refer.
func UnknownConnections(t *Test, names map[string]bool) (issues []blueprint.Issue) {
	for _, name := range slices.Sorted(maps.Keys(t.Connections)) {
		if !names[name] && !blueprint.IsUUID(name) {
			issues = append(issues, blueprint.Issue{
				Path:    []any{"tests", t.Index, "connections", name},
				Message: "is no id, and no blueprint here refers to a connection of this name" + blueprint.DidYouMean(name, slices.Sorted(maps.Keys(names))),
				Spot:    blueprint.Spot{OnKey: true},
			})
		}
	}
	return issues
}

// ReferredConnections returns the names of connections to which the blueprints of a
// test file refer, as far as they can be read.
func ReferredConnections(tests *File, name string) map[string]bool {
	names := map[string]bool{}
	for _, path := range append(slices.Collect(maps.Values(tests.Blueprints)), tests.Blueprint) {
		path = filepath.Join(filepath.Dir(name), path)
		if b, _, err := project.ReadFile(&project.Inputs{}, path); err == nil {
			maps.Copy(names, project.Follow(path, path, b).Connections())
		}
	}
	return names
}
