package command

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

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
