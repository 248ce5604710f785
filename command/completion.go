package command

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// bashCompletion asks the program for the words at the cursor; if there are none, bash
// offers files.
const bashCompletion = `_blueprintd() {
  local words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  [[ $2 == -* ]] && words+=("$2")
  COMPREPLY=($(compgen -W "$("${words[@]}" ` + completionAsked + ` 2>/dev/null)" -- "$2"))
}
complete -o default -F _blueprintd blueprintd
`

func commandCompletion() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a script that completes commands and flags in bash", ArgsUsage: "bash",
		UsageText:    "source <(blueprintd completion bash)\nblueprintd completion bash > ~/.local/share/bash-completion/completions/blueprintd",
		BashComplete: func(c *cli.Context) { fmt.Fprintln(c.App.Writer, "bash") },
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 || c.Args().First() != "bash" {
				return usage("run source <(blueprintd completion bash)", "completion supports only bash")
			}
			_, err := fmt.Fprint(c.App.Writer, bashCompletion)
			return err
		},
	}
}

// completionAsked is the last argument of a command line that is to be completed.
const completionAsked = "--generate-bash-completion"

// completeLine writes the possible next words of a command line, each on a line:
// commands, flags, and the arguments that a command lists itself. words are those before
// the cursor, and the one at the cursor if it begins with a dash. It writes nothing
// where a file may follow, so that the shell offers files.
func completeLine(app *cli.App, words []string, out io.Writer) {
	commands := app.Commands
	var called *cli.Command
	at := 0
	for at < len(words) {
		if at == 0 && words[0] == "help" {
			at++
			continue
		}
		next := find(commands, words[at])
		if next == nil {
			break
		}
		called, commands = next, next.Subcommands
		at++
	}
	var flags []cli.Flag
	if called != nil {
		flags = called.Flags
	}
	var arguments, given []string
	for i := at; i < len(words); i++ {
		word, last := words[i], i == len(words)-1
		name, _, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case word == "--":
			if last {
				completeFlag(flags, word, given, out) // "--" may also begin a flag
			}
			return
		case !strings.HasPrefix(word, "-"), word == "-" && !last:
			arguments = append(arguments, word)
		case !joined && takesValue(flags, name):
			if i++; i >= len(words) {
				return // the value is next
			}
			given = append(given, name)
		case last:
			completeFlag(flags, word, given, out)
			return
		default:
			given = append(given, name)
		}
	}
	switch {
	case len(arguments) > 0:
	case len(commands) > 0:
		for _, command := range commands {
			fmt.Fprintln(out, command.Name)
		}
		if len(words) == 0 || words[0] != "help" {
			fmt.Fprintln(out, "help")
		}
	case called != nil && called.BashComplete != nil && words[0] != "help":
		called.BashComplete(cli.NewContext(app, flag.NewFlagSet(called.Name, flag.ContinueOnError), nil))
	}
}

// completeFlag writes the flags that begin with a word and may still be given.
func completeFlag(flags []cli.Flag, word string, given []string, out io.Writer) {
	begun := strings.TrimLeft(word, "-")
	for _, one := range append(slices.Clone(flags), cli.HelpFlag) {
		names := one.Names()
		if shown, is := one.(cli.VisibleFlag); is && !shown.IsVisible() {
			continue
		}
		if !repeatable(one) && slices.ContainsFunc(names, func(name string) bool { return slices.Contains(given, name) }) {
			continue
		}
		for _, name := range names {
			if strings.HasPrefix(name, begun) && strings.HasPrefix(dashes(name), word) && name != begun {
				fmt.Fprintln(out, dashes(name))
			}
		}
	}
}

func repeatable(one cli.Flag) bool {
	switch one.(type) {
	case *cli.StringSliceFlag, *listFlag:
		return true
	}
	return false
}
