package command

import (
	"context"
	"errors"
	"fmt"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/command/terminal"
	"blueprintd/project"
	"blueprintd/server"
	"blueprintd/store"

	"github.com/urfave/cli/v2"
)

func commandImport() *cli.Command {
	return &cli.Command{
		Name: "import", Usage: "store blueprint files as new private drafts; works while the server runs", ArgsUsage: "FILE...",
		Description: "Stores all files or, when one of them is bad, none. What is dubious in them goes to standard error.\n" +
			"A webhook or slack trigger whose secret was left out is stored inactive. A FILE of - is standard input.",
		Flags:  append(databaseFlags(), &cli.StringFlag{Name: "user", Usage: "the `EMAIL` of the owner (default: the server's owner)"}, jsonFlag()),
		Action: importFiles,
	}
}

func importFiles(c *cli.Context) error {
	if c.NArg() == 0 {
		return usage("blueprintd import my.blueprint.yaml", "name at least one file")
	}
	in := &project.Inputs{Stdin: c.App.Reader}
	var files []*project.Blueprint
	for _, name := range c.Args().Slice() {
		b, err := readForImport(c, in, name)
		if err != nil {
			return err
		}
		files = append(files, b)
	}
	return withTool(c, false, func(ctx context.Context, s *store.Store) error {
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
			if _, err := fmt.Fprintf(c.App.Writer, "%s  %s\n", each.ID, each.File); err != nil {
				return err
			}
		}
		return nil
	})
}

// readForImport reads a file and shows what is wrong with it and can be mended
// later; what cannot be stored is an error.
func readForImport(c *cli.Context, in *project.Inputs, name string) (*project.Blueprint, error) {
	b, issues, err := project.ReadFile(in, name)
	var syntax *document.SyntaxError
	if errors.As(err, &syntax) {
		return nil, usage("mend the file; nothing was imported", "%s", syntax.Error())
	}
	if err != nil {
		return nil, err
	}
	for _, issue := range issues {
		if issue.Severity != blueprint.SeverityWarning && !storable(issue) {
			return nil, usage("blueprintd validate shows all that is wrong; nothing was imported", "%s", b.Document.Point(issue))
		}
	}
	if len(b.References) > 0 {
		to := b.References[0]
		where := b.Document.Point(blueprint.Issue{Path: to.Path, Message: "is a name in the place of an id, which import does not look up", Severity: blueprint.SeverityError})
		return nil, usage("blueprintd sync DIR --apply stores files that refer to others or to connections; nothing was imported", "%s", where)
	}
	pointOut(c.App.ErrWriter, b, issues)
	return b, nil
}

// storable reports whether a blueprint with this error can be stored as a draft:
// a bad node can be mended later, a bad shape cannot be stored.
func storable(issue blueprint.Issue) bool {
	return issue.NodeID != "" && len(issue.Path) > 3 && issue.Path[1] == "nodes"
}

func importOwner(ctx context.Context, s *store.Store, email string) (blueprint.User, error) {
	if email == "" {
		user, err := s.ServerOwner(ctx)
		return user, blueprint.WithHint(err, "blueprintd user add --email you@example.org makes one")
	}
	user, err := s.UserByEmail(ctx, email)
	return user, blueprint.WithHint(err, "blueprintd user list shows who there is")
}

// imported says under which id a file was stored.
type imported struct {
	File string `json:"file"`
	ID   string `json:"id"`
}

// importAll stores files; when one cannot be stored, those before it are
// deleted again.
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
