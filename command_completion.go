package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// bashCompletion asks the program what may stand at the cursor; where it knows
// nothing, bash offers files.
const bashCompletion = `_blueprintd() {
  local words=("${COMP_WORDS[@]:0:COMP_CWORD}")
  [[ $2 == -* ]] && words+=("$2")
  COMPREPLY=($(compgen -W "$("${words[@]}" ` + completionAsked + ` 2>/dev/null)" -- "$2"))
}
complete -o default -F _blueprintd blueprintd
`

func commandCompletion() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print what has a shell complete commands and flags", ArgsUsage: "bash",
		Description:  "For this shell: source <(blueprintd completion bash)\nFor all: blueprintd completion bash > ~/.local/share/bash-completion/completions/blueprintd",
		BashComplete: func(c *cli.Context) { fmt.Fprintln(c.App.Writer, "bash") },
		Action: func(c *cli.Context) error {
			if c.NArg() != 1 || c.Args().First() != "bash" {
				return usage("source <(blueprintd completion bash)", "completion knows one shell, bash")
			}
			_, err := fmt.Fprint(c.App.Writer, bashCompletion)
			return err
		},
	}
}
