package command

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

// variableOf returns the environment variable of a flag: BLUEPRINTD_<FLAG>.
func variableOf(flag string) string {
	return "BLUEPRINTD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// noVariable marks a flag that has no environment variable.
var noVariable = []string{}

// lineOnly are the flags without an environment variable: they describe one call of a
// command, and the same name means different things to different commands.
var lineOnly = []string{"adopt", "apply", "bail", "blueprint", "exit-code", "force", "import-path", "name", "no-run", "open", "package", "prune", "replay", "run", "tarball", "test", "update", "watch"}

// settings returns the fields of a flag that the library exports by type alone: its
// environment variables and the category of its help.
func settings(flag cli.Flag) (variables *[]string, category *string) {
	switch f := flag.(type) {
	case *cli.StringFlag:
		return &f.EnvVars, &f.Category
	case *cli.BoolFlag:
		return &f.EnvVars, &f.Category
	case *cli.IntFlag:
		return &f.EnvVars, &f.Category
	case *cli.Float64Flag:
		return &f.EnvVars, &f.Category
	case *cli.DurationFlag:
		return &f.EnvVars, &f.Category
	case *cli.StringSliceFlag:
		return &f.EnvVars, &f.Category
	case *listFlag:
		return &f.EnvVars, &f.Category
	}
	panic(fmt.Sprintf("flag %s is of an unknown type", flag.Names()[0]))
}

func under(category string, flags ...cli.Flag) []cli.Flag {
	for _, flag := range flags {
		_, field := settings(flag)
		*field = category
	}
	return flags
}

// bindEnvironment adds its environment variable to each flag that can have one. An
// empty variable counts as unset.
func bindEnvironment(flags []cli.Flag) {
	for _, flag := range flags {
		if f, ok := flag.(*cli.BoolFlag); ok {
			f.DisableDefaultText = true // it is always false
		}
		variables, _ := settings(flag)
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

// misspelt returns the variables of an environment that no command has but whose names are
// nearly those of given flags, with the right names.
func misspelt(environment []string, flags []cli.Flag, commands []*cli.Command) (meant map[string]string) {
	known, possible := []string{cpuProfile}, variablesOf(flags)
	for _, command := range commands {
		known = append(known, variablesOf(command.Flags)...)
		for _, below := range command.Subcommands {
			known = append(known, variablesOf(below.Flags)...)
		}
	}
	meant = map[string]string{}
	for _, setting := range environment {
		name, value, _ := strings.Cut(setting, "=")
		if value == "" || !strings.HasPrefix(name, "BLUEPRINT") || slices.Contains(known, name) {
			continue
		}
		if near := blueprint.Nearest(name, possible); near != "" {
			meant[name] = near
		}
	}
	return meant
}

func variablesOf(flags []cli.Flag) (names []string) {
	for _, flag := range flags {
		variables, _ := settings(flag)
		names = append(names, *variables...)
	}
	return names
}

// lineFlags is the key of the flags on the command line in the application's metadata,
// a map[string]bool set by flagsFirst.
const lineFlags = "line"

func onLine(c *cli.Context, name string) bool {
	flags, _ := c.App.Metadata[lineFlags].(map[string]bool)
	return flags[name]
}

// given returns the name of a flag as the user set it: --name, or its variable.
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

// The library's error messages about flags.
var (
	flagUnknown = regexp.MustCompile(`^flag provided but not defined: -+(.*)$`)
	flagBare    = regexp.MustCompile(`^flag needs an argument: -+(.*)$`)
	flagInvalid = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-+([a-z0-9-]+): `)
	flagFromEnv = regexp.MustCompile(`(?s)^could not parse (".*") as .* from environment variable "([A-Z0-9_]+)" for flag ([a-z0-9-]+): `)
)

// flagError translates the library's errors about flags into usage errors.
func flagError(c *cli.Context, err error, _ bool) error {
	hint := "run " + c.Command.HelpName + " --help to list the flags"
	text := err.Error()
	if match := flagUnknown.FindStringSubmatch(text); match != nil {
		if c.Command.HelpName == "blueprintd" {
			hint = "write flags after the command; run blueprintd help to list the commands"
		}
		var names []string
		for _, flag := range c.Command.Flags {
			names = append(names, slices.DeleteFunc(flag.Names(), func(name string) bool { return len(name) == 1 })...)
		}
		meant := ""
		if near := blueprint.Nearest(match[1], names); near != "" {
			meant = "; did you mean " + dashes(near) + "?"
		}
		return usage(hint, "%s has no flag %s%s", c.Command.HelpName, dashes(match[1]), meant)
	}
	if match := flagBare.FindStringSubmatch(text); match != nil {
		return usage(hint, "%s needs a value", dashes(match[1]))
	}
	value, name, where := "", "", ""
	if match := flagInvalid.FindStringSubmatch(text); match != nil {
		value, name, where = match[1], match[2], dashes(match[2])
	} else if match := flagFromEnv.FindStringSubmatch(text); match != nil {
		value, where, name = match[1], match[2], match[3]
	} else {
		return usage(hint, "%s", text)
	}
	if plain, err := strconv.Unquote(value); err == nil {
		value = plain
	}
	return usage(hint, "%s %s: %s", where, value, wanted(findFlag(c.Command.Flags, name)))
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

// listFlag may be repeated. Its values are never split, as they may contain commas. Its
// environment variable, a comma-separated list, applies when it is not on the command
// line.
type listFlag struct{ cli.GenericFlag }

func (f *listFlag) Apply(set *flag.FlagSet) error {
	values := &list{}
	if text := os.Getenv(f.EnvVars[0]); text != "" {
		values.items, values.preset = strings.Split(text, ","), true
		f.HasBeenSet = true
	}
	set.Var(values, f.Name, f.Usage)
	return nil
}

type list struct {
	items  []string
	preset bool // the items are from the environment
}

func (l *list) Set(value string) error {
	if l.preset {
		l.items, l.preset = nil, false
	}
	l.items = append(l.items, value)
	return nil
}

func (l *list) String() string { return strings.Join(l.items, ",") }

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

func findFlag(flags []cli.Flag, name string) cli.Flag {
	if i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }); i >= 0 {
		return flags[i]
	}
	return nil
}

func takesValue(flags []cli.Flag, name string) bool {
	flag := findFlag(flags, name)
	_, isBool := flag.(*cli.BoolFlag)
	return flag != nil && !isBool
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
