package command

import (
	"cmp"
	"context"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/store"
)

// maxAuditLines is the largest --limit of audit list.
const maxAuditLines = 10_000

func commandAudit() *cli.Command {
	return &cli.Command{
		Name: "audit", Usage: "list who changed what; works while the server runs",
		Subcommands: []*cli.Command{{
			Name: "list", Usage: "list the lines of the audit log, newest first",
			Description: "Includes lines about the server as a whole, which the dashboard does not show.",
			UsageText:   "blueprintd audit list --limit 200",
			Flags:       append([]cli.Flag{&cli.IntFlag{Name: "limit", Value: 50, Usage: "list at most this `NUMBER` of lines"}, jsonFlag()}, databaseFlags()...),
			Action:      auditList,
		}},
	}
}

// auditLine is an audit entry with its organization, "" for none.
type auditLine struct {
	blueprint.AuditEntry
	OrganizationID string `json:"organizationId"`
}

func auditList(c *cli.Context) error {
	limit := c.Int("limit")
	if limit < 1 || limit > maxAuditLines {
		return usage("--limit 50", "%s %d: must be from 1 to %d", given(c, "limit"), limit, maxAuditLines)
	}
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
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
			actor := "-"
			if e.ActorID != "" { // names are not unique
				actor = strings.TrimSpace(e.ActorName + " " + e.ActorID)
			}
			rows = append(rows, []string{e.At.String(), actor, e.Via, e.Action, strings.TrimSpace(e.TargetType + " " + e.TargetID), string(detail)})
		}
		return terminal.Table(c.App.Writer, rows)
	})
}

// commandActions are the audit actions of commands whose name is another.
var commandActions = map[string]string{"import": "blueprint.import", "master-key.rotate": "masterKey.rotate", "restore": "database.restore"}

// asOperator returns the context of a command, so that the audit log records its
// changes as made on the command line by an action such as "user.add".
func asOperator(ctx context.Context, c *cli.Context) context.Context {
	action := strings.ReplaceAll(short(c), " ", ".")
	return blueprint.WithActor(ctx, &blueprint.Actor{Via: blueprint.ViaCLI, Action: cmp.Or(commandActions[action], action)})
}
