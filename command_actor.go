package main

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
)

// commandActions are what the audit log calls commands that are not called what
// they do.
var commandActions = map[string]string{"import": "blueprint.import", "master-key.rotate": "masterKey.rotate", "restore": "database.restore"}

// asOperator gives the context of a command: what it changes stands in the audit
// log as done on the command line, under the command's name ("user.add").
func asOperator(ctx context.Context, c *cli.Context) context.Context {
	words := strings.Fields(c.Command.HelpName)
	if len(words) > 1 {
		words = words[1:]
	}
	action := strings.Join(words, ".")
	if other := commandActions[action]; other != "" {
		action = other
	}
	return blueprint.WithActor(ctx, &blueprint.Actor{Via: blueprint.ViaCLI, Action: action})
}
