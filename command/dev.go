package command

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"

	"blueprintd/command/dev"
	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/project/deploy"
	"blueprintd/server"

	"github.com/urfave/cli/v2"
)

func commandDev() *cli.Command {
	return &cli.Command{
		Name: "dev", Usage: "run a server for a folder of blueprint files: each save is checked, stored and run", ArgsUsage: "DIR",
		Description: "The server is one of the moment unless --db names a database. Its blueprints are those of the folder's *.blueprint.yaml,\n" +
			".yml and .json files, as blueprintd sync would make them. When a file is saved, what is wrong in it is shown and the old one\n" +
			"stays; else it is stored, and run: the tests beside it (*.test.yaml) if there are any, else the blueprint with the input of\n" +
			"NAME.input.json, with that of its last run, or with {}. It takes the flags of serve besides.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "open", Usage: "show the dashboard in a browser, signed in where the database is in memory"},
			&cli.BoolFlag{Name: "no-run", Usage: "only check and store what is saved"},
			&cli.BoolFlag{Name: "prune", Usage: "with --db: delete blueprints whose files are gone, and triggers that their files do not name"},
			&cli.BoolFlag{Name: "force", Usage: "with --db: overwrite what was changed on the server since (in memory: always)"},
			&cli.StringFlag{Name: "name", Usage: "the `NAME` of the folder on the server (default: the name in the folder's file .blueprintd.yaml, else that of the folder itself)"},
		}, devServeFlags()...),
		Action: developFolder,
	}
}

// devServeFlags are the flags of serve, those first that are of use here, but that
// nothing is kept unless a database is named.
func devServeFlags() []cli.Flag {
	first := []string{"addr", "db", "sandbox", "clock"}
	flags := make([]cli.Flag, len(first))
	for _, flag := range commandServe().Flags {
		switch f := flag.(type) {
		case *cli.StringFlag:
			if f.Name == "db" {
				// A database that the environment names is one to serve, not to try things in.
				f.Value, f.EnvVars, f.Usage = "", noVariable, "keep everything in this database `FILE` (default: in memory)"
			}
		case *cli.BoolFlag:
			f.Hidden = f.Name == "ephemeral" // it is so anyway
		}
		if i := slices.Index(first, flag.Names()[0]); i >= 0 {
			flags[i] = flag
		} else {
			flags = append(flags, flag)
		}
	}
	return flags
}

func developFolder(c *cli.Context) error {
	dir, name, err := folderArgument(c)
	if err != nil {
		return err
	}
	listing, err := project.Scan(dir)
	if err != nil {
		return usage("check the path", "%s cannot be read: %s", dir, fileio.Cause(err))
	}
	if c.String("db") == "" {
		if err := keepNothing(c); err != nil {
			return err
		}
	}
	o, err := serveOptions(c)
	if err != nil {
		return err
	}
	shown := c.App.Writer
	if o.Out = io.Discard; o.ReadyFile == server.ReadyOnOutput { // a program reads there
		o.Out, shown = c.App.Writer, c.App.ErrWriter
	}
	o.Develops = true
	screen := terminal.NewScreen(shown)
	o.Logger = newLog(c.String("log-format"), screen.Beside(c.App.ErrWriter), slog.LevelWarn)
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	ctx, stopReading := untilEnd(ctx, o.UntilEOF)
	defer stopReading()
	s, err := server.New(ctx, o)
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return stoppedEarly(ctx, o)
		}
		return err
	}
	err = dev.Serve(asOperator(ctx, c), s, dev.Options{
		Dir: dir, Files: listing, Version: programOf(c).Version, Run: !c.Bool("no-run"), Open: c.Bool("open"),
		Screen: screen, Problems: screen.Beside(c.App.ErrWriter),
		Deploy: deploy.Options{Name: name, Prune: o.Ephemeral || c.Bool("prune"), Force: o.Ephemeral || c.Bool("force"), Secret: func() string { return s.IDs.Token(32) }},
	})
	return served(ctx, s, err)
}

// keepNothing has the server be one of the moment, as if its flag stood on the
// command line: before a place that the environment names for every start.
func keepNothing(c *cli.Context) error {
	if stands, ok := c.App.Metadata[lineNotes].(map[string]bool); ok {
		stands["ephemeral"] = true
	}
	return c.Set("ephemeral", "true")
}
