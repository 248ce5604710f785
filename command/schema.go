package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint/document"
	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
)

func commandSchema() *cli.Command {
	return &cli.Command{
		Name: "schema", Usage: "print the JSON Schema of a kind of file, for editors", ArgsUsage: "[" + strings.Join(project.SchemaNames, "|") + "]",
		Description: "Prints the schema of blueprint files by default. A running server serves the same at /schemas/NAME.json.\n" +
			"Editors with yaml-language-server find the schema by the first line of a file:\n\n" +
			"   # yaml-language-server: $schema=./blueprint.schema.json",
		UsageText: "blueprintd schema > blueprint.schema.json\nblueprintd schema test > test.schema.json",
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

func commandConvert() *cli.Command {
	return &cli.Command{
		Name: "convert", Usage: "print a blueprint or test file as JSON", ArgsUsage: "FILE",
		Description: "Converts YAML to JSON for programs that do not read YAML. Numbers keep their digits, comments are dropped.\n" +
			"The content is not checked; see blueprintd validate. A FILE of - is standard input.",
		UsageText: "blueprintd convert my.blueprint.yaml > my.blueprint.json",
		Action:    convertFile,
	}
}

func convertFile(c *cli.Context) error {
	in := &project.Inputs{Stdin: c.App.Reader}
	data, name, err := in.Read(c.Args().First(), document.MaxSize)
	if err != nil {
		return unreadableInput(name, err)
	}
	doc, err := document.Parse(name, data)
	if err != nil {
		return syntaxError(err, "fix the file")
	}
	return terminal.JSON(c.App.Writer, doc.Value)
}

func unreadableInput(name string, err error) error {
	return usage("check the path; - is standard input", "%s cannot be read: %s", name, fileio.Cause(err))
}

// syntaxError returns a *document.SyntaxError as a usage error, any other as it is.
func syntaxError(err error, hint string) error {
	if syntax, ok := errors.AsType[*document.SyntaxError](err); ok {
		return usage(hint, "%s", syntax.Error())
	}
	return err
}
