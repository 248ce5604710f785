package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

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
			fmt.Fprintln(out, line.prefix+blueprint.OneLine(strings.ReplaceAll(text, "\n", "; ")))
		}
	}
	return code
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
