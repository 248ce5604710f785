package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
		Name: "sync", Usage: "make a server match a folder of blueprint files", ArgsUsage: "DIR",
		Description: "Prints the plan, and with --apply carries it out. Works on the database (--db), also while the server runs, or over\n" +
			"the network (--url, --api-key).\n" +
			"A blueprint belongs to a file by the path of the file in the folder; blueprints from elsewhere are not touched.\n" +
			"Blueprints changed on the server are overwritten only with --force, and blueprints and triggers without a file are\n" +
			"deleted only with --prune. A trigger that is paused on the server is activated only with --force. Secrets that are\n" +
			"null in a file keep their value on the server.\n" +
			"Instead of an id, {$connection: crm} names a connection of the server, and {$blueprint: child.blueprint.yaml} names\n" +
			"another file of the folder. The file .blueprintd.yaml (name: flows) sets the name of the folder on servers.\n" +
			"Exits with 1 when it failed or --apply left a conflict, and with --exit-code when there is anything to do; with 2\n" +
			"when a file is invalid, in which case nothing is changed.",
		UsageText: "blueprintd sync flows\nblueprintd sync flows --apply --prune\nblueprintd sync flows --apply --url https://flows.example.org --api-key bpd_...",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "apply", Usage: "carry out the plan"},
			&cli.BoolFlag{Name: "prune", Usage: "delete blueprints without a file, and triggers that their files do not have"},
			&cli.BoolFlag{Name: "force", Usage: "overwrite changes made on the server"},
			&cli.BoolFlag{Name: "adopt", Usage: "take over blueprints of the same title that come from no folder, instead of creating new ones"},
			&cli.BoolFlag{Name: "exit-code", Usage: "without --apply: exit with 1 when something is to do (+ ~ -), in conflict (!) or kept (?)"},
			folderNameFlag(),
			&cli.StringFlag{Name: "organization", Usage: "`ID` of the organization of the blueprints (default: the owner's workspace)"},
			jsonFlag(),
		}, under("remote server",
			&cli.StringFlag{Name: "url", Usage: "`ADDRESS` of the server"},
			&cli.StringFlag{Name: "api-key", Usage: "API `KEY` of the owner, with --url"},
		), databaseFlags(), under(storageCategory, ownerFlag())),
		Action: syncFolderWithServer,
	}
}

func folderNameFlag() cli.Flag {
	return &cli.StringFlag{Name: "name", Usage: "`NAME` of the folder on the server (default: the name in its file .blueprintd.yaml, or the name of the folder)"}
}

func syncFolderWithServer(c *cli.Context) error {
	dir, name, err := folderArgument(c)
	if err != nil {
		return err
	}
	if id := c.String("organization"); id != "" && !blueprint.IsUUID(id) {
		return usage("blueprintd sync flows --organization 3f0e...", "%s %s: is not an id", given(c, "organization"), id)
	}
	files, err := deploy.ReadFolder(dir, c.String("name"), c.App.ErrWriter, c.Bool("prune") && c.Bool("force"))
	if err != nil {
		return err
	}
	work := func(ctx context.Context, server deploy.Server) error {
		return syncWith(ctx, c, server, files, deploy.Options{Name: name, Prune: c.Bool("prune"), Force: c.Bool("force"), Adopt: c.Bool("adopt"), Secret: func() string { return ids.New(nil).Token(32) }})
	}
	if c.String("url") != "" {
		server, err := remoteOf(c)
		if err != nil {
			return err
		}
		return work(c.Context, server)
	}
	if c.String("api-key") != "" && onLine(c, "api-key") {
		return usage("name the server with --url", "%s requires --url", given(c, "api-key"))
	}
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
		owner, err := importOwner(ctx, s, c.String("user"))
		if err != nil {
			return err
		}
		server := &deploy.InStore{Store: s, Owner: blueprint.Principal{UserID: owner.ID}, OrganizationID: c.String("organization")}
		server.CancelRuns = func(_ context.Context, unfinished []string, _ string) error {
			if len(unfinished) > 0 {
				fmt.Fprintf(c.App.ErrWriter, "%s of a deleted blueprint continues\n", blueprint.Counted(len(unfinished), "run"))
			}
			return nil
		}
		return work(ctx, server)
	})
}

// syncReport is the output of --json.
type syncReport struct {
	*deploy.Plan
	Summary  string   `json:"summary"` // of the plan, or of the changes made
	Applied  bool     `json:"applied"`
	Complete bool     `json:"complete"`       // all changes but conflicts were made
	Done     []string `json:"done,omitempty"` // the paths of the changes made
	Error    string   `json:"error,omitempty"`
}

// syncWith prints the plan and, with --apply, carries it out.
func syncWith(ctx context.Context, c *cli.Context, server deploy.Server, files deploy.Files, o deploy.Options) error {
	plan, err := deploy.Prepare(ctx, server, files, o)
	if err != nil {
		return err
	}
	apply := c.Bool("apply")
	report := syncReport{Plan: plan, Summary: plan.Summary(false), Applied: apply, Complete: !apply}
	made := &deploy.Plan{}
	for _, change := range plan.Changes {
		if !apply || change.Action == deploy.Keep || change.Conflict != "" {
			made.Changes = append(made.Changes, change)
			if err := printChange(c, change); err != nil {
				return err
			}
		}
	}
	if apply {
		err = plan.Apply(ctx, server, func(change deploy.Change) error {
			report.Done, made.Changes = append(report.Done, change.Path), append(made.Changes, change)
			return printChange(c, change)
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
		if !apply && len(plan.Pending()) > 0 {
			report.Summary += "; apply with --apply"
		}
		_, err = fmt.Fprintln(c.App.Writer, report.Summary)
	}
	return cmp.Or(end, err)
}

func printChange(c *cli.Context, change deploy.Change) error {
	if c.Bool("json") {
		return nil
	}
	_, err := fmt.Fprintln(c.App.Writer, strings.Join(change.Lines(), "\n"))
	return err
}

func syncEnd(c *cli.Context, plan *deploy.Plan, done int, err error) error {
	var stopped *deploy.Failure
	switch {
	case errors.As(err, &stopped):
		code, message, hint := explained(stopped.Err)
		return &exit{code, fmt.Sprintf("%s: %s; %s made before it", stopped.Path, message, blueprint.Counted(done, "change")), cmp.Or(hint, "run sync again for the remaining changes")}
	case err != nil:
		return err
	case c.Bool("apply") && plan.Conflicts() > 0:
		return blueprint.Hinted(blueprint.SeeDocs("copy the changes into the files, or overwrite them with --force", "blueprints"), "%s changed on the server, left as is", blueprint.Counted(plan.Conflicts(), "blueprint"))
	case c.Bool("exit-code") && !c.Bool("apply") && len(plan.Changes) > 0:
		return &exit{code: ExitFailed}
	}
	return nil
}

func remoteOf(c *cli.Context) (*deploy.Remote, error) {
	for _, name := range []string{"db", "master-key-file", "user"} {
		if onLine(c, name) {
			return nil, exclude("%s names a server, and %s is for a database", given(c, "url"), given(c, name))
		}
	}
	address, err := serverURL(c)
	if err != nil {
		return nil, err
	}
	key := c.String("api-key")
	if key == "" {
		return nil, usage("blueprintd sync flows --url https://flows.example.org --api-key "+ids.KeyPrefix+"...", "%s requires --api-key or BLUEPRINTD_API_KEY", given(c, "url"))
	}
	return deploy.NewRemote(address, key, c.String("organization")), nil
}

// folderArgument reads the argument of sync and dev, and the name of the folder.
func folderArgument(c *cli.Context) (dir, name string, err error) {
	dir = filepath.Clean(c.Args().First())
	name, _, err = deploy.Name(dir, c.String("name"))
	return dir, name, err
}
