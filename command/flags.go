package command

import (
	"cmp"
	"errors"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/command/cli"
)

// variableOf returns the environment variable of a flag: BLUEPRINTD_<FLAG>.
func variableOf(flag string) string {
	return "BLUEPRINTD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// noVariable marks a flag that has no environment variable.
var noVariable = []string{}

// lineOnly are the flags without an environment variable: they describe one call of a
// command, and the same name means different things to different commands.
var lineOnly = []string{"adopt", "apply", "bail", "blueprint", "exit-code", "force", "name", "no-run", "open", "prune", "replay", "run", "test", "update", "watch"}

func under(category string, flags ...cli.Flag) []cli.Flag {
	for _, flag := range flags {
		*flag.Section() = category
	}
	return flags
}

// bindEnvironment adds its environment variable to each flag that can have one. An
// empty variable counts as unset.
func bindEnvironment(flags []cli.Flag) {
	for _, flag := range flags {
		variables := flag.Variables()
		if slices.Contains(lineOnly, flag.Names()[0]) || *variables != nil {
			continue
		}
		name := variableOf(flag.Names()[0])
		if os.Getenv(name) == "" {
			os.Unsetenv(name)
		}
		*variables = []string{name}
	}
}

// lineFlags is the key of the flags on the command line in the application's metadata,
// a map[string]bool set by flagsFirst.
const lineFlags = "line"

func onLine(c *cli.Context, name string) bool {
	flags, _ := c.App.Metadata[lineFlags].(map[string]bool)
	return flags[name]
}

// given returns the name under which the user set a flag: --name, or its environment
// variable.
func given(c *cli.Context, name string) string {
	if c.IsSet(name) && !onLine(c, name) {
		return variableOf(name)
	}
	return dashes(name)
}

func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// flagError turns a mistake in the use of a flag into a usage error.
func flagError(c *cli.Context, err error) error {
	hint := "run " + c.Command.HelpName + " --help to list the flags"
	var wrong *cli.FlagError
	switch {
	case !errors.As(err, &wrong):
		return usage(hint, "%s", err)
	case errors.Is(err, cli.ErrUnknown):
		if c.Command.HelpName == "blueprintd" {
			hint = "write flags after the command; run blueprintd help to list the commands"
		}
		var names []string
		for _, flag := range c.Command.Flags {
			names = append(names, flag.Names()[0])
		}
		meant := ""
		if near := blueprint.Nearest(wrong.Name, names); near != "" {
			meant = "; did you mean " + dashes(near) + "?"
		}
		return usage(hint, "%s has no flag %s%s", c.Command.HelpName, dashes(wrong.Name), meant)
	case errors.Is(err, cli.ErrBare):
		return usage(hint, "%s needs a value", dashes(wrong.Name))
	case errors.Is(err, cli.ErrValue):
		return usage(hint, "%s %s: %s", cmp.Or(wrong.Variable, dashes(wrong.Name)), wrong.Value, wanted(cli.FindFlag(c.Command.Flags, wrong.Name)))
	}
	return usage(hint, "%s", err)
}

func wanted(flag cli.Flag) string {
	switch flag.(type) {
	case *cli.DurationFlag:
		return "want a duration such as 5s"
	case *cli.IntFlag:
		return "want a whole number"
	case *cli.Float64Flag:
		return "want a number"
	case *cli.BoolFlag:
		return "want true or false"
	}
	return "cannot be read"
}

// flagsFirst moves the flags of the called command before its arguments, as the library
// stops reading flags at the first argument. It records the flags for onLine.
func flagsFirst(app *cli.App, args []string) []string {
	commands, at := app.Commands, 1
	var flags []cli.Flag
	for at < len(args) {
		command := find(commands, args[at])
		if command == nil {
			break
		}
		flags, commands = command.Flags, command.Subcommands
		at++
	}
	out := slices.Clone(args[:min(at, len(args))])
	var values []string
	onLine := map[string]bool{}
	app.Metadata[lineFlags] = onLine
	for i := at; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			values = append(values, args[i+1:]...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			values = append(values, arg)
			continue
		}
		out = append(out, arg)
		name, _, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		onLine[name] = true
		if !joined && takesValue(flags, name) {
			if i++; i == len(args) {
				return out // so that no argument is read as the missing value
			}
			out = append(out, args[i])
		}
	}
	if len(values) > 0 && flags != nil {
		out = append(out, "--")
	}
	return append(out, values...)
}

func find(commands []*cli.Command, name string) *cli.Command {
	if i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) }); i >= 0 {
		return commands[i]
	}
	return nil
}

func takesValue(flags []cli.Flag, name string) bool {
	flag := cli.FindFlag(flags, name)
	return flag != nil && flag.TakesValue()
}

// sizeFlag reads a flag whose value is a size of at least a number of bytes.
func sizeFlag(c *cli.Context, name, example string, least int64) (int64, error) {
	text, hint := c.String(name), "--"+name+" "+example
	n, err := parseSize(text)
	where := strings.TrimSpace(given(c, name) + " " + text)
	switch {
	case err != nil:
		return 0, usage(hint, "%s: %s", where, err)
	case n < least:
		return 0, usage(hint, "%s: want at least %s", where, blueprint.Counted(int(least), "byte"))
	}
	return n, nil
}

// sizeUnits are the units of a size, with their bytes; the longer suffixes come first.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}

// parseSize reads a number of bytes such as 500, 64KiB or 2.5GB.
func parseSize(text string) (int64, error) {
	for _, unit := range sizeUnits {
		digits, ok := strings.CutSuffix(strings.TrimSpace(text), unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err != nil || !(n >= 0) {
			break
		}
		if n*unit.bytes > math.MaxInt64/2 {
			return 0, errors.New("is larger than any disk")
		}
		return int64(n * unit.bytes), nil
	}
	return 0, errors.New("want a size such as 500 or 10MiB")
}
