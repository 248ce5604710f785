package main

import (
	"errors"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/project/local"
)

func connectionsFlag() cli.Flag {
	return &cli.StringFlag{Name: "connections", Usage: "use the connections of this `FILE`, YAML or JSON, as a seed file has them; ${NAME} in them is an environment variable"}
}

// chooseConnections reads the connections that a run is given; nil for none.
func chooseConnections(c *cli.Context, lookup func(string) (string, bool)) (*local.Connections, error) {
	const hint = "mend the file; nothing was run"
	name := c.String("connections")
	if name == "" {
		if onLine(c, "connections") {
			return nil, usage("--connections crm.seed.yaml", "%s: name a file", given(c, "connections"))
		}
		return nil, nil
	}
	data, err := fileio.Read(name, document.MaxSize)
	if err != nil {
		return nil, usage("name a file that exists", "%s %s: %s", given(c, "connections"), name, fileio.Cause(err))
	}
	g, issues, err := local.ReadConnections(name, data, lookup)
	var syntax *document.SyntaxError
	switch {
	case errors.As(err, &syntax): // its line may hold a secret
		return nil, usage(hint, "%s", syntax.Error())
	case err != nil:
		return nil, err
	case len(issues) > 0:
		g.Point(c.App.ErrWriter, issues)
		return nil, usage(hint, "%s has %s", name, blueprint.Counted(len(issues), "error"))
	}
	return g, nil
}
