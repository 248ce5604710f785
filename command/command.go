// Package command is the command line: one file a command, with its flags and the
// text of its help. A command turns flags into plain values for the packages below,
// and what comes back into lines, JSON and an exit code. Only this package knows flags
// and exit codes: errors from below carry their hint themselves.
package command

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

// Program is what only the main package knows of the program.
type Program struct {
	Version string
	Schema  string // of the database, SQL
}

// programNote is where the program stands in the metadata of the application.
const programNote = "program"

// programOf returns the program that a command belongs to.
func programOf(c *cli.Context) Program { return c.App.Metadata[programNote].(Program) }

// Main is the whole program: it runs the command that args name, the first of
// them the program's own name, and returns the exit code: 0 for done, 1 for failed,
// 2 for a command line that cannot be, 3 for a run that pauses.
func Main(p Program, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return profiled(os.Getenv(cpuProfile), stderr, func() int { return runCommand(p, args, stdin, stdout, stderr) })
}

func runCommand(p Program, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 1 && slices.Contains([]string{"--version", "-version", "-v"}, args[1]) {
		args = append([]string{args[0], "version"}, args[2:]...)
	}
	app := application(p, stdin, stdout, stderr)
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

// untilInterrupted returns a context that ends with the first SIGINT or SIGTERM;
// the second one ends the process at once, as if nobody listened. Commands that
// have nothing to bring to rest do without it and end at the first one.
func untilInterrupted(ctx context.Context) (context.Context, func()) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// application is the table of commands.
func application(p Program, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name: "blueprintd", Usage: "workflow automation in one executable", Version: p.Version, HideVersion: true,
		Metadata: map[string]any{programNote: p},
		Reader:   stdin, Writer: stdout, ErrWriter: stderr,
		ExitErrHandler: func(*cli.Context, error) {}, // run prints and chooses the code
		OnUsageError:   flagError,
		Commands: []*cli.Command{
			commandServe(), commandUser(), commandKey(), commandRun(), commandTest(), commandReplay(), commandValidate(), commandExport(), commandExportRun(), commandOpen(), commandImport(), commandSync(), commandDev(), commandConvert(), commandDoctor(), commandWhy(), commandAudit(),
			commandBackup(), commandRestore(), commandMasterKey(),
			commandSchema(), commandDocs(), commandCompletion(), commandHealth(), commandVersion(),
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

// short returns the words that call a command, without the program's name.
func short(c *cli.Context) string {
	return strings.TrimPrefix(c.Command.HelpName, "blueprintd ")
}
