package command

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/project/local"
	"blueprintd/project/testsuite"
)

func commandReplay() *cli.Command {
	return &cli.Command{
		Name: "replay", Usage: "repeat an exported run offline and print the differences", ArgsUsage: "FILE",
		Description: "Runs the blueprint of the file with the input, variables and clock of its run. The recording answers for other\n" +
			"services, people, started runs and random sources. Secret variables get placeholder values. If the run was not\n" +
			"recorded, its steps return their stored output.\n" +
			"Exits with 0 when there is no difference, 1 when there is one, 2 when the file is invalid. A FILE of - is standard\n" +
			"input.",
		UsageText: "blueprintd replay order.run.json\nblueprintd replay order.run.json --blueprint order.blueprint.yaml",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "blueprint", Usage: "run the blueprint in this `FILE` instead of the recorded one"}},
		Action:    replay,
	}
}

func replay(c *cli.Context) error {
	in := &project.Inputs{Stdin: c.App.Reader}
	data, called, err := in.Read(c.Args().First(), recording.MaxSize)
	if err != nil {
		return unreadableInput(called, err)
	}
	f, err := recording.Parse(data)
	if err != nil {
		return usage(exportHint, "%s: %s", called, project.MessageOf(err))
	}
	if f.Cassette == nil {
		fmt.Fprintln(c.App.ErrWriter, `this run was not recorded: steps that need other services return their stored output; start a run with "record": true to record its calls`)
	}
	definition, err := replayed(c, f)
	if err != nil {
		return err
	}
	if names := slices.Sorted(maps.Keys(f.Placeholders())); len(names) > 0 {
		fmt.Fprintln(c.App.ErrWriter, "secret variables with placeholder values: "+blueprint.OneLine(strings.Join(names, ", ")))
	}
	record, player, err := repeat(c, f, definition)
	if err != nil {
		return usage("check the version that exported the file", "%s cannot be replayed: %s", called, project.MessageOf(err))
	}
	differences, idle := compareRuns(player.Rules, f, record)
	if len(idle) > 0 {
		fmt.Fprintln(c.App.ErrWriter, "not replayed, because a replay runs one node at a time and stops at the first failure: "+blueprint.OneLine(strings.Join(idle, ", ")))
	}
	for _, d := range player.Differences() {
		if !d.Unused || !slices.Contains(idle, d.Node) {
			differences = append(differences, d)
		}
	}
	for i := range differences {
		if _, err := fmt.Fprintln(c.App.Writer, blueprint.OneLine(differences[i].String())); err != nil {
			return err
		}
	}
	if len(differences) > 0 {
		return blueprint.Hinted("", "%s differs from its recording in %s", called, blueprint.Counted(len(differences), "place"))
	}
	_, err = fmt.Fprintf(c.App.Writer, "the same: %s, %s, %s\n", record.Status, blueprint.Counted(len(record.Steps), "step"), blueprint.Counted(len(record.Exchanges), "call"))
	return err
}

// replayed returns the blueprint to run: that of --blueprint, or the recorded one.
func replayed(c *cli.Context, f *recording.File) (*blueprint.Definition, error) {
	if name := c.String("blueprint"); name != "" {
		b, _, _, err := loadForRun(c, name) // the recording has the results of other blueprints
		if err != nil {
			return nil, err
		}
		return project.Definition(f.Blueprint.ID, b), nil
	}
	variables, issues := blueprint.ParseVariables(f.Blueprint.Variables)
	m, more := blueprint.ParseMap(f.Blueprint.Map)
	if issues = append(issues, more...); m == nil || len(issues) > 0 {
		return nil, usage(exportHint, "the blueprint in the file cannot be run")
	}
	return &blueprint.Definition{BlueprintID: f.Blueprint.ID, Title: f.Blueprint.Title, Version: f.Blueprint.Version, Map: m, Variables: variables}, nil
}

// repeat runs the blueprint against the recording.
func repeat(c *cli.Context, f *recording.File, definition *blueprint.Definition) (*blueprint.Recording, *recording.Player, error) {
	recorded := recording.NewCassette(nil, nil)
	if f.Cassette != nil {
		recorded = f.Cassette
	}
	player := recording.NewPlayer(recorded)
	player.Rules = recording.Rules{Volatile: f.Volatile()}
	doubles := testsuite.NewDoubles(recordedStubs(f, c.String("blueprint") == ""), definition.BlueprintID, player, f.Cassette != nil)
	open := local.Stubs(recorded.Connections, definition)
	variables := map[string]any{}
	maps.Copy(variables, f.Run.InputVariables)
	maps.Copy(variables, f.Placeholders())
	scripts := script.New(script.Options{})
	defer scripts.Background()()
	local := &local.Run{
		Version:    programOf(c).Version,
		Definition: definition, Variables: testsuite.Placeholders(definition.Variables, variables), Input: f.Run.InputData, Clock: clock.NewVirtual(f.Run.StartTime.Time()), IDs: ids.Seeded(testsuite.TestSeed),
		Scripts: scripts, Errors: c.App.ErrWriter, Instead: doubles, Connections: open, Record: true,
		Wrap:  func(kind *blueprint.NodeType) *blueprint.NodeType { return doubles.Instead(open.Around(kind)) },
		Halts: f.Run.Status == blueprint.StatusPaused, Emit: func(context.Context, blueprint.Event) (int, error) { return 0, nil },
	}
	if t := f.Run.Trigger; t != nil {
		local.Trigger = &blueprint.TriggerContext{ID: t.ID, Type: t.Type, Headers: t.Headers}
	}
	ctx, release := untilInterrupted(c.Context)
	defer release()
	record, err := local.Do(ctx)
	return record, player, err
}

// recordedStubs returns stubs for the steps that do not use the network: human tasks,
// other runs and events; for all steps that need other services if the run was not
// recorded; and with random for steps with random results.
func recordedStubs(f *recording.File, random bool) *testsuite.Test {
	t, kinds := &testsuite.Test{}, project.Catalogue()
	for i := range f.Run.Steps {
		step := &f.Run.Steps[i]
		kind := kinds[blueprint.NormalType(step.NodeType)]
		outside := kind != nil && kind.NeedsStub(f.Cassette != nil) || random && f.IsRandom(step.NodeID)
		switch {
		case !outside:
		case step.Status == blueprint.StepCompleted:
			answer := testsuite.Answer{HasOutput: true, Output: step.Output}
			if kind == nil || kind.Answer == nil {
				answer.Handle = f.Run.Handles[step.NodeID]
			}
			t.Stubs = append(t.Stubs, &testsuite.Stub{Key: step.NodeID, Answers: []testsuite.Answer{answer}})
		case step.Status == blueprint.StepFailed && step.Error != nil && f.Cassette == nil:
			t.Stubs = append(t.Stubs, &testsuite.Stub{Key: step.NodeID, Answers: []testsuite.Answer{{Error: step.Error.Message}}})
		}
	}
	return t
}

// compareRuns compares the status, output, error and steps of two runs. idle are the
// steps that the replay did not start because it failed. They count as one difference,
// unless the same nodes failed in the recording: a replay runs one node at a time, while
// the recorded run may have run several.
func compareRuns(rules recording.Rules, f *recording.File, now *blueprint.Recording) (found []recording.Difference, idle []string) {
	if f.Run.Status != now.Status {
		found = append(found, recording.Difference{What: "status", Expected: string(f.Run.Status), Got: string(now.Status)})
	}
	steps := map[string]*blueprint.Step{}
	for i := range now.Steps {
		steps[now.Steps[i].NodeID] = &now.Steps[i]
	}
	stoppedAlike := f.Run.Status == now.Status
	for i := range f.Run.Steps {
		was := &f.Run.Steps[i]
		is := steps[was.NodeID]
		if is != nil && is.Status == blueprint.StepFailed && was.Status != blueprint.StepFailed {
			stoppedAlike = false
		}
		delete(steps, was.NodeID)
		if is == nil {
			found = append(found, recording.Difference{Node: was.NodeID, What: "step", Unused: true})
			continue
		}
		if was.Status != is.Status {
			if is.Status == blueprint.StepPending && now.Status == blueprint.StatusFailed {
				idle = append(idle, was.NodeID)
				continue
			}
			d := recording.Difference{Node: was.NodeID, What: "status", Expected: string(was.Status), Got: string(is.Status)}
			if is.Error != nil {
				d.What = fmt.Sprintf("status (%s)", is.Error.Message)
			}
			found = append(found, d)
			continue // its output differs as a consequence
		}
		if !f.IsRandom(was.NodeID) {
			found = append(found, rules.Compare(was.NodeID, "output", was.Output, is.Output)...)
		}
		if was.Error != nil && is.Error != nil {
			found = append(found, rules.Compare(was.NodeID, "error", was.Error.Message, is.Error.Message)...)
		}
	}
	for i := range now.Steps {
		if address := now.Steps[i].NodeID; steps[address] != nil {
			found = append(found, recording.Difference{Node: address, What: "step", Missing: true})
		}
	}
	if len(idle) > 0 && !stoppedAlike {
		found = append(found, recording.Difference{What: "the rest of the run (" + strings.Join(idle, ", ") + ")", Unused: true})
	}
	if f.Run.Status != now.Status {
		return found, idle
	}
	return append(found, rules.Compare("", "output", f.Run.Output, now.Output)...), idle
}
