package main

import (
	"context"
	"fmt"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
	"blueprintd/cassette"
	"blueprintd/clock"
	"blueprintd/ids"
	"blueprintd/trial"
)

// testedID is the id of the blueprint of every test, and testSeed what all ids of
// its run follow from: a test is the same each time.
const (
	testedID = "00000000-0000-4000-8000-000000000001"
	testSeed = 1
)

// trialCase is a test that is ready to run.
type trialCase struct {
	trials     *trials
	name       string // of the file
	data       []byte // its content
	source     string // the blueprint's file
	test       *trial.Test
	definition *blueprint.Definition
	others     map[string]*blueprint.Definition
	nodes      []string
	cassette   *cassette.Cassette // nil = none

	outcome *trial.Outcome // once it has run
}

// result runs the test and judges it.
func (c *trialCase) result(ctx context.Context) *trial.Result {
	document := c.test.File.Document
	r := &trial.Result{
		File: c.name, Test: c.test.Name, Blueprint: c.source,
		Pos: func(path []any) (int, int) {
			at := document.At(path)
			return at.Line, at.Column
		},
		Excerpt: func(path []any) string { return document.ExcerptOf(blueprint.Issue{Path: path}) },
	}
	began := clock.Real{}.Now()
	defer func() { r.Took = clock.Real{}.Now().Sub(began) }()
	var player *cassette.Player
	if c.cassette != nil {
		player = cassette.NewPlayer(c.cassette)
		player.Rules = rulesOf(c.cassette)
	}
	recording, err := c.run(ctx, player)
	if err != nil {
		at := document.At([]any{"tests", c.test.Index})
		r.Fault = fmt.Errorf("%s:%d:%d: the test cannot run: %s\n%s", c.name, at.Line, at.Column, messageOf(err), document.Excerpt(file.Position{Line: at.Line, Column: at.Column}))
		return r
	}
	c.outcome = &trial.Outcome{Recording: recording, Nodes: c.nodes}
	r.Mismatches = c.test.Judge(c.outcome)
	if c.trials.replay {
		r.Differences = player.Differences()
	}
	r.Cover(c.outcome)
	return r
}

func (c *trialCase) run(ctx context.Context, player *cassette.Player) (*blueprint.Recording, error) {
	connections := map[string]cassette.Connection{}
	if c.cassette != nil {
		for id, connection := range c.cassette.Connections {
			connections[id] = connection
		}
	}
	for id, connection := range c.test.Connections {
		connections[id] = connection
	}
	definitions := []*blueprint.Definition{c.definition}
	for _, other := range c.others {
		definitions = append(definitions, other)
	}
	open := newStandIns(connections, definitions...)
	stage := trial.NewStage(c.test, testedID, player, c.trials.replay)
	local := &localRun{
		definition: c.definition, others: c.others, variables: c.test.Variables, input: c.test.InputData, clock: clock.NewVirtual(c.test.Clock),
		ids: ids.Seeded(testSeed), scripts: c.trials.scripts, errors: c.trials.errors, instead: stage, connections: open,
		wrap: func(kind *blueprint.NodeType) *blueprint.NodeType { return stage.Instead(open.around(kind)) }, record: true, halts: c.test.Expect["status"] == string(blueprint.StatusPaused),
		emit: func(context.Context, blueprint.Event) (int, error) { return 0, nil },
	}
	return local.run(ctx)
}

// rulesOf takes the time of a recording from its exchanges.
func rulesOf(c *cassette.Cassette) (rules cassette.Rules) {
	for i := range c.Exchanges {
		at := c.Exchanges[i].At.Time()
		if rules.From.IsZero() || at.Before(rules.From) {
			rules.From = at
		}
		if at.After(rules.To) {
			rules.To = at
		}
	}
	if !rules.From.IsZero() { // nodes ask after they began, and go on after they asked
		rules.From, rules.To = rules.From.Add(-time.Hour), rules.To.Add(time.Hour)
	}
	return rules
}
