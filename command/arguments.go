package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagsFirst moves the flags of the called command before its arguments: the
// library stops looking for flags at the first argument, people do not. It
// notes in the app which flags stand there; see onLine.
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
	out := append([]string(nil), args[:min(at, len(args))]...)
	var values []string
	stands := map[string]bool{}
	app.Metadata[lineNotes] = stands
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
		stands[name] = true
		if !joined && takesValue(flags, name) {
			if i++; i == len(args) {
				return out // so that nothing is taken for its value
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
	for _, command := range commands {
		if command.HasName(name) {
			return command
		}
	}
	return nil
}

func findFlag(flags []cli.Flag, name string) cli.Flag {
	for _, flag := range flags {
		for _, known := range flag.Names() {
			if known == name {
				return flag
			}
		}
	}
	return nil
}

func takesValue(flags []cli.Flag, name string) bool {
	flag := findFlag(flags, name)
	_, isBool := flag.(*cli.BoolFlag)
	return flag != nil && !isBool
}

// errTooLarge refuses a size that no number of bytes here is.
var errTooLarge = errors.New("larger than any disk")

// parseSize reads a number of bytes: 500, 64KiB, 10MiB, 2GiB, or KB, MB, GB in
// powers of a thousand.
func parseSize(text string) (int64, error) {
	units := []struct {
		name   string
		factor float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1}, {"", 1}}
	for _, unit := range units {
		digits, ok := strings.CutSuffix(strings.TrimSpace(text), unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
		if err == nil && n*unit.factor > math.MaxInt64/2 {
			return 0, fmt.Errorf("%q is %w", text, errTooLarge)
		}
		if err != nil || !(n >= 0) {
			break
		}
		return int64(n * unit.factor), nil
	}
	return 0, fmt.Errorf("%q is no size; write bytes or, say, 10MiB", text)
}
