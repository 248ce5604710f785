package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/secret"
	"blueprintd/project"
	"blueprintd/store"
	"blueprintd/store/dbfile"
	"blueprintd/triggers/explain"
)

func commandWhy() *cli.Command {
	return &cli.Command{
		Name: "why", Usage: "explain from the ledger what a trigger did; works while the server runs",
		Subcommands: []*cli.Command{{
			Name: "trigger", Usage: "explain why a trigger started runs or did not", ArgsUsage: "ID",
			Description: "ID is the id of a trigger, such as the last part of the address of a webhook.",
			UsageText:   "blueprintd why trigger 3f0e2b6c-6f0a-4b59-9d0e-2a41f6a7c001\nblueprintd why trigger 3f0e2b6c-6f0a-4b59-9d0e-2a41f6a7c001 --at \"2026-03-01 12:00\"",
			Flags: append([]cli.Flag{
				&cli.StringFlag{Name: "at", Usage: "explain what happened at this `TIME`: RFC 3339, or \"2026-03-01 12:00\" in the trigger's time zone"},
				jsonFlag(),
			}, databaseFlags()...),
			Action: whyTrigger,
		}},
	}
}

// The largest numbers of rows and reasons in the output.
const (
	whyRows    = 10
	whyRowsAt  = 100
	whyReasons = 12
)

func whyTrigger(c *cli.Context) error {
	s, sealer, err := openSealed(c, false)
	if err != nil {
		return err
	}
	why := func(ctx context.Context) error {
		story, err := s.TriggerStory(ctx, strings.ToLower(c.Args().First()))
		if err != nil {
			return blueprint.WithHint(err, blueprint.SeeDocs("use an id that the procedure blueprintTriggers.list returns, or the last part of a webhook's address", "triggers"))
		}
		served, known := dbfile.IsServed(c.String("db"))
		known = known && !isRemote(c)
		answer, err := answerWhy(c, s, sealer, &explain.Question{Story: story, Now: clock.Real{}.Now(), Unserved: known && !served})
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return terminal.JSON(c.App.Writer, answer)
		}
		return printWhy(c.App.Writer, answer)
	}
	return errors.Join(why(asOperator(c.Context, c)), s.Close())
}

// answerWhy reads the rows that a question needs and answers it.
func answerWhy(c *cli.Context, s *store.Store, sealer *secret.Sealer, q *explain.Question) (*explain.Answer, error) {
	ctx, trigger, owner := c.Context, &q.Story.Trigger, q.Story.Owner
	ask, asked, err := q.Present, blueprint.Time(0), error(nil)
	switch {
	case !c.IsSet("at"):
		if q.Counts, err = s.ReasonCounts(ctx, owner, trigger.ID, blueprint.TimeOf(q.Now.Add(-explain.Day)), whyReasons); err == nil {
			q.Rows, err = s.Ledger(ctx, owner, trigger.ID, blueprint.FiringFilter{}, whyRows)
		}
	default:
		at, refused := explain.ReadInstant(c.String("at"), trigger)
		if refused != nil {
			_, message, hint := explained(refused)
			return nil, usage(hint, "%s: %s", given(c, "at"), message)
		}
		asked, ask = at, func() *explain.Answer { return q.At(at) }
		if trigger.Type == blueprint.TriggerScheduled {
			q.Rows, err = s.TickRows(ctx, owner, trigger.ID, at-at%60_000)
		} else {
			const around = blueprint.Time(explain.Around / time.Millisecond)
			q.Rows, err = s.Ledger(ctx, owner, trigger.ID, blueprint.FiringFilter{From: max(at-around, 1), To: at + around + 1}, whyRowsAt)
		}
	}
	if err == nil {
		err = lookUpFailures(ctx, s, sealer, owner, q.Rows)
	}
	if id := q.UnclearRow(asked); err == nil && id != "" {
		if q.Unclear, err = s.FiringStory(ctx, owner, id); blueprint.CodeOf(err) == blueprint.CodeNotFound {
			err = nil // pruned a moment ago
		}
	}
	if err != nil {
		return nil, err
	}
	return ask(), nil
}

// lookUpFailures adds the errors of failed runs, as far as their records can be read.
func lookUpFailures(ctx context.Context, s *store.Store, sealer *secret.Sealer, owner blueprint.Principal, rows []blueprint.LedgerRow) error {
	reader := engine.NewReader(project.Catalogue(), s, sealer)
	for i := range rows {
		run := rows[i].Run
		if run == nil || run.Status != blueprint.StatusFailed {
			continue
		}
		stored, _, err := s.Execution(ctx, owner, run.ExecutionID)
		if err == nil && stored.Row.Status.Terminal() {
			var view *blueprint.Execution
			if view, err = reader.ViewWithin(ctx, stored, 0); err == nil && view.Failure != nil {
				run.Error, run.Displaced = view.Failure.Message, view.Failure.Displaced
			}
		}
		if code := blueprint.CodeOf(err); err != nil && code != blueprint.CodeNotFound && code != blueprint.CodeInternal {
			return err
		}
	}
	return nil
}

func printWhy(out io.Writer, answer *explain.Answer) error {
	var text strings.Builder
	for _, line := range answer.Words {
		text.WriteString(blueprint.OneLine(line) + "\n")
	}
	if len(answer.Rows) > 0 {
		text.WriteString("\nFrom the ledger:\n")
	}
	for i := range answer.Rows {
		row := &answer.Rows[i]
		fmt.Fprintf(&text, "  %s  %s\n    %s\n", row.When, row.ID, blueprint.OneLine(row.Words))
		if row.Decision == blueprint.DecisionStarted && row.Reason != "" {
			fmt.Fprintf(&text, "    Note: %s\n", blueprint.OneLine(row.Reason))
		}
	}
	if answer.Next != "" {
		text.WriteString("\nNext: " + blueprint.OneLine(answer.Next) + "\n")
	}
	_, err := io.WriteString(out, text.String())
	return err
}
