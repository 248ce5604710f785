package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
	"blueprintd/clock"
	"blueprintd/engine"
	"blueprintd/engine/nodes"
	"blueprintd/ids"
	"blueprintd/outbound"
	"blueprintd/secret"
)

func commandRun() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run a blueprint file without a server", ArgsUsage: "FILE",
		Description: "Prints the run's status record, with its output, as JSON on standard output; progress goes to standard error.\n" +
			"Exits with 0 when the run completed, 1 when it failed, 2 when the file is bad, 3 when it is paused.",
		Flags: []cli.Flag{
			&cli.GenericFlag{Name: "var", Usage: "set a variable, as in `NAME=VALUE`; may be repeated", Value: &list{}},
			&cli.StringFlag{Name: "input", Usage: "the input data, as `JSON`", Value: "{}"},
			allowNetFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 {
				return usage("blueprintd run my.blueprint.yaml --var name=World", "run takes one file")
			}
			return runFile(c)
		},
	}
}

// runFile runs the file that the command line names.
func runFile(c *cli.Context) error {
	b, err := loadForRun(c.App.ErrWriter, c.Args().First())
	if err != nil {
		return err
	}
	declared, _ := blueprint.ParseVariables(b.variables)
	variables, err := parseVars(declared, *c.Generic("var").(*list))
	if err != nil {
		return err
	}
	input, err := blueprint.Decode([]byte(c.String("input")))
	if err != nil {
		return usage(`--input '{"name": "World"}'`, "--input: %s", err)
	}
	allow, err := prefixes(c.StringSlice("allow-net"))
	if err != nil {
		return err
	}
	m, _ := blueprint.ParseMap(b.m)
	source := ids.New(nil)
	definition := &blueprint.Definition{BlueprintID: source.UUID(), Title: b.title, Version: blueprint.InitialVersion, Map: m, Variables: declared}
	sealer, err := secret.NewSealer(secret.NewKey())
	if err != nil {
		return err
	}
	journal := newMemoryJournal(definition)
	runner := engine.New(engine.Options{
		Catalogue: catalogueOf(nodes.Dependencies{HTTP: outbound.New(outbound.Options{Allow: allow}), Clock: clock.Real{}}),
		Journal:   journal, Clock: clock.Real{}, IDs: source, Sealer: sealer, Logger: slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelError})),
		Drain: time.Second,
	})
	ctx, stop := context.WithCancel(context.WithoutCancel(c.Context))
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() { ended <- runner.Run(ctx, func() { close(started) }) }()
	<-started
	outcome, err := follow(c.Context, c.App.ErrWriter, runner, journal, &blueprint.StartRequest{
		Definition: definition, Principal: blueprint.Principal{UserID: source.UUID()}, CanManage: true, Variables: variables, InputData: input,
	})
	stop()
	if ended := <-ended; err == nil {
		err = ended
	}
	if err != nil {
		return err
	}
	return printOutcome(c.App.Writer, outcome)
}

func loadForRun(out io.Writer, name string) (*blueprintFile, error) {
	b, issues, err := readBlueprint(name)
	var syntax *file.SyntaxError
	if errors.As(err, &syntax) {
		return nil, usage("mend the file; blueprintd validate shows all that is wrong", "%s", syntax.Error())
	}
	if err != nil {
		return nil, err
	}
	bad := 0
	for _, issue := range issues {
		if issue.Severity != blueprint.SeverityWarning {
			bad++
			fmt.Fprintln(out, b.document.Point(issue))
		}
	}
	if bad > 0 {
		return nil, usage("mend the file; blueprintd validate shows all that is wrong", "%s has %d errors", name, bad)
	}
	return b, nil
}

// parseVars reads NAME=VALUE pairs by the declared types; what is not declared
// is a string.
func parseVars(declared []blueprint.Variable, pairs []string) (map[string]any, error) {
	types := map[string]blueprint.VariableType{}
	for _, variable := range declared {
		types[variable.Name] = variable.Type
	}
	out := map[string]any{}
	for _, pair := range pairs {
		name, text, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage("--var name=World", "--var %s: write NAME=VALUE", pair)
		}
		kind, known := types[name]
		if !known || kind == blueprint.VariableString {
			out[name] = text
			continue
		}
		value, err := blueprint.Decode([]byte(text))
		if err != nil {
			return nil, usage(`strings inside JSON need quotes: --var 'list=["a"]'`, "--var %s: the variable is declared as %s: %s", name, kind, err)
		}
		out[name] = value
	}
	return out, nil
}

// prefixes reads the values of --allow-net.
func prefixes(texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, text := range texts {
		text = strings.TrimSpace(text)
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			address, alone := netip.ParseAddr(text)
			if alone != nil {
				return nil, usage("--allow-net 10.0.0.0/8", "--allow-net %s: write an address range in CIDR form", text)
			}
			prefix = netip.PrefixFrom(address, address.BitLen())
		}
		out = append(out, prefix.Masked())
	}
	return out, nil
}

func allowNetFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "allow-net", Usage: "let outbound nodes reach this private `CIDR` range; may be repeated", EnvVars: environment("allow-net")}
}

// follow runs a request to its end, showing on a terminal how far it is. An
// interrupt cancels the run.
func follow(ctx context.Context, out io.Writer, runner *engine.Engine, journal *memoryJournal, request *blueprint.StartRequest) (*blueprint.Execution, error) {
	handle, err := runner.Start(request, engine.AtEnd)
	if err != nil {
		var known *blueprint.Error
		if errors.As(err, &known) && known.Code == blueprint.CodeBadRequest {
			return nil, usage("pass variables with --var NAME=VALUE", "%s", known.Message)
		}
		return nil, err
	}
	changes, stop := runner.Watch(handle.ID)
	defer stop()
	progress := newProgress(out)
	rested := make(chan struct{})
	var outcome *blueprint.Execution
	go func() {
		defer close(rested)
		outcome, err = handle.Wait(context.WithoutCancel(ctx))
	}()
	interrupted := ctx.Done()
	for {
		select {
		case <-changes:
			if progress != nil {
				stored, failure := journal.Load(ctx, handle.ID)
				if failure != nil { // at work, and nothing of it stored yet
					stored = &blueprint.StoredExecution{Row: blueprint.ExecutionRow{ID: handle.ID, Status: blueprint.StatusRunning}}
				}
				if view, failure := runner.View(ctx, stored); failure == nil {
					progress.show(view)
				}
			}
		case <-interrupted:
			interrupted = nil
			if err := runner.Cancel(context.WithoutCancel(ctx), handle.ID, "interrupted"); err != nil && blueprint.CodeOf(err) != blueprint.CodeConflict {
				return nil, err
			}
		case <-rested:
			if progress != nil && err == nil {
				progress.show(outcome)
				progress.end()
			}
			return outcome, err
		}
	}
}

// printOutcome writes the status record with its output, and gives the exit
// code as an error.
func printOutcome(out io.Writer, x *blueprint.Execution) error {
	record := struct {
		*blueprint.ExecutionStatus
		Output any                 `json:"output"`
		Error  *blueprint.RunError `json:"error,omitempty"`
	}{&x.ExecutionStatus, x.Output, x.Failure}
	data, err := indented(record)
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
		return &exit{code: exitPaused, message: "the run is paused and waits for " + what, hint: "import the file into a server to answer it: blueprintd import " + "FILE"}
	default:
		return &exit{code: exitFailed, message: "the run failed: " + failureText(x)}
	}
}

func failureText(x *blueprint.Execution) string {
	if x.Failure == nil {
		return string(x.Status)
	}
	if x.Failure.NodeID == "" {
		return x.Failure.Message
	}
	return fmt.Sprintf("node %q: %s", x.Failure.NodeID, x.Failure.Message)
}

// isTerminal tells whether out is a terminal.
func isTerminal(out io.Writer) bool {
	f, ok := out.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
