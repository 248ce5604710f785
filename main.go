// Command blueprintd stores blueprints (graphs of nodes), runs them, and
// starts them on a schedule, a webhook, an API call or by hand. It is one
// process with its database inside.
//
// The way of a webhook, socket to stored result: net/http hands the request to
// triggers, which finds the trigger's binding in memory, checks the signature
// over the raw body, and asks engine for a run. The engine walks the
// blueprint's plan; nodes without side effects cost no commit of their own.
// The run and its row in the firing ledger reach the disk in one transaction
// of store's single writer, together with whatever else queued up behind it,
// and only then is the sender answered.
//
// This package is the roof: it parses the command line (command_*.go), wires
// the rooms (server.go) and mounts their handlers. The rooms do not know each
// other; what one needs of another it declares as an interface, and the small
// adapters stand in wiring.go.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	_ "time/tzdata" // zones on machines that have none

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

// version is set by the release build.
var version = "0.1.0-dev"

//go:embed schema.sql
var schema string

func main() { os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr)) }

// The exit codes, besides 0 for done.
const (
	exitFailed = 1
	exitUsage  = 2
	exitPaused = 3
)

// exit is an error that ends the program with a code. Message may be empty
// when everything was said already.
type exit struct {
	code    int
	message string
	hint    string
}

// Error gives the message.
func (e *exit) Error() string { return e.message }

// usage refuses a command line: exit code 2.
func usage(hint, format string, args ...any) error {
	return &exit{code: exitUsage, message: fmt.Sprintf(format, args...), hint: hint}
}

// failed ends a command that could not do its work: exit code 1.
func failed(hint, format string, args ...any) error {
	return &exit{code: exitFailed, message: fmt.Sprintf(format, args...), hint: hint}
}

// run is the whole program: it gives the exit code. Tests call it too.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	app := application(stdin, stdout, stderr)
	err := app.RunContext(ctx, flagsFirst(app, args))
	if err == nil {
		return 0
	}
	code, hint := exitFailed, ""
	var end *exit
	var known *blueprint.Error
	switch {
	case errors.As(err, &end):
		code, hint = end.code, end.hint
		if end.message == "" {
			return code
		}
	case errors.As(err, &known):
		hint = known.Hint
	}
	// One line each, whatever the error's text holds.
	fmt.Fprintln(stderr, "blueprintd: "+strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	if hint != "" {
		fmt.Fprintln(stderr, "hint: "+hint)
	}
	return code
}

// application is the table of commands.
func application(stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	onUsage := func(_ *cli.Context, err error, _ bool) error {
		return usage("blueprintd help COMMAND lists the flags", "%s", err)
	}
	app := &cli.App{
		Name: "blueprintd", Usage: "workflow automation in one executable", Version: version, HideVersion: true,
		Reader: stdin, Writer: stdout, ErrWriter: stderr, EnableBashCompletion: true,
		ExitErrHandler: func(*cli.Context, error) {}, // run prints and chooses the code
		OnUsageError:   onUsage,
		Commands: []*cli.Command{
			commandServe(), commandUser(), commandKey(), commandRun(), commandValidate(), commandExport(), commandImport(),
			{Name: "version", Usage: "print the version", Action: func(c *cli.Context) error {
				_, err := fmt.Fprintln(c.App.Writer, "blueprintd", version)
				return err
			}},
		},
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return usage("blueprintd help lists the commands", "unknown command %q", name)
			}
			return cli.ShowAppHelp(c)
		},
	}
	var each func(commands []*cli.Command)
	each = func(commands []*cli.Command) {
		for _, command := range commands {
			command.OnUsageError = onUsage
			if command.Subcommands != nil && command.Action == nil {
				command.Action = func(c *cli.Context) error {
					if name := c.Args().First(); name != "" {
						return usage("blueprintd help "+c.Command.Name+" lists its commands", "unknown command %q", c.Command.Name+" "+name)
					}
					return cli.ShowSubcommandHelp(c)
				}
			}
			each(command.Subcommands)
		}
	}
	each(app.Commands)
	return app
}
