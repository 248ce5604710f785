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
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/project/local"
	"blueprintd/project/testsuite"
)

func commandReplay() *cli.Command {
	return &cli.Command{
		Name: "replay", Usage: "repeat an exported run without a network, and tell what differs", ArgsUsage: "FILE.run.json",
		Description: "Runs the blueprint of the file with the input, the variables and the clock of its run. Other services are answered from the\n" +
			"recording, people as they answered then, and runs that it started with what came of them; so are sources that draw at random.\n" +
			"Secret variables are stood in for. A run that was not recorded gets from its steps what they gave. Prints a line for each\n" +
			"difference. Exits with 0 when there is none, 1 when there is one, 2 when the file is bad. A FILE of - is standard input.",
		Flags: []cli.Flag{&cli.StringFlag{Name: "blueprint", Usage: "run the blueprint of this `FILE` in place of the recorded one, to see what a change does"}},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("blueprintd replay order.run.json", "replay takes one file")
			}
			return replay(c, c.Args().First())
		},
	}
}

func replay(c *cli.Context, name string) error {
	in := &project.Inputs{Stdin: c.App.Reader}
	data, called, err := in.Read(name, recording.MaxSize)
	if err != nil {
		return usage("check the path; - is standard input", "%s cannot be read: %s", called, fileio.Cause(err))
	}
	f, err := recording.Parse(data)
	if err != nil {
		return usage("blueprintd export-run writes such files", "%s: %s", called, project.MessageOf(err))
	}
	if f.Cassette == nil {
		fmt.Fprintln(c.App.ErrWriter, `this run was not recorded: its steps that need other services give what they gave then; start a run with "record": true to keep what it exchanges`)
	}
	definition, err := replayed(c, f)
	if err != nil {
		return err
	}
	if names := slices.Sorted(maps.Keys(f.Placeholders())); len(names) > 0 {
		fmt.Fprintln(c.App.ErrWriter, "secret variables are stood in for: "+blueprint.OneLine(strings.Join(names, ", ")))
	}
	record, player, err := repeat(c, f, definition)
	if err != nil {
		return usage("the file may be of another version", "%s cannot be repeated: %s", called, project.MessageOf(err))
	}
	differences, idle := compareRuns(player.Rules, f, record)
	if len(idle) > 0 {
		fmt.Fprintln(c.App.ErrWriter, "not repeated, because a replay runs one node at a time and stops at the first failure: "+blueprint.OneLine(strings.Join(idle, ", ")))
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

// replayed returns the blueprint that is to run.
func replayed(c *cli.Context, f *recording.File) (*blueprint.Definition, error) {
	if name := c.String("blueprint"); name != "" {
		b, _, _, err := loadForRun(c, name) // runs that it started are answered from the recording
		if err != nil {
			return nil, err
		}
		return project.Definition(f.Blueprint.ID, b), nil
	}
	variables, issues := blueprint.ParseVariables(f.Blueprint.Variables)
	m, more := blueprint.ParseMap(f.Blueprint.Map)
	if issues = append(issues, more...); m == nil || len(issues) > 0 {
		return nil, usage("blueprintd export-run writes such files", "the blueprint in the file cannot be run")
	}
	return &blueprint.Definition{BlueprintID: f.Blueprint.ID, Title: f.Blueprint.Title, Version: f.Blueprint.Version, Map: m, Variables: variables}, nil
}

// repeat runs it again.
func repeat(c *cli.Context, f *recording.File, definition *blueprint.Definition) (*blueprint.Recording, *recording.Player, error) {
	recorded := recording.NewCassette(nil, nil)
	if f.Cassette != nil {
		recorded = f.Cassette
	}
	player := recording.NewPlayer(recorded)
	player.Rules = recording.Rules{Volatile: f.Volatile()}
	stage := testsuite.NewStage(answersThen(f, c.String("blueprint") == ""), definition.BlueprintID, player, f.Cassette != nil)
	open := local.Stubs(recorded.Connections, definition)
	variables := maps.Clone(f.Run.InputVariables)
	if variables == nil {
		variables = map[string]any{}
	}
	maps.Copy(variables, f.Placeholders())
	scripts := script.New(script.Options{})
	defer scripts.Background()()
	local := &local.Run{
		Version:    programOf(c).Version,
		Definition: definition, Variables: testsuite.StandIns(definition.Variables, variables), Input: f.Run.InputData, Clock: clock.NewVirtual(f.Run.StartTime.Time()), IDs: ids.Seeded(testsuite.TestSeed),
		Scripts: scripts, Errors: c.App.ErrWriter, Instead: stage, Connections: open, Record: true,
		Wrap:  func(kind *blueprint.NodeType) *blueprint.NodeType { return stage.Instead(open.Around(kind)) },
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

// answersThen returns stubs for what no network answers: people, other runs, and who
// listens to events; and for all that needs other services when nobody recorded
// what they said. With drawn, so do the steps whose sources draw at random.
func answersThen(f *recording.File, drawn bool) *testsuite.Test {
	t, kinds := &testsuite.Test{}, project.Catalogue()
	for i := range f.Run.Steps {
		step := &f.Run.Steps[i]
		kind := kinds[blueprint.NormalType(step.NodeType)]
		outside := kind != nil && kind.NeedsStub(f.Cassette != nil) || drawn && f.IsRandom(step.NodeID)
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

// compareRuns returns where two runs differ: in their status, output, error and
// steps. Idle are the steps that the replay never began because it failed. They are
// a difference, as one, unless each node that failed had failed in the recording:
// a replay runs one node at a time, where the run had several at work.
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
			continue // what it gave differs too, then
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
