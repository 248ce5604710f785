package command

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

// variableOf names the environment variable of a flag: BLUEPRINTD_<FLAG>.
func variableOf(flag string) string {
	return "BLUEPRINTD_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// noVariable are the EnvVars of a flag that is heard on the command line alone.
var noVariable = []string{}

// lineOnly are the flags that say what one call of a command is to do, or to whom.
// They have no variable: one would reach every command that has such a flag, and
// mean another thing to each.
var lineOnly = []string{"adopt", "apply", "bail", "blueprint", "exit-code", "force", "name", "no-run", "open", "prune", "replay", "run", "test", "update", "watch"}

// bindEnvironment gives each flag its environment variable, but for those that
// have none. A variable that is set to nothing is the same as none.
func bindEnvironment(flags []cli.Flag) {
	for _, flag := range flags {
		if text, ok := flag.(*cli.StringFlag); slices.Contains(lineOnly, flag.Names()[0]) || ok && text.EnvVars != nil {
			continue
		}
		name := variableOf(flag.Names()[0])
		if os.Getenv(name) == "" {
			os.Unsetenv(name)
		}
		names := []string{name}
		switch f := flag.(type) {
		case *cli.StringFlag:
			f.EnvVars = names
		case *cli.BoolFlag:
			f.EnvVars = names
		case *cli.IntFlag:
			f.EnvVars = names
		case *cli.Float64Flag:
			f.EnvVars = names
		case *cli.DurationFlag:
			f.EnvVars = names
		case *cli.StringSliceFlag:
			f.EnvVars = names
		case *listFlag:
			f.EnvVars = names
		default:
			panic(fmt.Sprintf("flag %s is of a kind that has no environment variable", name))
		}
	}
}

// lineNotes is where flagsFirst notes the flags that stand on the command line.
const lineNotes = "line"

// onLine reports whether a flag stands on the command line.
func onLine(c *cli.Context, name string) bool {
	stands, _ := c.App.Metadata[lineNotes].(map[string]bool)
	return stands[name]
}

// given names a flag as the user wrote it: by its environment variable when
// the value is from there.
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

// The errors that the library knows about flags.
var (
	flagUnknown = regexp.MustCompile(`^flag provided but not defined: -+(.*)$`)
	flagBare    = regexp.MustCompile(`^flag needs an argument: -+(.*)$`)
	flagInvalid = regexp.MustCompile(`(?s)^invalid (?:boolean )?value (".*") for (?:flag )?-+([a-z0-9-]+): `)
	flagFromEnv = regexp.MustCompile(`(?s)^could not parse (".*") as .* from environment variable "([A-Z0-9_]+)" for flag ([a-z0-9-]+): `)
)

// flagError says in our words what is wrong with a flag: with the command and
// the flag as people write them, and what to write.
func flagError(c *cli.Context, err error, _ bool) error {
	hint := c.Command.HelpName + " --help lists the flags"
	text := err.Error()
	if match := flagUnknown.FindStringSubmatch(text); match != nil {
		if c.Command.HelpName == "blueprintd" {
			hint = "flags stand after the command; blueprintd help lists the commands"
		}
		var names []string
		for _, flag := range c.Command.Flags {
			for _, name := range flag.Names() {
				if len(name) > 1 {
					names = append(names, name)
				}
			}
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

// wanted says what a flag takes.
func wanted(flag cli.Flag) string {
	switch flag.(type) {
	case *cli.DurationFlag:
		return "is no duration; write 5s"
	case *cli.IntFlag:
		return "is no whole number; write 100"
	case *cli.Float64Flag:
		return "is no number; write 50"
	case *cli.BoolFlag:
		return "is neither true nor false"
	}
	return "cannot be read"
}

// listFlag is a flag that may be given several times and whose values are never
// split, for they may hold commas. Its environment variable, which holds a
// comma-separated list, is heard when the flag is not on the command line.
type listFlag struct{ cli.GenericFlag }

// Apply makes the flag known to a set.
func (f *listFlag) Apply(set *flag.FlagSet) error {
	values := &list{}
	if text := os.Getenv(f.EnvVars[0]); text != "" {
		values.items, values.preset = strings.Split(text, ","), true
		f.HasBeenSet = true
	}
	set.Var(values, f.Name, f.Usage)
	return nil
}

// list is the value of a listFlag.
type list struct {
	items  []string
	preset bool // the items are from the environment
}

// Set adds a value.
func (l *list) Set(value string) error {
	if l.preset {
		l.items, l.preset = nil, false
	}
	l.items = append(l.items, value)
	return nil
}

// String joins the values.
func (l *list) String() string { return strings.Join(l.items, ",") }
