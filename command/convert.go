package command

import (
	"errors"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint/document"
	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
)

func commandConvert() *cli.Command {
	return &cli.Command{
		Name: "convert", Usage: "print a blueprint or test file as JSON", ArgsUsage: "FILE",
		Description: "YAML becomes JSON, numbers keep their digits, comments are lost. What the file means is not looked at: see validate.\nA FILE of - is standard input.",
		Action:      convertFile,
	}
}

// convertFile prints a file for programs that read no YAML.
func convertFile(c *cli.Context) error {
	if c.NArg() != 1 {
		return usage("blueprintd convert my.blueprint.yaml", "name one file")
	}
	in := &project.Inputs{Stdin: c.App.Reader}
	data, called, err := in.Read(c.Args().First(), document.MaxSize)
	if err != nil {
		return usage("check the path; - is standard input", "%s cannot be read: %s", called, fileio.Cause(err))
	}
	doc, err := document.Parse(called, data)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return usage("mend the file", "%s", syntax.Error())
	}
	if err != nil {
		return err
	}
	return terminal.JSON(c.App.Writer, doc.Value)
}
