package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/store"
	"blueprintd/store/masterkey"
)

func commandBackup() *cli.Command {
	return &cli.Command{
		Name: "backup", Usage: "copy the database into one checked file; works while the server runs", ArgsUsage: "FILE",
		Description: "The copy has everything that was acknowledged before it began. It is checked, row by row and page by page,\n" +
			"before it gets its name, and ends with a checksum and a signature made with the master key, which restore verifies.\n" +
			"Secrets in it stay encrypted; the master key is not in it.",
		Flags: append(databaseFlags(),
			&cli.BoolFlag{Name: "force", Usage: "replace FILE if it is a backup"},
			&cli.BoolFlag{Name: "allow-damaged", Usage: "back up even a database in which runs are damaged, as it is"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON instead of text"},
		),
		Action: backup,
	}
}

func backup(c *cli.Context) error {
	if c.NArg() != 1 || c.Args().First() == "" {
		return usage("blueprintd backup my.backup --db blueprintd.db", "backup takes the name of one file")
	}
	if err := checkDatabase(c); err != nil {
		return err
	}
	db := c.String("db")
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		return blueprint.Hinted("name it with --db FILE", "there is no database %s", db)
	}
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	logger := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	key, err := masterkey.Read(db, c.String("master-key-file"), logger)
	if err != nil {
		return err
	}
	if key.Sealer == nil {
		return blueprint.Hinted("restore it from your copy, or name it with --master-key-file", "there is no master key %s, and a backup is signed with it", key.Path)
	}
	s, err := key.Open(func(sealer *secret.Sealer) (*store.Store, error) {
		return store.Open(ctx, store.Options{Path: db, Schema: programOf(c).Schema, Sealer: sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: logger, ReadOnly: true, AllowNetworkFS: c.Bool("allow-network-fs")})
	})
	if err != nil {
		return err
	}
	show, end := stageShown(c.App.ErrWriter)
	report, err := s.Backup(ctx, c.Args().First(), store.BackupOptions{Force: c.Bool("force"), AllowDamaged: c.Bool("allow-damaged"), KeyFile: key.Path, Version: programOf(c).Version, Progress: show})
	end()
	if err = errors.Join(err, s.Close()); err != nil {
		if ctx.Err() != nil {
			return blueprint.Hinted("run it again", "the backup was interrupted; nothing was left behind")
		}
		return err
	}
	if together(report.Path, key.Path) {
		if _, err := fmt.Fprintf(c.App.ErrWriter, "warning: the backup and the master key %s are in one folder: who gets both can read the secrets\nhint: keep them in different places, and a copy of the key too\n", fileio.Absolute(key.Path)); err != nil {
			return err
		}
	}
	if report.Damaged != nil {
		logger.Warn("the backup has damaged runs in it", "count", report.Damaged.Count, "executions", report.Damaged.String(), "hint", "keep your older backups; blueprintd doctor --full tells more")
	}
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, report)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s  %d bytes, %s; checked and signed\n  sha256 %s\n  The master key is not in it: keep a copy of %s somewhere else.\n",
		report.Path, report.Size, contents(report), report.Digest, fileio.Absolute(key.Path))
	return err
}

// contents says in a few words what a backup holds.
func contents(r store.BackupReport) string {
	of := func(table, what string) string { return blueprint.Counted(int(r.Rows[table]), what) }
	return fmt.Sprintf("%s, %s, %s (%d unfinished)", of("blueprints", "blueprint"), of("triggers", "trigger"), of("executions", "run"), r.Unfinished)
}

// together reports whether a file and a key that exists are in one folder.
func together(path, key string) bool {
	if _, err := os.Stat(key); err != nil {
		return false
	}
	one, err := os.Stat(filepath.Dir(path))
	other, otherErr := os.Stat(filepath.Dir(key))
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// stageShown returns what shows on a terminal how far a long command is, and takes it
// away.
func stageShown(out io.Writer) (show func(stage string, done, total int64), end func()) {
	screen := terminal.NewScreen(out)
	show = func(stage string, done, total int64) {
		if total > 0 {
			stage = fmt.Sprintf("%s %3d %%", stage, 100*done/total)
		}
		screen.Status("%s", stage)
	}
	return show, func() { screen.Status("") }
}
