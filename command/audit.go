package command

import (
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/store"
)

// mostAuditLines is how many lines audit list shows at most.
const mostAuditLines = 10_000

func commandAudit() *cli.Command {
	return &cli.Command{
		Name: "audit", Usage: "tell who changed what; works while the server runs",
		Subcommands: []*cli.Command{{
			Name: "list", Usage: "list the lines of the audit log, newest first: also those about the server as a whole, which nobody sees in the dashboard",
			Flags:  append(databaseFlags(), &cli.IntFlag{Name: "limit", Value: 50, Usage: "the newest `NUMBER` of them"}, jsonFlag()),
			Action: auditList,
		}},
	}
}

// auditLine is a line as the operator sees it.
type auditLine struct {
	blueprint.AuditEntry
	OrganizationID string `json:"organizationId"` // "" = of none
}

func auditList(c *cli.Context) error {
	limit := c.Int("limit")
	if limit < 1 || limit > mostAuditLines {
		return usage("--limit 50", "%s %d: must be from 1 to %d", given(c, "limit"), limit, mostAuditLines)
	}
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		entries, err := s.WholeAuditLog(ctx, limit)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			lines := make([]auditLine, len(entries))
			for i, e := range entries {
				lines[i] = auditLine{e, e.OrganizationID}
			}
			return terminal.JSON(c.App.Writer, lines)
		}
		rows := [][]string{{"AT", "WHO", "VIA", "ACTION", "ABOUT", "DETAIL"}}
		for _, e := range entries {
			detail, err := blueprint.Encode(e.Detail)
			if err != nil {
				return err
			}
			rows = append(rows, []string{e.At.String(), whoActed(&e), e.Via, e.Action, strings.TrimSpace(e.TargetType + " " + e.TargetID), string(detail)})
		}
		return terminal.Table(c.App.Writer, rows)
	})
}

// whoActed names the actor of a line: by the id too, for anybody may choose any
// name.
func whoActed(e *blueprint.AuditEntry) string {
	if e.ActorID == "" {
		return "-"
	}
	return strings.TrimSpace(e.ActorName + " " + e.ActorID)
}

// commandActions are what the audit log calls commands that are not called what
// they do.
var commandActions = map[string]string{"import": "blueprint.import", "master-key.rotate": "masterKey.rotate", "restore": "database.restore"}

// asOperator returns the context of a command: what it changes stands in the audit
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
