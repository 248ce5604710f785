package command

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/store"
	"blueprintd/store/masterkey"
)

func commandMasterKey() *cli.Command {
	return &cli.Command{
		Name: "master-key", Usage: "create or rotate the key that encrypts secrets",
		Subcommands: []*cli.Command{{
			Name: "create", Usage: "create a master key in a new file",
			Description: "A server with a database file and no --master-key-file creates its key by itself.",
			UsageText:   "blueprintd master-key create blueprintd.key",
			ArgsUsage:   "FILE", Action: masterKeyCreate,
		}, {
			Name: "rotate", Usage: "encrypt all secrets with a new master key; stop the server first",
			Description: "The key file keeps the old keys after the new one, because blueprintd restore needs them for older backups.\n" +
				"The command may be killed at any time: the next start, or the next call of the command, finishes or undoes it.",
			UsageText: "blueprintd master-key rotate --db blueprintd.db",
			Flags: append([]cli.Flag{
				&cli.BoolFlag{Name: "forget", Usage: "drop the old keys; older backups can no longer be verified or read"},
				&cli.BoolFlag{Name: "allow-damaged", Usage: "leave damaged values that no key can decrypt as they are"},
				jsonFlag(),
			}, databaseFlags()...),
			Action: masterKeyRotate,
		}},
	}
}

func masterKeyCreate(c *cli.Context) error {
	path := c.Args().First()
	err := masterkey.Create(path)
	if errors.Is(err, fs.ErrExist) {
		return blueprint.Hinted("name another file; a key is replaced with blueprintd master-key rotate", "%s exists already, and was left as it is", path)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.App.Writer, "%s  holds a new master key; keep a copy of it apart from the database\n", path)
	}
	return err
}

func masterKeyRotate(c *cli.Context) error {
	if err := checkDatabaseExists(c); err != nil {
		return err
	}
	options := storeOptions(c, textLog(c))
	key, err := masterkey.Read(options.Path, c.String("master-key-file"), options.Logger)
	if err != nil {
		return err
	}
	if key.Sealer == nil {
		return blueprint.Hinted(blueprint.SeeDocs("name it with --master-key-file, or restore it from your backup", "backup-and-recovery"), "there is no master key %s", key.Path)
	}
	if masterkey.IsCredential(key.Path) {
		return blueprint.Hinted(blueprint.SeeDocs("name the file from which the service manager reads it with --master-key-file", "backup-and-recovery"), "the master key %s comes from the service manager and cannot be changed there", key.Path)
	}
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	show, end := showStages(c)
	r := masterkey.Rotation{
		Key: key, Store: options, Forget: c.Bool("forget"),
		Options: store.ChangeKeyOptions{AllowDamaged: c.Bool("allow-damaged"), Progress: show},
	}
	report, err := r.Run(asOperator(ctx, c))
	end()
	if err != nil {
		if ctx.Err() != nil {
			return blueprint.Hinted("run it again", "the rotation was interrupted; the database has its previous master key")
		}
		return err
	}
	if report.Damaged > 0 {
		options.Logger.Warn("left damaged values as they are", "count", report.Damaged, "places", strings.Join(report.DamagedPlaces, ", "))
	}
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, report)
	}
	return printRotated(c, report)
}

func printRotated(c *cli.Context, r masterkey.Report) error {
	text := fmt.Sprintf("%s  has a new master key: %s\n", r.Database, r.Key)
	if r.Finished {
		text = fmt.Sprintf("%s  finished an interrupted rotation: %s\n  Run the command again to rotate once more.\n", r.Database, r.Key)
	} else {
		text += fmt.Sprintf("  %s encrypted with it; keep a copy of it elsewhere\n", blueprint.Counted(int(r.Values), "value"))
	}
	if r.OldKeys > 0 {
		text += fmt.Sprintf("  %s kept in the file for older backups; rotate with --forget once you no longer need them\n", blueprint.Counted(r.OldKeys, "old key"))
	}
	if isRemote(c) {
		text += "  copy the file to every machine that runs a process of the server\n"
	}
	for _, name := range r.Removed {
		text += "  removed " + name + ", left by an interrupted rotation\n"
	}
	_, err := c.App.Writer.Write([]byte(text))
	return err
}
