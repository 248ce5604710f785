package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/secret"
	"blueprintd/store"
	"blueprintd/store/masterkey"
)

func commandBackup() *cli.Command {
	return &cli.Command{
		Name: "backup", Usage: "copy the database into one verified file; works while the server runs", ArgsUsage: "FILE",
		Description: "The copy contains everything that was acknowledged before it began. Every row and page is checked before FILE\n" +
			"appears. FILE ends with a checksum and a signature made with the master key, which blueprintd restore verifies.\n" +
			"Secrets stay encrypted. The master key is not included: keep a copy of it elsewhere.",
		UsageText: "blueprintd backup my.backup --db blueprintd.db\nblueprintd backup my.backup --database postgres://user@host/blueprintd --master-key-file blueprintd.key",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "replace FILE if it is a backup"},
			&cli.BoolFlag{Name: "allow-damaged", Usage: "back up a database with damaged runs"},
			jsonFlag(),
		}, databaseFlags()...),
		Action: backup,
	}
}

func backup(c *cli.Context) error {
	if err := checkDatabaseExists(c); err != nil {
		return err
	}
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	options := storeOptions(c, textLog(c))
	key, err := masterkey.Read(options.Path, c.String("master-key-file"), options.Logger)
	if err != nil {
		return err
	}
	if key.Sealer == nil {
		return blueprint.Hinted(blueprint.SeeDocs("restore it from your copy, or name it with --master-key-file", "backup-and-recovery"), "there is no master key %s, and a backup is signed with it", key.Path)
	}
	options.ReadOnly = true
	s, err := key.Open(func(sealer *secret.Sealer) (*store.Store, error) {
		options.Sealer = sealer
		return store.Open(ctx, options)
	})
	if err != nil {
		return err
	}
	show, end := showStages(c)
	report, err := s.Backup(ctx, c.Args().First(), store.BackupOptions{Force: c.Bool("force"), AllowDamaged: c.Bool("allow-damaged"), KeyFile: key.Path, Version: programOf(c).Version, Progress: show})
	end()
	if err = errors.Join(err, s.Close()); err != nil {
		if ctx.Err() != nil {
			return blueprint.Hinted("run it again", "the backup was interrupted; it left no file behind")
		}
		return err
	}
	if sameFolder(report.Path, key.Path) {
		if _, err := fmt.Fprintf(c.App.ErrWriter, "warning: the backup and the master key %s are in one folder; both together reveal the secrets\nhint: keep them, and a copy of the key, in different places\n", fileio.Absolute(key.Path)); err != nil {
			return err
		}
	}
	if report.Damaged != nil {
		options.Logger.Warn("backup contains damaged runs", "count", report.Damaged.Count, "executions", report.Damaged.String(), "hint", "keep your older backups; run blueprintd doctor --full for details")
	}
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, report)
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s  %d bytes, %s; checked and signed\n  sha256 %s\n  The master key is not included: keep a copy of %s elsewhere.\n",
		report.Path, report.Size, contents(report.Rows, report.Unfinished), report.Digest, fileio.Absolute(key.Path))
	return err
}

func contents(rows map[string]int64, unfinished int64) string {
	of := func(table, what string) string { return blueprint.Counted(int(rows[table]), what) }
	return fmt.Sprintf("%s, %s, %s (%d unfinished)", of("blueprints", "blueprint"), of("triggers", "trigger"), of("executions", "run"), unfinished)
}

// sameFolder reports whether a file and an existing key are in one folder.
func sameFolder(path, key string) bool {
	if _, err := os.Stat(key); err != nil {
		return false
	}
	one, err := os.Stat(filepath.Dir(path))
	other, otherErr := os.Stat(filepath.Dir(key))
	return err == nil && otherErr == nil && os.SameFile(one, other)
}

// showStages returns a function that shows the progress of a long command on a
// terminal, and one that clears it.
func showStages(c *cli.Context) (show func(stage string, done, total int64), end func()) {
	screen := terminal.NewScreen(c.App.ErrWriter)
	show = func(stage string, done, total int64) {
		if total > 0 {
			stage = fmt.Sprintf("%s %3d %%", stage, 100*done/total)
		}
		screen.Status("%s", stage)
	}
	return show, func() { screen.Status("") }
}

func commandRestore() *cli.Command {
	return &cli.Command{
		Name: "restore", Usage: "replace the database with a backup; stop the server first", ArgsUsage: "FILE",
		Description: "Checks everything before it changes anything: checksum, signature, version, every page and row, master key.\n" +
			"The signature must be made with a key in the key file: the current one, or an old one kept there by a rotation.\n" +
			"Sessions end and links to set a password become void. Keys and passwords are those of the time of the backup:\n" +
			"keys revoked since then are valid again. An existing file is replaced only with --force, and kept under another name.\n" +
			"A PostgreSQL database must be empty; --force replaces everything in it, in one transaction.",
		UsageText: "blueprintd restore my.backup --db blueprintd.db\nblueprintd restore my.backup --db copy.db --master-key-file blueprintd.db.key --pause-triggers",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "replace the existing database; a file is kept as NAME.before-restore-TIME"},
			&cli.BoolFlag{Name: "pause-triggers", Usage: "pause all triggers, so that the copy starts no runs"},
			&cli.BoolFlag{Name: "unverified", Usage: "restore a backup whose signature does not verify. The author of such a file controls its accounts, keys and blueprints"},
			jsonFlag(),
		}, databaseFlags()...),
		Action: restore,
	}
}

func restore(c *cli.Context) error {
	if err := checkDatabase(c); err != nil {
		return err
	}
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	options := storeOptions(c, textLog(c))
	key, err := masterkey.Read(options.Path, c.String("master-key-file"), options.Logger)
	if err != nil {
		return err
	}
	if key.Sealer == nil && c.String("master-key-file") != "" {
		return blueprint.Hinted("check the path", "there is no master key %s", key.Path)
	}
	options.Sealer = key.Sealer
	show, end := showStages(c)
	report, err := store.Restore(asOperator(ctx, c), c.Args().First(), options,
		store.RestoreOptions{Force: c.Bool("force"), PauseTriggers: c.Bool("pause-triggers"), KeyFile: key.Path, OldKeys: key.Old, Unverified: c.Bool("unverified"), Progress: show})
	end()
	if err != nil {
		return err
	}
	if !report.Verified {
		options.Logger.Warn("restored an unverified backup", "path", c.Args().First(), "hint", "review users, keys, members and blueprints before you start the server")
	}
	if report.Damaged != nil {
		options.Logger.Warn("backup was made with damaged runs", "count", report.Damaged.Count, "executions", report.Damaged.String())
	}
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, report)
	}
	return printRestored(c, report)
}

// printRestored prints what was restored, and what the next start does.
func printRestored(c *cli.Context, r store.RestoreReport) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s  restored as of %s: %s\n", r.Database, r.At, contents(r.Rows, r.Unfinished))
	if r.Resealed > 0 {
		fmt.Fprintf(&text, "  %s encrypted with the current master key; the backup was made with an old one\n", blueprint.Counted(int(r.Resealed), "value"))
	}
	if r.Before != "" {
		fmt.Fprintf(&text, "  the previous database is kept as %s\n", r.Before)
	}
	if r.Unfinished > 0 {
		fmt.Fprintf(&text, "  %s will continue when the server starts; running nodes with effect once will ask for their outcome\n", blueprint.Counted(int(r.Unfinished), "unfinished run"))
	}
	fmt.Fprintln(&text, "  all users are signed out of the dashboard, and links to set a password are void; keys and passwords are those of the time of the backup: keys revoked since then are valid again")
	if c.Bool("pause-triggers") {
		fmt.Fprintf(&text, "  paused: %s\n", blueprint.Counted(int(r.Paused), "trigger"))
	} else if r.Rows["triggers"] > 0 {
		fmt.Fprintln(&text, "  when the server starts, schedules catch up according to their catchUp")
	}
	_, err := c.App.Writer.Write([]byte(text.String()))
	return err
}
