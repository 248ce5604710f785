package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
	"blueprintd/store"
	"blueprintd/store/masterkey"
)

func commandMove() *cli.Command {
	return &cli.Command{
		Name: "move", Usage: "copy everything from a database file to PostgreSQL, or back; stop the server first",
		Description: "Copies every table in one state, counts and hashes its rows, and does so again in the target. The target is an empty\n" +
			"PostgreSQL database or a file that does not exist, and stays so until everything is verified. The source is not\n" +
			"changed: keep it until you trust the target, but do not start a server on both. Secrets stay encrypted with the same\n" +
			"master key, which is not copied.",
		UsageText: "blueprintd move --from blueprintd.db --to postgres://user@host/blueprintd\nblueprintd move --from postgres://user@host/blueprintd --to blueprintd.db --master-key-file blueprintd.db.key",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "`DATABASE` to copy: a file or the URL of a PostgreSQL database"},
			&cli.StringFlag{Name: "to", Usage: "new `DATABASE`: a file or the URL of an empty PostgreSQL database"},
			jsonFlag(),
			&cli.StringFlag{Name: "master-key-file", Usage: "`FILE` with the key of the database (default: the file of --from with .key appended)", Category: storageCategory},
			&cli.BoolFlag{Name: "allow-network-fs", Usage: "open a database on a network file system, which may corrupt it", Category: storageCategory},
		},
		Action: move,
	}
}

func move(c *cli.Context) error {
	for _, name := range []string{"from", "to"} {
		if c.String(name) == "" {
			return usage("blueprintd move --from blueprintd.db --to postgres://USER@HOST/NAME", "move needs --%s", name)
		}
	}
	from, err := movedDatabase(c, "from")
	if err != nil {
		return err
	}
	to, err := movedDatabase(c, "to")
	if err != nil {
		return err
	}
	switch {
	case from.Database == "" && to.Database == "":
		return usage("run blueprintd backup and blueprintd restore to copy a file, or name a PostgreSQL database", "%s and %s are both files", given(c, "from"), given(c, "to"))
	case from.Database != "" && c.String("master-key-file") == "":
		return usage("--master-key-file blueprintd.key", "%s is a PostgreSQL database, and move needs its --master-key-file", given(c, "from"))
	}
	if from.Database == "" {
		if _, err := os.Stat(from.Path); errors.Is(err, fs.ErrNotExist) {
			return blueprint.Hinted("name the file of a database with --from", "there is no database %s", from.Path)
		}
	}
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	key, err := masterkey.Read(from.Path, c.String("master-key-file"), from.Logger)
	if err != nil {
		return err
	}
	if key.Sealer == nil {
		return blueprint.Hinted(blueprint.SeeDocs("restore it from your copy, or name it with --master-key-file", "backup-and-recovery"), "there is no master key %s", key.Path)
	}
	show, end := showStages(c)
	from.Sealer, to.Sealer = key.Sealer, key.Sealer
	report, err := store.Move(ctx, from, to, show)
	end()
	if err != nil {
		if ctx.Err() != nil {
			return blueprint.Hinted("run it again", "the move was interrupted; nothing is left in the target")
		}
		return err
	}
	if report.Damaged != nil {
		from.Logger.Warn("moved damaged runs as they are", "count", report.Damaged.Count, "executions", report.Damaged.String(), "hint", "restore them from an older backup, or leave them")
	}
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, report)
	}
	return printMoved(c, report, fileio.Absolute(key.Path))
}

// movedDatabase returns the options of a database that a flag names.
func movedDatabase(c *cli.Context, flag string) (store.Options, error) {
	options := storeOptions(c, textLog(c))
	options.Path, options.Database = c.String(flag), ""
	if scheme, _, isURL := strings.Cut(options.Path, "://"); isURL && scheme != "" {
		options.Path, options.Database = "", options.Path
		if err := store.CheckURL(options.Database); err != nil {
			return options, usage("--"+flag+" postgres://USER@HOST/NAME", "%s: %s", given(c, flag), err)
		}
		return options, nil
	}
	return options, checkFile(flag, options.Path)
}

// printMoved prints what was moved, and how to start a server on it.
func printMoved(c *cli.Context, r store.MoveReport, key string) error {
	total := int64(0)
	for _, rows := range r.Rows {
		total += rows
	}
	serve := "--db " + blueprint.ShellWord(r.To)
	if strings.Contains(r.To, "://") {
		serve = "--database URL" // which may have a password and parameters
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s  has everything of %s: %s in %s, counted and compared; %s\n  start it with: blueprintd serve %s --master-key-file %s\n  %s was not changed; start no server on it any more\n",
		r.To, r.From, blueprint.Counted(int(total), "row"), blueprint.Counted(len(r.Rows), "table"), contents(r.Rows, r.Unfinished),
		serve, blueprint.ShellWord(key), r.From)
	return err
}
