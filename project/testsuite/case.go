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

// testedID is the id of the tested blueprint, and TestSeed the seed of all other ids, so
// that runs are reproducible.
const (
	testedID = "00000000-0000-4000-8000-000000000001"
	TestSeed = 1
)

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
	cassette   *recording.Cassette // nil for none
	halts      bool                // stop where the run waits for a person
	fakes      bool                // messages call the stubs fakes

	doubles *Doubles // of the last run
	outcome *Outcome // nil before the run
}

// result runs the test and compares the outcome with its expectations.
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
	if ctx.Err() != nil {
		r.NotRun = true
		return r
	}
	if err != nil {
		at := document.At(c.test.path())
		r.Fault = fmt.Errorf("%s:%d:%d: the test cannot run: %s\n%s", c.name, at.Line, at.Column, project.MessageOf(err), r.Excerpt(c.test.path()))
		return r
	}
	c.outcome = &Outcome{Recording: record, Nodes: c.nodes}
	mismatches := c.test.judge(ctx, c.outcome)
	if ctx.Err() != nil { // they are incomplete
		r.NotRun = true
		return r
	}
	r.Mismatches = mismatches
	for _, key := range c.doubles.Unused() {
		at := document.At(c.test.path("stubs", key))
		r.Notes = append(r.Notes, fmt.Sprintf("%s:%d:%d: the stub %q was not used", c.name, at.Line, at.Column, key))
	}
	if player != nil {
		if r.Differences = player.Differences(); !c.suite.Replay {
			r.Differences = slices.DeleteFunc(slices.Clone(r.Differences), func(d recording.Difference) bool { return d.InPayload })
		}
	}
	r.cover(c.outcome)
	return r
}

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
		maps.Copy(connections, c.cassette.Connections)
	}
	maps.Copy(connections, c.test.File.Connections)
	maps.Copy(connections, c.test.Connections)
	nameConnected(connections, c.names)
	open := local.Stubs(connections, append(slices.Collect(maps.Values(c.others)), c.definition)...)
	doubles := NewDoubles(c.test, testedID, player, c.suite.Replay)
	doubles.fakes = c.fakes
	c.doubles = doubles
	local := &local.Run{
		Version:    c.suite.Version,
		Definition: c.definition, Others: c.others, Variables: Placeholders(c.definition.Variables, c.test.Variables), Input: c.test.InputData, Clock: clock.NewVirtual(c.test.Clock),
		Room: c.suite.Room, IDs: ids.Seeded(TestSeed), Scripts: c.suite.Scripts, Errors: c.suite.Errors, Instead: doubles, Connections: open,
		Wrap: func(kind *blueprint.NodeType) *blueprint.NodeType { return doubles.Instead(open.Around(kind)) }, Record: true, Halts: c.halts || c.test.Expect["status"] == string(blueprint.StatusPaused),
		Emit: func(context.Context, blueprint.Event) (int, error) { return 0, nil },
	}
	return local.Do(ctx)
}

// rules returns the rules of comparison with the cassette and its time span.
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
	if !from.IsZero() { // nodes start before their requests and end after them
		from, to = from.Add(-time.Hour), to.Add(time.Hour)
	}
	given := []any{c.test.Variables, c.test.InputData}
	if c.definition.Map != nil {
		given = append(given, c.definition.Map.Raw)
	}
	return recording.Rules{Volatile: recording.NewVolatile(from, to, c.cassette, given...)}
}

// HandlesOf adds the handles of the nodes of a map to out, by their addresses as in
// NodesOf with a prefix; nil for nodes that accept any handle.
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
		handles := append([]string{"main"}, kind.Handles...)
		if node["onError"] == string(blueprint.OnErrorBranch) {
			handles = append(handles, blueprint.ErrorHandle)
		}
		cases, _ := config["cases"].([]any)
		for _, element := range cases {
			object, _ := element.(map[string]any)
			if handle, ok := object["handle"].(string); ok {
				handles = append(handles, handle)
			}
		}
		out[before+id] = handles
		if kind.Type == "for-each" {
			HandlesOf(config, before+id+"[*]/", out)
		}
	}
}

// UnknownHandles returns an issue for each expected branch with an unknown handle.
func UnknownHandles(test *Test, handles map[string][]string) (issues []blueprint.Issue) {
	branches, _ := test.Expect["branches"].(map[string]any)
	for _, address := range slices.Sorted(maps.Keys(branches)) {
		handle, _ := branches[address].(string)
		known := handles[everyItem(address)]
		if known == nil || slices.Contains(known, handle) {
			continue
		}
		issues = append(issues, blueprint.Issue{
			Path: test.path("expect", "branches", address), Severity: blueprint.SeverityError,
			Message: fmt.Sprintf("the node has no handle %q", handle) + blueprint.DidYouMean(handle, known),
		})
	}
	return issues
}

// nameConnected adds the connections to which blueprints refer by name: those of the
// test, or the only one of that name in the recording.
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

// UnknownConnections returns an issue for each connection of a test file that no blueprint
// refers to.
func UnknownConnections(f *File, names map[string]bool) (issues []blueprint.Issue) {
	check := func(connections map[string]recording.Connection, at []any) {
		for _, name := range slices.Sorted(maps.Keys(connections)) {
			if !names[name] && !blueprint.IsUUID(name) {
				issues = append(issues, blueprint.Issue{
					Path:    below(at, name),
					Message: "is not an id, and no blueprint refers to a connection with this name" + blueprint.DidYouMean(name, slices.Sorted(maps.Keys(names))),
					Spot:    blueprint.Spot{OnKey: true},
				})
			}
		}
	}
	check(f.Connections, []any{"connections"})
	for _, test := range f.Tests {
		check(test.Connections, test.path("connections"))
	}
	return issues
}

// ReferredConnections returns the names of connections to which the readable blueprints
// of a test file refer.
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
