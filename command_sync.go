package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/folder"
	"blueprintd/ids"
	"blueprintd/rpc"
	"blueprintd/store"
)

func commandSync() *cli.Command {
	return &cli.Command{
		Name: "sync", Usage: "make a server match a folder of blueprint files; shows the plan first", ArgsUsage: "DIR",
		Description: "Prints what it would do, and with --apply does it: works on the database (--db), also while the server runs, or over the\n" +
			"network (--url, --api-key). A blueprint is known by the path of its file in the folder; what has no file of the folder's\n" +
			"name is never touched. A blueprint that somebody changed on the server is left alone without --force, and what has no\n" +
			"place in the folder any more without --prune. Secrets that are null in a file stay as they are on the server.\n" +
			"Exits with 0, with 2 when a file is bad (then nothing is changed), with 1 when something was left undone.",
		Flags: append(databaseFlags(),
			&cli.BoolFlag{Name: "apply", Usage: "do it"},
			&cli.BoolFlag{Name: "prune", Usage: "delete blueprints whose files are gone, and triggers that their files do not name"},
			&cli.BoolFlag{Name: "force", Usage: "overwrite what was changed on the server since"},
			&cli.BoolFlag{Name: "exit-code", Usage: "without --apply: exit with 1 when there is something to do"},
			&cli.StringFlag{Name: "name", Usage: "the `NAME` of the folder on the server (default: that of the folder itself)"},
			&cli.StringFlag{Name: "organization", Usage: "the `ID` of the organization that the blueprints belong to (default: the owner's workspace)"},
			&cli.StringFlag{Name: "user", Usage: "with --db: the `EMAIL` of the owner (default: the first user)"},
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
	listing, err := folder.Scan(dir)
	if err != nil {
		return usage("check the path", "%s cannot be read: %s", dir, cause(err))
	}
	wanted, bad := readFolder(c.App.ErrWriter, dir, listing)
	if bad > 0 {
		return usage("mend the files; nothing was changed", "%s of %s cannot be used", counted(bad, "file"), dir)
	}
	work := func(ctx context.Context, server folder.Server) error {
		return syncWith(ctx, c, server, wanted, folder.Options{Name: name, Prune: c.Bool("prune"), Force: c.Bool("force"), Secret: func() string { return ids.New(nil).Token(32) }})
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
		server := &storeServer{store: s, owner: blueprint.Principal{UserID: owner.ID}, organizationID: c.String("organization")}
		server.deleted = func(_ context.Context, unfinished []string) error {
			if len(unfinished) > 0 {
				fmt.Fprintf(c.App.ErrWriter, "%s of a deleted blueprint goes on to its end\n", counted(len(unfinished), "run"))
			}
			return nil
		}
		return work(ctx, server)
	})
}

// folderArgument reads the one argument of sync and dev, and the folder's name.
func folderArgument(c *cli.Context) (dir, name string, err error) {
	if c.NArg() != 1 {
		return "", "", usage("blueprintd "+c.Command.Name+" flows", "%s takes one folder", c.Command.Name)
	}
	dir = filepath.Clean(c.Args().First())
	name = cmp.Or(c.String("name"), filepath.Base(absolute(dir)))
	if utf8.RuneCountInString(name) > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == ':' || r == '/' || blueprint.Disturbs(r) }) {
		return "", "", usage("--name flows", "%q is no name for a folder on the server: it may have 100 characters, none of them : or /", name)
	}
	return dir, name, nil
}

// syncReport is what sync tells programs.
type syncReport struct {
	*folder.Plan
	Summary string   `json:"summary"`
	Applied bool     `json:"applied"`
	Done    []string `json:"done,omitempty"` // the paths of the changes that were made
}

// syncWith compares, shows the plan, and carries it out when that is asked for.
func syncWith(ctx context.Context, c *cli.Context, server folder.Server, wanted []folder.Desired, o folder.Options) error {
	have, err := server.List(ctx, folder.SourceOf(o.Name, ""))
	if err != nil {
		return err
	}
	if err := sameSource(have); err != nil {
		return err
	}
	if len(wanted) == 0 && len(have) > 0 && o.Prune && !o.Force {
		return failed("--prune --force deletes them", "the folder holds no blueprint file, and the server %s of it; is it the right folder?", counted(len(have), "blueprint"))
	}
	plan := folder.Compare(wanted, have, o)
	report := syncReport{Plan: plan, Summary: plan.Summary(c.Bool("apply")), Applied: c.Bool("apply")}
	say := func(change folder.Change) error {
		report.Done = append(report.Done, change.Path)
		return sayChange(c, change)
	}
	for _, change := range plan.Changes {
		if !c.Bool("apply") || change.Action == folder.Keep || change.Conflict != "" {
			if err := sayChange(c, change); err != nil {
				return err
			}
		}
	}
	if c.Bool("apply") {
		err = plan.Apply(ctx, server, say)
	}
	if c.Bool("json") {
		err = errors.Join(printJSON(c, report), err)
	} else if err == nil {
		_, err = fmt.Fprintln(c.App.Writer, syncLast(c, plan, report.Summary))
	}
	return syncEnd(c, plan, len(report.Done), err)
}

// sayChange prints a change for people.
func sayChange(c *cli.Context, change folder.Change) error {
	if c.Bool("json") {
		return nil
	}
	_, err := fmt.Fprintln(c.App.Writer, strings.Join(change.Lines(), "\n"))
	return err
}

func syncLast(c *cli.Context, plan *folder.Plan, summary string) string {
	if !c.Bool("apply") && len(plan.Pending()) > 0 {
		return summary + "; --apply does it"
	}
	return summary
}

// syncEnd gives the error that sync ends with.
func syncEnd(c *cli.Context, plan *folder.Plan, done int, err error) error {
	var stopped *folder.Failure
	switch {
	case errors.As(err, &stopped):
		code, message, hint := explain(stopped.Err)
		return &exit{code, fmt.Sprintf("%s: %s; %s made before it", stopped.Path, message, counted(done, "change")), cmp.Or(hint, "what is left is done when sync is called again")}
	case err != nil:
		return err
	case c.Bool("apply") && plan.Conflicts() > 0:
		return failed("take the changes over into the files, or overwrite them with --force", "%s changed on the server and left as it is", counted(plan.Conflicts(), "blueprint"))
	case c.Bool("exit-code") && !c.Bool("apply") && len(plan.Pending())+plan.Conflicts() > 0:
		return &exit{code: exitFailed}
	}
	return nil
}

// sameSource refuses two blueprints of one file: one owner may have them in two
// organizations.
func sameSource(have []folder.Deployed) error {
	seen := map[string]string{}
	for _, d := range have {
		if other := seen[d.Source]; other != "" {
			return failed("name one of the organizations with --organization", "blueprints %s and %s are both of %s", other, d.ID, d.Source)
		}
		seen[d.Source] = d.ID
	}
	return nil
}

// remoteOf reads where a server is.
func remoteOf(c *cli.Context) (*remoteServer, error) {
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
		return nil, usage("blueprintd sync flows --url https://flows.example.org --api-key "+rpc.KeyPrefix+"...", "%s needs a key: --api-key, or the variable BLUEPRINTD_API_KEY", given(c, "url"))
	}
	return newRemote(address, key, c.String("organization")), nil
}
