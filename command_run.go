package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/clock"
	"blueprintd/engine"
	"blueprintd/engine/nodes"
	"blueprintd/ids"
	"blueprintd/outbound"
	"blueprintd/sandbox"
	"blueprintd/secret"
)

func commandRun() *cli.Command {
	return &cli.Command{
		Name: "run", Usage: "run a blueprint file without a server", ArgsUsage: "FILE",
		Description: "Prints the run's status record, with its output, as JSON on standard output; progress goes to standard error.\n" +
			"Exits with 0 when the run completed, 1 when it failed, 2 when the file is bad, 3 when it is paused. A FILE of - is standard input.",
		Flags: []cli.Flag{
			&listFlag{cli.GenericFlag{Name: "var", Usage: "set a variable, as in `NAME=VALUE`; may be repeated, and is never split, but for the commas of its environment variable"}},
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
	b, err := loadForRun(c, c.Args().First())
	if err != nil {
		return err
	}
	declared, _ := blueprint.ParseVariables(b.variables)
	variables, err := parseVars(given(c, "var"), declared, c.Generic("var").(*list).items)
	if err != nil {
		return err
	}
	if !utf8.ValidString(c.String("input")) {
		return usage(inputHint, "%s: is not valid UTF-8", given(c, "input"))
	}
	input, err := blueprint.Decode([]byte(c.String("input")))
	if err != nil {
		return usage(inputHint, "%s: %s", given(c, "input"), err)
	}
	allow, err := prefixes("allow-net", given(c, "allow-net"), c.StringSlice("allow-net"))
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
	scripts := sandbox.New(sandbox.Options{})
	defer runScripts(scripts)()
	journal := newMemoryJournal(definition)
	runner := engine.New(engine.Options{
		Catalogue: catalogueOf(nodes.Dependencies{HTTP: outbound.New(outbound.Options{Allow: allow}), Scripts: scripts, Clock: clock.Real{}}),
		Journal:   journal, Clock: clock.Real{}, IDs: source, Sealer: sealer, Logger: slog.New(slog.NewTextHandler(c.App.ErrWriter, &slog.HandlerOptions{Level: slog.LevelError})),
		Drain: time.Second,
	})
	interrupted, release := untilInterrupted(c.Context)
	defer release()
	ctx, stop := context.WithCancel(c.Context)
	ended := make(chan error, 1)
	started := make(chan struct{})
	go func() { ended <- runner.Run(ctx, func() { close(started) }) }()
	<-started
	outcome, err := follow(interrupted, c.App.ErrWriter, runner, journal, &blueprint.StartRequest{
		Definition: definition, Principal: blueprint.Principal{UserID: source.UUID()}, CanManage: true, Variables: variables, InputData: input,
	})
	stop()
	if ended := <-ended; err == nil {
		err = ended
	}
	if err != nil {
		return err
	}
	return printOutcome(c.App.Writer, outcome, c.Args().First())
}

// follow runs a request to its end, showing on a terminal how far it is. An
// interrupt cancels the run.
func follow(ctx context.Context, out io.Writer, runner *engine.Engine, journal *memoryJournal, request *blueprint.StartRequest) (*blueprint.Execution, error) {
	handle, err := runner.Start(request, engine.AtEnd)
	if err != nil {
		var known *blueprint.Error
		if errors.As(err, &known) && known.Code == blueprint.CodeBadRequest {
			return nil, usage(inputHintFor(known), "%s", known.Message)
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
// code of the run of a file as an error.
func printOutcome(out io.Writer, x *blueprint.Execution, name string) error {
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
		return &exit{code: exitPaused, message: "the run is paused and waits for " + what, hint: "only a server takes answers; store the file in one: blueprintd import " + quoted(name)}
	default:
		return failed(`"steps" of the record on standard output tells what became of each node`, "the run failed: %s", failureText(x))
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
