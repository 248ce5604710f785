package command

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/store"
	"blueprintd/store/masterkey"
)

func commandRestore() *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "replace the database with a backup; the server must be stopped", ArgsUsage: "FILE",
		Description: "Everything is checked before anything is changed: the checksum, the signature, the version, every page and row, the master key.\n" +
			"The signature tells that the backup was made with a key in the key file: the present one, or an old one that a rotation has kept there.\n" +
			"Sessions end and links to set a password become void; keys revoked and passwords changed since the backup are as they were then.\n" +
			"An existing database is never replaced without --force, and then kept under another name.",
		Flags: append(databaseFlags(),
			&cli.BoolFlag{Name: "force", Usage: "replace the existing database, which is kept as NAME.before-restore-TIME"},
			&cli.BoolFlag{Name: "pause-triggers", Usage: "switch all triggers off, so that the copy starts nothing by itself"},
			&cli.BoolFlag{Name: "unverified", Usage: "restore a backup whose signature does not verify: whoever wrote the file then decides what is in it, accounts, keys and blueprints included"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON instead of text"},
		),
		Action: restore,
	}
}

func restore(c *cli.Context) error {
	if c.NArg() != 1 || c.Args().First() == "" {
		return usage("blueprintd restore my.backup --db blueprintd.db", "restore takes the name of one file")
	}
	if err := checkDatabase(c); err != nil {
		return err
	}
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	logger := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	key, err := masterkey.Read(c.String("db"), c.String("master-key-file"), logger)
	if err != nil {
		return err
	}
	if key.Sealer == nil && c.String("master-key-file") != "" {
		return blueprint.Hinted("check the path", "there is no master key %s", key.Path)
	}
	show, end := stageShown(c.App.ErrWriter)
	report, err := store.Restore(asOperator(ctx, c), c.Args().First(),
		store.Options{Path: c.String("db"), Schema: programOf(c).Schema, Sealer: key.Sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: logger},
		store.RestoreOptions{Force: c.Bool("force"), PauseTriggers: c.Bool("pause-triggers"), KeyFile: key.Path, OldKeys: key.Old, Unverified: c.Bool("unverified"), Progress: show})
	end()
	if err != nil {
		return err
	}
	if !report.Verified {
		logger.Warn("the backup was not verified: whoever wrote the file decided what is in it", "path", c.Args().First(), "hint", "review users, keys, members and blueprints before the server starts")
	}
	if report.Damaged != nil {
		logger.Warn("some runs in the backup were damaged already when it was made", "count", report.Damaged.Count, "executions", report.Damaged.String())
	}
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, report)
	}
	return printRestored(c, report)
}

// printRestored says what is there now, and what will happen at the next start.
func printRestored(c *cli.Context, r store.RestoreReport) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s  restored as of %s: %s\n", r.Database, r.At, contents(r.BackupReport))
	if r.Resealed > 0 {
		fmt.Fprintf(&text, "  %s encrypted with the present master key; the backup was made with an old one\n", blueprint.Counted(int(r.Resealed), "value"))
	}
	if r.Before != "" {
		fmt.Fprintf(&text, "  what was there before is %s\n", r.Before)
	}
	if r.Unfinished > 0 {
		fmt.Fprintf(&text, "  %s will go on when the server starts; nodes with effect once that were running will ask for their outcome\n", blueprint.Counted(int(r.Unfinished), "unfinished run"))
	}
	fmt.Fprintln(&text, "  all users are signed out of the dashboard, and links to set a password are void; keys revoked and passwords changed after the backup are as they were when it was made")
	if c.Bool("pause-triggers") {
		fmt.Fprintf(&text, "  switched off: %s\n", blueprint.Counted(int(r.Paused), "trigger"))
	} else if r.Rows["triggers"] > 0 {
		fmt.Fprintln(&text, "  schedules then catch up according to their catchUp")
	}
	_, err := c.App.Writer.Write([]byte(text.String()))
	return err
}
