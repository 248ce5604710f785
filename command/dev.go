package command

import (
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
		Name: "dev", Usage: "run a server for a folder of blueprint files, and check, store and run each file when it is saved", ArgsUsage: "DIR",
		Description: "The server stores everything in memory unless --db names a database. It has the blueprints of the folder's\n" +
			"*.blueprint.yaml, .yml and .json files, as blueprintd sync would create them.\n" +
			"When a file is saved with errors, they are shown and the stored blueprint stays as it is. Otherwise the blueprint is\n" +
			"stored and its tests (*.test.yaml) are run. A blueprint without tests runs with the input in NAME.input.json, the\n" +
			"input of its last run, or {}. All flags of blueprintd serve apply too.",
		UsageText: "blueprintd dev flows --open\nblueprintd dev flows --sandbox --clock virtual\nblueprintd dev flows --db dev.db --addr 127.0.0.1:9000",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "open", Usage: "open the dashboard in a browser; with a database in memory, already signed in"},
			&cli.BoolFlag{Name: "no-run", Usage: "check and store saved files without running them"},
			&cli.BoolFlag{Name: "prune", Usage: "with --db: delete blueprints without a file, and triggers that their files do not have"},
			&cli.BoolFlag{Name: "force", Usage: "with --db: overwrite changes made on the server (in memory: always)"},
			folderNameFlag(),
		}, devServeFlags()...),
		Action: developFolder,
	}
}

// devServeFlags returns the flags of serve, with a database in memory as the default.
func devServeFlags() []cli.Flag {
	flags := slices.DeleteFunc(serveFlags(), func(f cli.Flag) bool { return slices.Contains([]string{"database", "shutdown-delay"}, f.Names()[0]) })
	for _, flag := range flags {
		switch f := flag.(type) {
		case *cli.StringFlag:
			if f.Name == "db" {
				// A database named by the environment is meant for serve, not for experiments.
				f.Value, f.EnvVars, f.Usage = "", noVariable, "database `FILE` (default: in memory)"
			}
		case *cli.BoolFlag:
			f.Hidden = f.Name == "ephemeral"
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
		if err := setEphemeral(c); err != nil {
			return err
		}
	}
	o, err := serveOptions(c)
	if err != nil {
		return err
	}
	shown := c.App.Writer
	if o.Out = io.Discard; o.ReadyFile == server.ReadyOnOutput { // a program reads the output
		o.Out, shown = c.App.Writer, c.App.ErrWriter
	}
	o.Dev = true
	screen := terminal.NewScreen(shown)
	o.Logger = newLog(c.String("log-format"), screen.Beside(c.App.ErrWriter), slog.LevelWarn)
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	ctx, stopReading := untilInputEnds(ctx, o.UntilEOF)
	defer stopReading()
	s, err := server.New(ctx, o)
	if err != nil {
		return startError(ctx, o, err)
	}
	err = dev.Serve(asOperator(ctx, c), s, dev.Options{
		Dir: dir, Files: listing, Version: programOf(c).Version, Run: !c.Bool("no-run"), Open: c.Bool("open"),
		Screen: screen, Problems: screen.Beside(c.App.ErrWriter),
		Deploy: deploy.Options{Name: name, Prune: o.Ephemeral || c.Bool("prune"), Force: o.Ephemeral || c.Bool("force"), Secret: func() string { return s.IDs.Token(32) }},
	})
	return serveError(ctx, s, err)
}

// setEphemeral sets --ephemeral as if it were on the command line, so that it takes
// precedence over a database named by the environment.
func setEphemeral(c *cli.Context) error {
	if flags, ok := c.App.Metadata[lineFlags].(map[string]bool); ok {
		flags["ephemeral"] = true
	}
	return c.Set("ephemeral", "true")
}
