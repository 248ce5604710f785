package command

import (
	"context"
	"errors"
	"fmt"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/project"
	"blueprintd/server"
	"blueprintd/store"

	"github.com/urfave/cli/v2"
)

func commandImport() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "store blueprint files as new private drafts; works while the server runs", ArgsUsage: "FILE...",
		Description: "Stores all files or none, and prints their ids. Warnings go to standard error. Webhook and Slack triggers without\n" +
			"a secret are stored paused. A FILE of - is standard input.",
		UsageText: "blueprintd import my.blueprint.yaml\nblueprintd import flows/*.blueprint.yaml --user ada@example.org",
		Flags:     append([]cli.Flag{ownerFlag(), jsonFlag()}, databaseFlags()...),
		Action:    importFiles,
	}
}

func ownerFlag() cli.Flag {
	return &cli.StringFlag{Name: "user", Usage: "`EMAIL` address of the owner (default: the server's owner)"}
}

func importFiles(c *cli.Context) error {
	in := &project.Inputs{Stdin: c.App.Reader}
	var files []*project.Blueprint
	for _, name := range c.Args().Slice() {
		b, err := readForImport(c, in, name)
		if err != nil {
			return err
		}
		files = append(files, b)
	}
	return withStore(c, false, func(ctx context.Context, s *store.Store) error {
		owner, err := importOwner(ctx, s, c.String("user"))
		if err != nil {
			return err
		}
		done, err := importAll(ctx, s, blueprint.Principal{UserID: owner.ID}, files)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return terminal.JSON(c.App.Writer, done)
		}
		for _, each := range done {
			if _, err := fmt.Fprintf(c.App.Writer, "%s  %s\n", each.ID, blueprint.OneLine(each.File)); err != nil {
				return err
			}
		}
		return nil
	})
}

// readForImport reads a file and prints its warnings, and the errors with which a draft
// can be stored. Any other error fails the import.
func readForImport(c *cli.Context, in *project.Inputs, name string) (*project.Blueprint, error) {
	b, issues, err := project.ReadFile(in, name)
	if err != nil {
		return nil, syntaxError(err, "fix the file; nothing was imported")
	}
	for _, issue := range issues {
		if issue.Severity != blueprint.SeverityWarning && !storable(issue) {
			return nil, usage("run blueprintd validate for all errors; nothing was imported", "%s", b.Document.Point(issue))
		}
	}
	if len(b.References) > 0 {
		to := b.References[0]
		where := b.Document.Point(blueprint.Issue{Path: to.Path, Message: "is a name instead of an id; import does not resolve names", Severity: blueprint.SeverityError})
		return nil, usage("run blueprintd sync DIR --apply for files that refer to other files or to connections; nothing was imported", "%s", where)
	}
	pointOut(c.App.ErrWriter, b, issues)
	return b, nil
}

// storable reports whether a draft can be stored with an error: one in a node can be
// fixed later, one in the structure of the map cannot.
func storable(issue blueprint.Issue) bool {
	return issue.NodeID != "" && len(issue.Path) > 3 && issue.Path[1] == "nodes"
}

func importOwner(ctx context.Context, s *store.Store, email string) (blueprint.User, error) {
	if email == "" {
		user, err := s.ServerOwner(ctx)
		return user, blueprint.WithHint(err, "run blueprintd user add --email you@example.org to add one")
	}
	return userByEmail(ctx, s, email)
}

// imported is a stored file in the output of --json.
type imported struct {
	File string `json:"file"`
	ID   string `json:"id"`
}

// importAll stores files. When one fails, it deletes those stored before.
func importAll(ctx context.Context, s *store.Store, owner blueprint.Principal, files []*project.Blueprint) ([]imported, error) {
	var done []imported
	for _, b := range files {
		id, err := server.ImportBlueprint(ctx, s, owner, b)
		if err != nil {
			for _, before := range done {
				_, undone := s.DeleteBlueprint(ctx, owner, before.ID)
				err = errors.Join(err, undone)
			}
			code, message, hint := explained(err)
			return nil, &exit{code, b.Document.Name + " cannot be stored: " + message, hint}
		}
		done = append(done, imported{b.Document.Name, id})
	}
	return done, nil
}
