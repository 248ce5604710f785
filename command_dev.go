package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
	"blueprintd/project/deploy"
	"blueprintd/server"
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
		Action: dev,
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

func dev(c *cli.Context) error {
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
	l := &devLoop{
		dir: dir, server: s, screen: screen, problems: screen.Beside(c.App.ErrWriter), seen: listing, run: !c.Bool("no-run"), open: c.Bool("open"), owner: blueprint.Principal{UserID: s.Bootstrap.Account.ID},
		options: deploy.Options{Name: name, Prune: o.Ephemeral || c.Bool("prune"), Force: o.Ephemeral || c.Bool("force"), Secret: func() string { return s.IDs.Token(32) }},
		wanted:  map[string]project.Desired{}, running: map[string]*devRun{}, tests: map[string]devTest{},
	}
	return served(ctx, s, serveAndWatch(asOperator(ctx, c), s, l))
}

// keepNothing has the server be one of the moment, as if its flag stood on the
// command line: before a place that the environment names for every start.
func keepNothing(c *cli.Context) error {
	if stands, ok := c.App.Metadata[lineNotes].(map[string]bool); ok {
		stands["ephemeral"] = true
	}
	return c.Set("ephemeral", "true")
}

// serveAndWatch runs the server, and the loop beside it once it is ready, until
// one of them ends.
func serveAndWatch(ctx context.Context, s *server.Server, l *devLoop) error {
	serving, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(serving) }()
	select {
	case err := <-ended:
		return err
	case <-s.Opened:
	}
	loop, stopLoop := context.WithCancelCause(ctx)
	over := make(chan error, 1)
	go func() {
		select {
		case err := <-ended:
			ended <- err
			stopLoop(cmp.Or(err, context.Canceled))
		case <-loop.Done():
		}
	}()
	go func() { over <- l.loop(loop) }()
	err := <-over
	stopLoop(context.Canceled)
	stop()
	l.screen.Status("")
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, <-ended)
}

// greet says where the server is, and shows it.
func (l *devLoop) greet() {
	s, host := l.server, l.server.APIHost()
	where := "in memory; nothing is kept"
	if !s.Options.Ephemeral {
		where = fileio.Absolute(s.Options.DB)
	}
	l.screen.Say("", "blueprintd %s develops %s on %s", version, filepath.Clean(l.dir), host)
	l.screen.Say("", "  database  %s", where)
	if s.Options.Sandbox != nil {
		l.screen.Say("", "  sandbox   nothing real is reached")
	}
	shows := host + "/"
	if s.Link != nil {
		shows = s.Link.URL()
		s.Link.Then(func(address string) {
			l.screen.Say("", "  sign in again  %s  (works once, for 15 minutes)", address)
		})
		l.screen.Say("", "  sign in   %s  (without a password; works once, for 15 minutes)", shows)
	}
	if s.Bootstrap.Setup != "" {
		if s.Link == nil {
			shows = host + s.Bootstrap.Setup
		}
		l.screen.Say("", "  dashboard %s%s  (sets a password; works once)", host, s.Bootstrap.Setup)
	} else {
		l.screen.Say("", "  dashboard %s/", host)
	}
	if s.Bootstrap.Made {
		l.screen.Say("", "  API key   %s", s.Bootstrap.APIKey)
	}
	if l.open {
		l.show(shows, shows != host+"/")
	}
}
