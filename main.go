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
// adapters stand in server.go.
package main

import (
	"context"
	_ "embed"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // zones on machines that have none

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/engine/script"
)

// version is set by the release build.
var version = unreleased

// unreleased is the version of any other build.
const unreleased = "0.1.0-dev"

//go:embed schema.sql
var schema string

func main() {
	script.Child() // a process for the code of blueprints is nothing else
	os.Exit(profiled(os.Getenv(cpuProfile), os.Stderr, func() int { return run(os.Args, os.Stdin, os.Stdout, os.Stderr) }))
}

// run is the whole program: it gives the exit code. Tests call it too.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 1 && slices.Contains([]string{"--version", "-version", "-v"}, args[1]) {
		args = append([]string{args[0], "version"}, args[2:]...)
	}
	app := application(stdin, stdout, stderr)
	if isCompletion(args) {
		completeLine(app, args[1:len(args)-1], stdout)
		return 0
	}
	err := app.RunContext(context.Background(), flagsFirst(app, args))
	if err == nil {
		return 0
	}
	return report(stderr, err)
}

// untilInterrupted gives a context that ends with the first SIGINT or SIGTERM;
// the second one ends the process at once, as if nobody listened. Commands that
// have nothing to bring to rest do without it and end at the first one.
func untilInterrupted(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// application is the table of commands.
func application(stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name: "blueprintd", Usage: "workflow automation in one executable", Version: version, HideVersion: true,
		Reader: stdin, Writer: stdout, ErrWriter: stderr,
		ExitErrHandler: func(*cli.Context, error) {}, // run prints and chooses the code
		OnUsageError:   flagError,
		Commands: []*cli.Command{
			commandServe(), commandUser(), commandKey(), commandRun(), commandTest(), commandReplay(), commandValidate(), commandExport(), commandExportRun(), commandOpen(), commandImport(), commandSync(), commandDev(), commandConvert(), commandDoctor(), commandWhy(), commandAudit(),
			commandBackup(), commandRestore(), commandMasterKey(),
			commandSchema(), commandCompletion(), commandHealth(), commandVersion(),
		},
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return usage("blueprintd help lists the commands", "unknown command %q%s", name, blueprint.DidYouMean(name, commandNames(c.App.Commands)))
			}
			if err := cli.ShowAppHelp(c); err != nil {
				return err
			}
			return usage("blueprintd serve runs the server", "name a command")
		},
	}
	for _, command := range app.Commands {
		complete(command)
	}
	return app
}

// complete gives a command what all have: environment variables, errors about
// flags in our words, and a refusal of arguments that it does not take.
func complete(command *cli.Command) {
	command.OnUsageError = flagError
	bindEnvironment(command.Flags)
	act := command.Action
	switch {
	case command.Subcommands != nil:
		command.Action = chooseSubcommand
	case command.ArgsUsage == "":
		command.Action = func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usage(c.Command.HelpName+" --help shows how to call it", "%s takes no arguments, but %q stands there", short(c), c.Args().First())
			}
			return act(c)
		}
	}
	for _, below := range command.Subcommands {
		complete(below)
	}
}

// chooseSubcommand is what a command does that is only a name for others.
func chooseSubcommand(c *cli.Context) error {
	hint := c.Command.HelpName + " --help lists its commands"
	if name := c.Args().First(); name != "" {
		return usage(hint, "unknown command %q%s", short(c)+" "+name, blueprint.DidYouMean(name, commandNames(c.Command.Subcommands)))
	}
	if err := cli.ShowSubcommandHelp(c); err != nil {
		return err
	}
	return usage(hint, "%s needs one of its commands", short(c))
}

// commandNames lists the names of commands that are shown.
func commandNames(commands []*cli.Command) (names []string) {
	for _, command := range commands {
		if !command.Hidden {
			names = append(names, command.Name)
		}
	}
	return names
}

// short gives the words that call a command, without the program's name.
func short(c *cli.Context) string {
	return strings.TrimPrefix(c.Command.HelpName, "blueprintd ")
}
