package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/ids"
	"blueprintd/project/deploy"
	"blueprintd/store"
)

func commandSync() *cli.Command {
	return &cli.Command{
		Name: "sync", Usage: "make a server match a folder of blueprint files; shows the plan first", ArgsUsage: "DIR",
		Description: "Prints what it would do, and with --apply does it: works on the database (--db), also while the server runs, or over the\n" +
			"network (--url, --api-key). A blueprint is known by the path of its file in the folder; what has no file of the folder's\n" +
			"name is never touched. A blueprint that somebody changed on the server is left alone without --force, and what has no\n" +
			"place in the folder any more without --prune; a trigger that is off there stays off without --force. Secrets that are\n" +
			"null in a file stay as they are on the server. In the place of ids {$connection: crm} names a connection of the server, and\n" +
			"{$blueprint: child.blueprint.yaml} another file of the folder. The file .blueprintd.yaml (name: flows) in the folder\n" +
			"names it wherever it is checked out.\n" +
			"Exits with 0; with 2 when a file is bad or cannot be read (then nothing is changed); with 1 when it failed, when --apply\n" +
			"left a conflict alone, and with --exit-code when anything is to be done, in conflict or kept.",
		Flags: append(databaseFlags(),
			&cli.BoolFlag{Name: "apply", Usage: "do it"},
			&cli.BoolFlag{Name: "prune", Usage: "delete blueprints whose files are gone, and triggers that their files do not name"},
			&cli.BoolFlag{Name: "force", Usage: "overwrite what was changed on the server since"},
			&cli.BoolFlag{Name: "adopt", Usage: "take over blueprints of the same title that come from no folder, instead of making new ones"},
			&cli.BoolFlag{Name: "exit-code", Usage: "without --apply: exit with 1 when anything is to be done (+ ~ -), in conflict (!) or kept (?)"},
			&cli.StringFlag{Name: "name", Usage: "the `NAME` of the folder on the server (default: the name in the folder's file .blueprintd.yaml, else that of the folder itself)"},
			&cli.StringFlag{Name: "organization", Usage: "the `ID` of the organization that the blueprints belong to (default: the owner's workspace)"},
			&cli.StringFlag{Name: "user", Usage: "with --db: the `EMAIL` of the owner (default: the server's owner)"},
			&cli.StringFlag{Name: "url", Usage: "the `ADDRESS` of the server"},
			&cli.StringFlag{Name: "api-key", Usage: "with --url: a `KEY` of the owner"},
			jsonFlag(),
		),
		Action: syncFolderWithServer,
	}
}

func syncFolderWithServer(c *cli.Context) error {
	dir, name, err := folderArgument(c)
	if err != nil {
		return err
	}
	if id := c.String("organization"); id != "" && !blueprint.IsUUID(id) {
		return usage("blueprintd sync flows --organization 3f0e...", "%s %s: is no id", given(c, "organization"), id)
	}
	of, err := deploy.ReadFolder(dir, c.String("name"), c.App.ErrWriter, c.Bool("prune") && c.Bool("force"))
	if err != nil {
		return err
	}
	work := func(ctx context.Context, server deploy.Server) error {
		return syncWith(ctx, c, server, of, deploy.Options{Name: name, Prune: c.Bool("prune"), Force: c.Bool("force"), Adopt: c.Bool("adopt"), Secret: func() string { return ids.New(nil).Token(32) }})
	}
	if c.String("url") != "" {
		server, err := remoteOf(c)
		if err != nil {
			return err
		}
		return work(c.Context, server)
	}
	if c.String("api-key") != "" && onLine(c, "api-key") {
		return usage("name the server with --url", "%s is for a server, and none is named", given(c, "api-key"))
	}
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
		owner, err := importOwner(ctx, s, c.String("user"))
		if err != nil {
			return err
		}
		server := &deploy.InStore{Store: s, Owner: blueprint.Principal{UserID: owner.ID}, OrganizationID: c.String("organization")}
		server.CancelRuns = func(_ context.Context, unfinished []string, _ string) error {
			if len(unfinished) > 0 {
				fmt.Fprintf(c.App.ErrWriter, "%s of a deleted blueprint goes on to its end\n", blueprint.Counted(len(unfinished), "run"))
			}
			return nil
		}
		return work(ctx, server)
	})
}

// syncReport is what sync tells programs.
type syncReport struct {
	*deploy.Plan
	Summary  string   `json:"summary"` // of what would be done, or was
	Applied  bool     `json:"applied"`
	Complete bool     `json:"complete"`       // nothing of what was asked for is left, but for conflicts
	Done     []string `json:"done,omitempty"` // the paths of the changes that were made
	Error    string   `json:"error,omitempty"`
}

// syncWith compares, shows the plan, and carries it out when that is asked for.
func syncWith(ctx context.Context, c *cli.Context, server deploy.Server, of deploy.Files, o deploy.Options) error {
	plan, err := deploy.Prepare(ctx, server, of, o)
	if err != nil {
		return err
	}
	apply := c.Bool("apply")
	report := syncReport{Plan: plan, Summary: plan.Summary(false), Applied: apply, Complete: !apply}
	made := &deploy.Plan{}
	for _, change := range plan.Changes {
		if !apply || change.Action == deploy.Keep || change.Conflict != "" {
			made.Changes = append(made.Changes, change)
			if err := sayChange(c, change); err != nil {
				return err
			}
		}
	}
	if apply {
		err = plan.Apply(ctx, server, func(change deploy.Change) error {
			report.Done, made.Changes = append(report.Done, change.Path), append(made.Changes, change)
			return sayChange(c, change)
		})
		report.Summary, report.Complete = made.Summary(true), err == nil
	}
	end := syncEnd(c, plan, len(report.Done), err)
	if c.Bool("json") {
		if err != nil {
			_, report.Error, _ = explained(end)
		}
		return errors.Join(terminal.JSON(c.App.Writer, report), end)
	}
	if err == nil {
		_, err = fmt.Fprintln(c.App.Writer, syncLast(c, plan, report.Summary))
	}
	return cmp.Or(end, err)
}

// sayChange prints a change for people.
func sayChange(c *cli.Context, change deploy.Change) error {
	if c.Bool("json") {
		return nil
	}
	_, err := fmt.Fprintln(c.App.Writer, strings.Join(change.Lines(), "\n"))
	return err
}

func syncLast(c *cli.Context, plan *deploy.Plan, summary string) string {
	if !c.Bool("apply") && len(plan.Pending()) > 0 {
		return summary + "; --apply does it"
	}
	return summary
}

// syncEnd returns the error that sync ends with.
func syncEnd(c *cli.Context, plan *deploy.Plan, done int, err error) error {
	var stopped *deploy.Failure
	switch {
	case errors.As(err, &stopped):
		code, message, hint := explained(stopped.Err)
		return &exit{code, fmt.Sprintf("%s: %s; %s made before it", stopped.Path, message, blueprint.Counted(done, "change")), cmp.Or(hint, "what is left is done when sync is called again")}
	case err != nil:
		return err
	case c.Bool("apply") && plan.Conflicts() > 0:
		return blueprint.Hinted("take the changes over into the files, or overwrite them with --force", "%s changed on the server and left as it is", blueprint.Counted(plan.Conflicts(), "blueprint"))
	case c.Bool("exit-code") && !c.Bool("apply") && len(plan.Changes) > 0:
		return &exit{code: ExitFailed}
	}
	return nil
}

// remoteOf reads where a server is.
func remoteOf(c *cli.Context) (*deploy.Remote, error) {
	for _, name := range []string{"db", "master-key-file", "user"} {
		if onLine(c, name) {
			return nil, usage("leave one of them out", "%s names a server, and %s is for a database", given(c, "url"), given(c, name))
		}
	}
	address, err := dashboardURL(c)
	if err != nil {
		return nil, err
	}
	key := c.String("api-key")
	if key == "" {
		return nil, usage("blueprintd sync flows --url https://flows.example.org --api-key "+ids.KeyPrefix+"...", "%s needs a key: --api-key, or the variable BLUEPRINTD_API_KEY", given(c, "url"))
	}
	return deploy.NewRemote(address, key, c.String("organization")), nil
}

// folderArgument reads the one argument of sync and dev, and the folder's name.
func folderArgument(c *cli.Context) (dir, name string, err error) {
	if c.NArg() != 1 {
		return "", "", usage("blueprintd "+c.Command.Name+" flows", "%s takes one folder", c.Command.Name)
	}
	dir = filepath.Clean(c.Args().First())
	name, _, err = deploy.Name(dir, c.String("name"))
	return dir, name, err
}
