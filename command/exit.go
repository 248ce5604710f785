package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

// The exit codes, besides 0 for done.
const (
	ExitFailed = 1
	ExitUsage  = 2
	exitPaused = 3
)

// exit is an error that ends the program with a code. Message may be empty
// when everything was said already.
type exit struct {
	code    int
	message string
	hint    string
}

// Error returns the message.
func (e *exit) Error() string { return e.message }

// usage refuses a command line: exit code 2.
func usage(hint, format string, args ...any) error {
	return &exit{code: ExitUsage, message: fmt.Sprintf(format, args...), hint: hint}
}

// report prints an error, one line and perhaps a hint, and gives the exit code.
func report(out io.Writer, err error) int {
	code, message, hint := explained(err)
	for _, line := range []struct{ prefix, text string }{{"blueprintd: ", message}, {"hint: ", hint}} {
		if text := strings.TrimSpace(line.text); text != "" {
			fmt.Fprintln(out, line.prefix+blueprint.OneLine(strings.ReplaceAll(text, "\n", "; ")))
		}
	}
	return code
}

// explained says an error as its reader needs it: what is meant for users
// without the operations that it went through, anything else with all of them.
func explained(err error) (code int, message, hint string) {
	var end *exit
	var input *blueprint.InputError
	var library cli.ExitCoder
	switch {
	case errors.As(err, &end):
		return end.code, end.message, end.hint
	case errors.As(err, &input):
		return ExitUsage, input.Message, input.Hint
	case errors.As(err, &library): // help of a command that does not exist
		return ExitUsage, library.Error(), "blueprintd help lists the commands"
	}
	message, hint = blueprint.DescribeError(err)
	return ExitFailed, message, hint
}
