package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/blueprint/expression"
	"blueprintd/command/terminal"
	"blueprintd/engine"
	"blueprintd/engine/script"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/project/local"
	"blueprintd/project/testsuite"
)

func commandRun() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run a blueprint file without a server", ArgsUsage: "FILE",
		Description: "Prints the status record of the run and its output as JSON on standard output. Progress goes to standard error.\n" +
			"If standard input is a terminal, the command asks there for approvals and human input.\n" +
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
	if asksAtTerminal(c) {
		q := &questions{in: c.App.Reader, out: c.App.ErrWriter}
		local.Ask = func(ctx context.Context, asked *blueprint.AwaitingInput, problem string) (any, bool) {
			if progress != nil {
				progress.screen.Status("")
			}
			return q.ask(ctx, asked, problem)
		}
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

// asksAtTerminal reports whether a user can answer questions: standard input is a terminal
// and not the blueprint or its input data.
func asksAtTerminal(c *cli.Context) bool {
	return terminal.IsInput(c.App.Reader) && c.Args().First() != "-" && c.String("input") != "-"
}

// printOutcome writes the status record and output. Its error has the run's exit code.
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
		hint := "import the file into a server to answer: blueprintd import " + blueprint.ShellWord(name)
		if a := x.AwaitingInput; a != nil && (a.Kind == blueprint.AwaitHuman || a.Kind == blueprint.AwaitApproval) {
			hint = "run it in a terminal to answer there, or " + hint
		}
		return &exit{code: exitPaused, message: "the run is paused and waits for " + what, hint: hint}
	default:
		if hint := unknownNameHint(x.Failure); hint != "" {
			return blueprint.Hinted(hint, "the run failed: %s", x.FailureText())
		}
		if why, hint, given := strings.Cut(x.FailureText(), "; hint: "); given {
			return blueprint.Hinted(hint, "the run failed: %s", why)
		}
		return blueprint.Hinted(`see "steps" of the record on standard output for each node`, "the run failed: %s", x.FailureText())
	}
}

// unknownNameHint returns the hint for a run in which a name or a key is missing, "" if the
// caller of the run cannot pass it. The message begins with the path.
func unknownNameHint(failure *blueprint.RunError) string {
	if failure == nil || failure.Code != expression.CodeUnknownName {
		return ""
	}
	path, _, _ := strings.Cut(failure.Message, ": ")
	root := path
	if end := strings.IndexAny(path, ".["); end >= 0 {
		root = path[:end]
	}
	switch {
	case root == "inputData":
		return blueprint.SeeDocs("pass input data, such as "+inputHint, "expressions")
	case slices.Contains(blueprint.ReservedNames, root):
		return ""
	}
	return blueprint.SeeDocs("pass variables with --var NAME=VALUE", "blueprints")
}

// progress shows a run on a terminal: a line for each ended node, and a status line.
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

const fixHint = "fix the file; run blueprintd validate for all errors"

// loadForRun reads a blueprint file that can be run. others are the blueprints to which
// it refers, by id, and files are all of them. Errors in the file are printed.
func loadForRun(c *cli.Context, name string) (b *project.Blueprint, others map[string]*blueprint.Definition, files *project.Followed, err error) {
	if testsuite.IsTestFile(name) {
		return nil, nil, nil, usage("blueprintd test "+blueprint.ShellWord(name), "%s is a test file, not a blueprint", name)
	}
	b, issues, err := project.ReadFile(&project.Inputs{Stdin: c.App.Reader}, name)
	if err != nil {
		return nil, nil, nil, syntaxError(err, fixHint)
	}
	if bad := project.Errors(issues); len(bad) > 0 {
		pointOut(c.App.ErrWriter, b, bad)
		return nil, nil, nil, usage(fixHint, "%s has %s", b.Document.Name, blueprint.Counted(len(bad), "error"))
	}
	if m, _ := blueprint.ParseMap(b.Map); m == nil || len(m.Nodes) == 0 {
		return nil, nil, nil, usage("add a node under blueprint_map.nodes", "%s has no nodes to run", b.Document.Name)
	}
	files = project.Follow(name, name, b)
	others, wrong := files.Connect()
	if wrong != "" {
		fmt.Fprint(c.App.ErrWriter, wrong)
		return nil, nil, nil, usage(fixHint, "%s refers to files that cannot be run", b.Document.Name)
	}
	return b, others, files, nil
}

// maxInputFile is the size of the largest file of input data, in bytes.
const maxInputFile = 64 << 20

const inputHint = `--input '{"name": "World"}'`

// inputHintFor returns the hint for a run that the engine refused.
func inputHintFor(refused *blueprint.Error) string {
	if len(refused.Issues) > 0 && len(refused.Issues[0].Path) > 0 && refused.Issues[0].Path[0] == "variables" {
		return "pass variables with --var NAME=VALUE"
	}
	if strings.HasPrefix(refused.Message, "inputData") {
		return inputHint
	}
	return fixHint
}

// parseVars reads NAME=VALUE pairs by the declared types; undeclared variables are
// strings. source is the flag or environment variable with the pairs.
func parseVars(source string, declared []blueprint.Variable, pairs []string) (map[string]any, error) {
	types := map[string]blueprint.VariableType{}
	for _, variable := range declared {
		types[variable.Name] = variable.Type
	}
	out := map[string]any{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !utf8.ValidString(pair) {
			return nil, usage("--var name=World", "%s %q: is not valid UTF-8", source, pair)
		}
		if !ok || name == "" {
			return nil, usage("--var name=World", "%s %s: write NAME=VALUE", source, pair)
		}
		value, err := parseVar(source, name, types[name], text)
		if err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

func parseVar(source, name string, kind blueprint.VariableType, text string) (any, error) {
	value, err := blueprint.Decode([]byte(text))
	switch kind {
	case blueprint.VariableNumber:
		if _, ok := value.(json.Number); !ok {
			return nil, usage("--var "+name+"=1.5", "%s %s: must be a number such as 1.5", source, name)
		}
	case blueprint.VariableBoolean:
		if _, ok := value.(bool); !ok {
			return nil, usage("--var "+name+"=true", "%s %s: must be true or false", source, name)
		}
	case blueprint.VariableJSON:
		if err != nil {
			return nil, usage(`strings inside JSON need quotes: --var 'list=["a"]'`, "%s %s: the variable is declared as %s: %s", source, name, kind, err)
		}
	default:
		return text, nil
	}
	return value, nil
}

// prefixes reads a flag with address ranges. A single address is a range too.
func prefixes(c *cli.Context, flag string) (ranges []netip.Prefix, err error) {
	for _, text := range c.StringSlice(flag) {
		text = strings.TrimSpace(text)
		prefix, err := netip.ParsePrefix(text)
		if address, addressErr := netip.ParseAddr(text); addressErr == nil {
			prefix, err = address.Prefix(address.BitLen())
		}
		if err != nil {
			return nil, usage("--"+flag+" 10.0.0.0/8", "%s %s: write an address range in CIDR form", given(c, flag), text)
		}
		ranges = append(ranges, prefix.Masked())
	}
	return ranges, nil
}

// parseInput reads the input data: JSON, @FILE, or - for standard input.
func parseInput(c *cli.Context) (any, error) {
	source, text := given(c, "input"), c.String("input")
	name, isFile := strings.CutPrefix(text, "@")
	if text == "-" {
		name, isFile = "-", true
	}
	if isFile {
		if name == "-" && c.Args().First() == "-" {
			return nil, usage("store one of the two in a file", "%s: standard input is already the blueprint", source)
		}
		data, called, err := (&project.Inputs{Stdin: c.App.Reader}).Read(name, maxInputFile)
		if err != nil {
			return nil, usage("--input @data.json", "%s: %s cannot be read: %s", source, called, fileio.Cause(err))
		}
		source, text = source+" "+called, string(data)
	}
	if !utf8.ValidString(text) {
		return nil, usage(inputHint, "%s: is not valid UTF-8", source)
	}
	input, err := blueprint.Decode([]byte(text))
	if err != nil {
		return nil, usage(inputHint, "%s: %s", source, err)
	}
	return input, nil
}

// unusedVars warns of variables that the blueprint neither declares nor mentions.
func unusedVars(out io.Writer, b *project.Blueprint, declared []blueprint.Variable, variables map[string]any) {
	known := make([]string, len(declared))
	for i := range declared {
		known[i] = declared[i].Name
	}
	text, err := blueprint.Encode(b.Map)
	if err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !slices.Contains(known, name) && !bytes.Contains(text, []byte(name)) {
			fmt.Fprintf(out, "warning: --var %s: the blueprint does not use this variable%s\n", blueprint.OneLine(name), blueprint.DidYouMean(name, known))
		}
	}
}

// readConnections reads the file of --connections; nil if the flag is not set.
func readConnections(c *cli.Context) (*local.Connections, error) {
	const hint = "fix the file; nothing was run"
	name := c.String("connections")
	if name == "" {
		if onLine(c, "connections") {
			return nil, usage(blueprint.SeeDocs("--connections crm.seed.yaml", "connections-and-sign-in"), "%s: name a file", given(c, "connections"))
		}
		return nil, nil
	}
	data, err := fileio.Read(name, document.MaxSize)
	if err != nil {
		return nil, usage("name a file that exists", "%s %s: %s", given(c, "connections"), name, fileio.Cause(err))
	}
	connections, issues, err := local.ReadConnections(name, data, project.Environment)
	if err != nil {
		return nil, syntaxError(err, hint) // without the line, which may contain a secret
	}
	if len(issues) > 0 {
		connections.Point(c.App.ErrWriter, issues)
		return nil, usage(hint, "%s has %s", name, blueprint.Counted(len(issues), "error"))
	}
	return connections, nil
}

// checkRecord verifies before the run that --record names a file that can be written
// and does not overwrite anything but a cassette.
func checkRecord(c *cli.Context) error {
	const hint = "--record order.cassette.json"
	name := c.String("record")
	if name == "" && !onLine(c, "record") {
		return nil
	}
	switch name {
	case "":
		return usage(hint, "%s: name a file", given(c, "record"))
	case "-":
		return usage(hint, "%s: standard output is for the record of the run; name a file", given(c, "record"))
	}
	info, err := os.Stat(name)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unwritableRecord(name, err)
	case err == nil && info.IsDir():
		return usage(hint, "%s is a folder", name)
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err == nil && info.Size() > 0 && !c.Bool("force"):
		if _, err := recording.ReadCassetteFile(name); err != nil {
			return usage("choose another name, or pass --force to replace it", "%s exists already and is not a cassette", name)
		}
	}
	if err := probe(filepath.Dir(name), ".record-*"); err != nil {
		return unwritableRecord(name, err)
	}
	return nil
}

func unwritableRecord(name string, err error) error {
	return blueprint.Hinted("check the path of --record", "%s cannot be written: %s", name, fileio.Cause(err))
}

// probe verifies that a file can be created in a folder, and removes it.
func probe(folder, pattern string) error {
	f, err := os.CreateTemp(folder, pattern)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writeCassette writes the calls of a run to a file that only its owner can read.
// Special files, such as /dev/stdout, are written to and not replaced.
func writeCassette(name string, record *blueprint.Recording, opened map[string]recording.Connection) error {
	data, err := recording.NewCassette(record.Exchanges, opened).Bytes()
	if err != nil {
		return err
	}
	if info, statErr := os.Stat(name); statErr == nil && !info.Mode().IsRegular() {
		err = os.WriteFile(name, data, 0o600)
	} else {
		err = fileio.Write(name, data, false)
	}
	if err != nil {
		return unwritableRecord(name, err)
	}
	return nil
}
