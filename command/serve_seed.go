package command

import (
	"errors"
	"strconv"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/server"
)

func seedFlag() cli.Flag {
	return &cli.StringFlag{Name: "seed", Usage: "begin with what this `FILE` holds, YAML or JSON: users, organizations, connections and blueprints with their triggers; what is there already is left alone, and what was deleted is not made again"}
}

// chooseSeed reads the seed file and checks it whole.
func chooseSeed(c *cli.Context, o *server.Options) error {
	name := c.String("seed")
	if name == "" {
		return nil
	}
	data, err := fileio.Read(name, document.MaxSize+1)
	if err != nil {
		return usage("name a file that exists", "%s %s: %s", given(c, "seed"), name, fileio.Cause(err))
	}
	seed, doc, issues, err := project.ReadSeed(name, data, project.Environment)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return usage("mend the file; nothing was written", "%s", syntax.Error())
	}
	if err != nil {
		return err
	}
	for _, issue := range issues {
		if issue.Severity != blueprint.SeverityWarning {
			return usage("mend the file; nothing was written", "%s", doc.Point(issue))
		}
	}
	o.Seed = seed
	return nil
}

func seedIDsFlag() cli.Flag {
	return &cli.StringFlag{Name: "seed-ids", Usage: "draw every id, key and random part from this `NUMBER`, for tests: with --clock virtual the same calls, one after the other, give the same answers; only with --ephemeral"}
}

// chooseSeedIDs reads what ids are drawn from. What anybody can draw again is
// no secret, so such a server keeps nothing.
func chooseSeedIDs(c *cli.Context, o *server.Options) error {
	text := c.String("seed-ids")
	if text == "" {
		return nil
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return usage("--seed-ids 1", "%s %s: is no whole number", given(c, "seed-ids"), text)
	}
	if !o.Ephemeral {
		return usage("add --ephemeral, or leave it out", "%s: keys and ids that follow from a number are for servers that keep nothing", given(c, "seed-ids"))
	}
	o.SeedIDs = &seed
	return nil
}
