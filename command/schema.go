package command

import (
	"blueprintd/project"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func commandSchema() *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of a kind of file, for editors", ArgsUsage: "[" + strings.Join(project.SchemaNames, "|") + "]",
		Description: "Without an argument it is that of blueprint files. A running server gives the same at /schemas/NAME.json.\nAn editor with yaml-language-server reads it from the first line of a file:\n\n   # yaml-language-server: $schema=./blueprint.schema.json",
		BashComplete: func(c *cli.Context) {
			if c.NArg() == 0 {
				fmt.Fprintln(c.App.Writer, strings.Join(project.SchemaNames, "\n"))
			}
		},
		Action: func(c *cli.Context) error {
			name := "blueprint"
			if c.NArg() > 0 {
				name = c.Args().First()
			}
			if c.NArg() > 1 || !slices.Contains(project.SchemaNames, name) {
				return usage("blueprintd schema blueprint", "schema takes one of %s", strings.Join(project.SchemaNames, ", "))
			}
			data, err := project.SchemaText(name)
			if err != nil {
				return err
			}
			_, err = c.App.Writer.Write(data)
			return err
		},
	}
}
