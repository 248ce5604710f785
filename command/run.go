package command

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/engine"
	"blueprintd/engine/script"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
	"blueprintd/project"
	"blueprintd/project/local"
)

func commandRun() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run a blueprint file without a server", ArgsUsage: "FILE",
		Description: "Prints the status record of the run and its output as JSON on standard output. Progress goes to standard error.\n" +
			"Exits with 0 when the run completed, 1 when it failed, 2 when the file is invalid, 3 when it is paused.\n" +
			"A FILE of - is standard input.",
		UsageText: "blueprintd run my.blueprint.yaml --var name=World\nblueprintd run my.blueprint.yaml --input @data.json --connections crm.seed.yaml",
		Flags: slices.Concat([]cli.Flag{
			&listFlag{cli.GenericFlag{Name: "var", Usage: "set a variable: `NAME=VALUE`; may be repeated. Commas separate variables only in the environment variable"}},
			&cli.StringFlag{Name: "input", Usage: "input data as `JSON`, @FILE, or - for standard input", Value: "{}"},
			&cli.StringFlag{Name: "connections", Usage: "use the connections in this `FILE` (YAML or JSON), in the form of a seed file; ${NAME} is an environment variable"},
			allowNetFlag(),
		}, under(testingCategory,
			&cli.StringFlag{Name: "clock", Value: "real", Usage: "`CLOCK`: real, or virtual[=RFC3339], which jumps to the next timer"},
			&cli.StringFlag{Name: "record", Usage: "write the calls to other services to `FILE`, a cassette for tests. Secrets and values that look like secrets are left out; review the file before you share it"},
			&cli.BoolFlag{Name: "force", Usage: "let --record replace a file that is not a cassette"},
		)),
		Action: runFile,
	}
}

func runFile(c *cli.Context) error {
	b, others, files, err := loadForRun(c, c.Args().First())
	if err != nil {
		return err
	}
	declared, _ := blueprint.ParseVariables(b.Variables)
	variables, err := parseVars(given(c, "var"), declared, c.Generic("var").(*list).items)
	if err != nil {
		return err
	}
	unusedVars(c.App.ErrWriter, b, declared, variables)
	input, err := parseInput(c)
	if err != nil {
		return err
	}
	allow, err := prefixes(c, "allow-net")
	if err != nil {
		return err
	}
	runClock, err := parseClock(c)
	if err != nil {
		return err
	}
	if err := checkRecord(c); err != nil {
		return err
	}
	connections, err := readConnections(c)
	if err != nil {
		return err
	}
	if connections != nil {
		if err := connections.Check(c.App.ErrWriter, files); err != nil {
			return err
		}
	}
	opener := local.NewStore(connections, files)
	scripts := script.New(script.Options{})
	defer scripts.Background()()
	source := ids.New(nil)
	progress := newProgress(c.App.ErrWriter)
	local := &local.Run{
		Version:    programOf(c).Version,
		Definition: project.Definition(source.UUID(), b), Others: others, Variables: variables, Input: input, Clock: runClock, IDs: source, Scripts: scripts,
		Errors: c.App.ErrWriter, Allow: allow, Record: c.String("record") != "",
	}
	local.Connect = func(client *outbound.Client) engine.Connections { return opener.Open(client, runClock, source) }
	if progress != nil {
		local.Show = progress.show
	}
	interrupted, release := untilInterrupted(c.Context)
	defer release()
	recording, err := local.Do(interrupted)
	if known, ok := errors.AsType[*blueprint.Error](err); ok && known.Code == blueprint.CodeBadRequest {
		return usage(inputHintFor(known), "%s", known.Message)
	}
	if err != nil {
		return err
	}
	if progress != nil {
		progress.show(recording.Execution)
		fmt.Fprintln(c.App.ErrWriter)
	}
	outcome := printOutcome(c.App.Writer, recording.Execution, c.Args().First())
	if local.Record {
		if err := writeCassette(c.String("record"), recording, opener.Recorded(recording.Connections)); err != nil {
			return err
		}
	}
	return outcome
}

// printOutcome writes the status record with its output. Its error has the exit code of
// the run.
func printOutcome(out io.Writer, x *blueprint.Execution, name string) error {
	record := struct {
		*blueprint.ExecutionStatus
		Output any                 `json:"output"`
		Error  *blueprint.RunError `json:"error,omitempty"`
	}{&x.ExecutionStatus, x.Output, x.Failure}
	data, err := blueprint.EncodeIndented(record)
	if err != nil {
		return err
	}
	if _, err := out.Write(data); err != nil {
		return err
	}
	switch x.Status {
	case blueprint.StatusCompleted:
		return nil
	case blueprint.StatusPaused:
		what := "input"
		if x.AwaitingInput != nil {
			what = fmt.Sprintf("%s at node %q: %s", x.AwaitingInput.Kind, x.AwaitingInput.NodeID, x.AwaitingInput.Prompt)
		}
		return &exit{code: exitPaused, message: "the run is paused and waits for " + what, hint: "import the file into a server to answer: blueprintd import " + blueprint.ShellWord(name)}
	default:
		if x.Failure != nil && x.Failure.Code == "unknown_name" {
			return blueprint.Hinted(blueprint.SeeDocs("pass variables with --var NAME=VALUE", "blueprints"), "the run failed: %s", x.FailureText())
		}
		if why, hint, given := strings.Cut(x.FailureText(), "; hint: "); given {
			return blueprint.Hinted(hint, "the run failed: %s", why)
		}
		return blueprint.Hinted(`see "steps" of the record on standard output for each node`, "the run failed: %s", x.FailureText())
	}
}

// progress shows the progress of a run on a terminal: a line for each node that ended,
// and a status line.
type progress struct {
	screen *terminal.Screen
	shown  map[string]bool
}

// newProgress returns nil if out is not a terminal.
func newProgress(out io.Writer) *progress {
	screen := terminal.NewScreen(out)
	if !screen.Erases() {
		return nil
	}
	return &progress{screen: screen, shown: map[string]bool{}}
}

// marks are the symbols of steps that have ended.
var marks = map[blueprint.StepStatus]struct {
	colour terminal.Colour
	sign   string
}{
	blueprint.StepCompleted: {terminal.Green, "✓"}, blueprint.StepFailed: {terminal.Red, "✗"}, blueprint.StepSkipped: {terminal.Grey, "–"},
}

// show updates the terminal; x may be nil.
func (p *progress) show(x *blueprint.Execution) {
	if x == nil {
		return
	}
	var text strings.Builder
	var working []string
	for i := range x.Steps {
		step := &x.Steps[i]
		mark, over := marks[step.Status]
		switch {
		case step.Status == blueprint.StepRunning:
			working = append(working, activity(step))
			continue
		case !over || p.shown[step.NodeID]:
			continue
		}
		p.shown[step.NodeID] = true
		line := fmt.Sprintf("%s %-24s %s", p.screen.Paint(mark.colour, mark.sign), blueprint.OneLine(step.NodeID), p.screen.Paint(terminal.Grey, step.NodeType))
		if step.DurationMs != nil && step.Status != blueprint.StepSkipped {
			line += p.screen.Paint(terminal.Grey, fmt.Sprintf("  %d ms", *step.DurationMs))
		}
		if step.Attempt > 1 {
			line += p.screen.Paint(terminal.Grey, fmt.Sprintf("  attempt %d", step.Attempt))
		}
		if step.Error != nil {
			line += "  " + blueprint.OneLine(strings.ReplaceAll(step.Error.Message, "\n", " "))
		}
		text.WriteString(line + "\n")
	}
	last := fmt.Sprintf("%3d %% %s", x.Progress, x.Status)
	if x.AwaitingInput != nil {
		last += ", waits for " + string(x.AwaitingInput.Kind) + " at " + x.AwaitingInput.NodeID
	} else if len(working) > 0 {
		last += "  " + strings.Join(working, ", ")
	}
	p.screen.Show(text.String(), blueprint.OneLine(last))
}

func activity(step *blueprint.Step) string {
	switch {
	case step.NodeType == "wait":
		return step.NodeID + " waits"
	case step.Attempt > 1:
		return fmt.Sprintf("%s (attempt %d)", step.NodeID, step.Attempt)
	}
	return step.NodeID
}
