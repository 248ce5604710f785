// Package command is the command line: one file per command, with its flags and its
// help. A command turns flags into plain values for the packages below, and their
// results into text, JSON and an exit code. Only this package knows flags and exit
// codes; errors from below carry their own hint.
package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// Program describes the executable.
type Program struct {
	Version string
	Schema  string // SQL of the database
}

// programKey is the key of the Program in the application's metadata.
const programKey = "program"

func programOf(c *cli.Context) Program { return c.App.Metadata[programKey].(Program) }

// reading is held while a command line is read: the library's help command and help flag
// are variables that it writes to. readKey is the key of the function that releases it in
// the application's metadata.
var reading sync.Mutex

const readKey = "read"

// Main runs the command named by args, of which the first is the program's name, and
// returns the exit code: 0 success, 1 failure, 2 wrong usage, 3 a paused run. It may be
// called concurrently.
func Main(p Program, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return profiled(os.Getenv(cpuProfile), stderr, func() int { return runCommand(p, args, stdin, stdout, stderr) })
}

func runCommand(p Program, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) > 1 && slices.Contains([]string{"--version", "-version", "-v"}, args[1]) {
		args = append([]string{args[0], "version"}, args[2:]...)
	}
	app := application(p, stdin, stdout, stderr)
	reading.Lock()
	read := sync.OnceFunc(reading.Unlock)
	defer read()
	app.Metadata[readKey] = read
	if len(args) > 1 && args[len(args)-1] == completionAsked {
		completeLine(app, args[1:len(args)-1], stdout)
		return 0
	}
	if err := app.RunContext(context.Background(), flagsFirst(app, args)); err != nil {
		return report(stderr, err)
	}
	return 0
}

// untilInterrupted returns a context that is canceled by the first SIGINT, SIGTERM or
// SIGHUP. The second one ends the process, as the first does in commands without cleanup;
// further SIGHUPs have no effect, since a closing terminal sends several. Under nohup all
// of them are ignored.
func untilInterrupted(ctx context.Context) (context.Context, func()) {
	hungUp := func() {}
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, hungUp = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, func() {
		stop()
		hungUp()
	}
}

func application(p Program, stdin io.Reader, stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name: "blueprintd", Usage: "workflow automation in one executable", Version: p.Version, HideVersion: true,
		Metadata: map[string]any{programKey: p},
		Reader:   stdin, Writer: stdout, ErrWriter: stderr,
		ExitErrHandler: func(*cli.Context, error) {}, // runCommand prints errors and chooses the code
		OnUsageError:   flagError,
		Commands: []*cli.Command{
			commandServe(), commandUser(), commandKey(), commandRun(), commandTest(), commandReplay(), commandValidate(), commandExport(), commandExportRun(), commandOpen(), commandImport(), commandSync(), commandDev(), commandConvert(), commandDoctor(), commandWhy(), commandAudit(),
			commandBackup(), commandRestore(), commandMove(), commandMasterKey(),
			commandSDK(), commandSchema(), commandDocs(), commandCompletion(), commandHealth(), commandVersion(),
		},
		Action: func(c *cli.Context) error {
			if name := c.Args().First(); name != "" {
				return usage("run blueprintd help to list the commands", "unknown command %q%s", name, blueprint.DidYouMean(name, commandNames(c.App.Commands)))
			}
			if err := cli.ShowAppHelp(c); err != nil {
				return err
			}
			return usage("blueprintd serve", "name a command")
		},
	}
	for _, command := range app.Commands {
		complete(command)
	}
	return app
}

// complete adds what all commands share: environment variables, help, errors about
// flags, and the check of the number of arguments.
func complete(command *cli.Command) {
	command.OnUsageError = flagError
	bindEnvironment(command.Flags)
	if act := command.Action; command.Subcommands == nil {
		command.CustomHelpTemplate = helpTemplate(command)
		command.Action = func(c *cli.Context) error {
			if err := checkArguments(c); err != nil {
				return err
			}
			c.App.Metadata[readKey].(func())()
			return act(c)
		}
	} else {
		command.Action = chooseSubcommand
	}
	for _, below := range command.Subcommands {
		complete(below)
	}
}

// checkArguments compares the number of arguments with the usage line of the command.
// Commands with other forms of arguments check them themselves.
func checkArguments(c *cli.Context) error {
	example, _, _ := strings.Cut(c.Command.UsageText, "\n")
	n, form := c.NArg(), c.Command.ArgsUsage
	want := map[string]string{"FILE": "one file", "DIR": "one folder", "ID": "one id"}[form]
	switch {
	case form == "" && n > 0:
		return usage("run "+c.Command.HelpName+" --help to see its usage", "%s takes no arguments, got %q", short(c), c.Args().First())
	case form == "FILE..." && n == 0:
		return usage(example, "%s takes at least one file", short(c))
	case want != "" && (n != 1 || c.Args().First() == ""):
		return usage(example, "%s takes %s", short(c), want)
	}
	return nil
}

// helpTemplate returns the help of a command. UsageText holds its examples. Flags
// without a category come first, then each category in the order of its first flag;
// the library would sort both by name.
func helpTemplate(command *cli.Command) string {
	const head = `NAME:
   {{.HelpName}} - {{.Usage}}

USAGE:
   {{.HelpName}} [options]{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}{{if .Description}}

DESCRIPTION:
   {{wrap .Description 3}}{{end}}

EXAMPLES:
   {{wrap .UsageText 3}}
`
	categories, lines := []string{""}, map[string]string{}
	for _, flag := range command.Flags {
		if _, category := settings(flag); flag.(cli.VisibleFlag).IsVisible() {
			if !slices.Contains(categories, *category) {
				categories = append(categories, *category)
			}
			names, usage, _ := strings.Cut(flag.String(), "\t")
			names, _, _ = strings.Cut(names, " [ ") // the second mention of a flag that may be repeated
			lines[*category] += "   " + names + "\t" + usage + "\n"
		}
	}
	text := head
	for _, category := range categories {
		if lines[category] != "" {
			text += "\n" + strings.ToUpper(cmp.Or(category, "options")) + ":\n" + lines[category]
		}
	}
	return text
}

// chooseSubcommand is the action of a command that only groups others.
func chooseSubcommand(c *cli.Context) error {
	hint := "run " + c.Command.HelpName + " --help to list its commands"
	if name := c.Args().First(); name != "" {
		return usage(hint, "unknown command %q%s", short(c)+" "+name, blueprint.DidYouMean(name, commandNames(c.Command.Subcommands)))
	}
	if err := cli.ShowSubcommandHelp(c); err != nil {
		return err
	}
	return usage(hint, "%s needs one of its commands", short(c))
}

func commandNames(commands []*cli.Command) (names []string) {
	for _, command := range commands {
		if !command.Hidden {
			names = append(names, command.Name)
		}
	}
	return names
}

// short returns the name of a command without that of the program.
func short(c *cli.Context) string {
	return strings.TrimPrefix(c.Command.HelpName, "blueprintd ")
}

// cpuProfile is an environment variable for developers: the file that receives a CPU
// profile of the whole process, for `go tool pprof`. There is no flag or endpoint for
// it, so that only a user who can start the program can turn it on. The profile is
// complete when the process ends by itself or at the first SIGTERM.
const cpuProfile = "BLUEPRINTD_CPU_PROFILE"

// profiled calls work, under a CPU profile when path is not empty, and returns its exit
// code. It does not overwrite a file: the variable may have stayed set by accident.
func profiled(path string, stderr io.Writer, work func() int) int {
	if path == "" {
		return work()
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return report(stderr, usage("name a file that does not exist yet, or unset it", "%s %s: %v", cpuProfile, path, fileio.Cause(err)))
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		file.Close()
		return report(stderr, blueprint.Hinted("unset "+cpuProfile, "cannot profile: %v", err))
	}
	code := work()
	pprof.StopCPUProfile()
	if err := file.Close(); err != nil {
		fmt.Fprintf(stderr, "%s: the profile %s is incomplete: %v\n", cpuProfile, path, fileio.Cause(err))
		code = max(code, ExitFailed)
	}
	return code
}

// The exit codes besides 0.
const (
	ExitFailed = 1
	ExitUsage  = 2
	exitPaused = 3
)

// exit is an error with an exit code. An empty message prints nothing.
type exit struct {
	code    int
	message string
	hint    string
}

func (e *exit) Error() string { return e.message }

// usage returns an error with exit code 2. The hint is an imperative, or an example of a
// flag or of a command line.
func usage(hint, format string, args ...any) error {
	switch {
	case strings.HasPrefix(hint, "--"):
		hint = "write " + hint
	case strings.HasPrefix(hint, "blueprintd "):
		hint = "run " + hint
	}
	return &exit{code: ExitUsage, message: fmt.Sprintf(format, args...), hint: hint}
}

// exclude refuses two flags that contradict each other.
func exclude(format string, args ...any) error {
	return usage("leave one of them out", format, args...)
}

// report prints an error and its hint, a line each, and returns the exit code.
func report(out io.Writer, err error) int {
	code, message, hint := explained(err)
	for _, line := range []struct{ prefix, text string }{{"blueprintd: ", message}, {"hint: ", hint}} {
		if text := strings.TrimSpace(line.text); text != "" {
			fmt.Fprintln(out, line.prefix+blueprint.OneLine(joinLines(text)))
		}
	}
	return code
}

// joinLines puts the different lines of a text on one, after a colon or with a semicolon.
func joinLines(text string) string {
	joined, last := "", ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line == last:
			continue
		case strings.HasSuffix(joined, ":"):
			joined += " "
		case joined != "":
			joined += "; "
		}
		joined, last = joined+line, line
	}
	return joined
}

// explained returns what to print for an error: a message for users without the
// operations that wrap it, any other error in full.
func explained(err error) (code int, message, hint string) {
	var end *exit
	var input *blueprint.InputError
	var library cli.ExitCoder
	switch {
	case errors.As(err, &end):
		return end.code, end.message, end.hint
	case errors.As(err, &input):
		return ExitUsage, input.Message, input.Hint
	case errors.As(err, &library): // help of an unknown command
		return ExitUsage, library.Error(), "run blueprintd help to list the commands"
	}
	message, hint = blueprint.DescribeError(err)
	return ExitFailed, message, hint
}
