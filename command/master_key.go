package command

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/command/terminal"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/store"
	"blueprintd/store/masterkey"
)

func commandMasterKey() *cli.Command {
	return &cli.Command{
		Name: "master-key", Usage: "look after the key that encrypts secrets",
		Subcommands: []*cli.Command{{
			Name: "rotate", Usage: "encrypt all secrets with a new master key; the server must be stopped",
			Description: "Makes a new key and encrypts everything with it that is encrypted. The key file keeps the old keys behind the\n" +
				"new one: restore needs them for backups that were made before. --forget drops them. May be killed at any\n" +
				"moment: what comes next, be it the server or this command, finds the key that the database then has.",
			Flags: append(databaseFlags(),
				&cli.BoolFlag{Name: "forget", Usage: "drop the old keys: backups that were made before cannot be verified or read any more"},
				&cli.BoolFlag{Name: "allow-damaged", Usage: "leave what is damaged and can be read with no key as it is"},
				&cli.BoolFlag{Name: "json", Usage: "print JSON instead of text"}),
			Action: masterKeyRotate,
		}},
	}
}

func masterKeyRotate(c *cli.Context) error {
	if err := checkDatabase(c); err != nil {
		return err
	}
	db := c.String("db")
	if _, err := os.Stat(db); errors.Is(err, fs.ErrNotExist) {
		return blueprint.Hinted("name it with --db FILE", "there is no database %s", db)
	}
	logger := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	key, err := masterkey.Read(db, c.String("master-key-file"), logger)
	if err != nil {
		return err
	}
	if key.Sealer == nil {
		return blueprint.Hinted("name it with --master-key-file, or restore it from your backup", "there is no master key %s", key.Path)
	}
	if masterkey.IsCredential(key.Path) {
		return blueprint.Hinted("name the file that the service manager takes it from with --master-key-file", "the master key %s was handed over by the service manager and cannot be changed there", key.Path)
	}
	ctx, stop := untilInterrupted(c.Context)
	defer stop()
	show, end := stageShown(c.App.ErrWriter)
	r := masterkey.Rotation{
		Key: key,
		Store: store.Options{
			Path: db, Schema: programOf(c).Schema, Clock: clock.Real{}, IDs: ids.New(nil), Logger: logger, AllowNetworkFS: c.Bool("allow-network-fs"),
		},
		Forget:  c.Bool("forget"),
		Options: store.ChangeKeyOptions{AllowDamaged: c.Bool("allow-damaged"), Progress: show},
	}
	report, err := r.Run(asOperator(ctx, c))
	end()
	if err != nil {
		if ctx.Err() != nil {
			return blueprint.Hinted("run it again", "it was interrupted; the database has the master key that it had")
		}
		return err
	}
	if report.Damaged > 0 {
		logger.Warn("what is damaged was left as it is; it can be read with no key", "count", report.Damaged, "places", strings.Join(report.DamagedPlaces, ", "))
	}
	if c.Bool("json") {
		return terminal.JSON(c.App.Writer, report)
	}
	return printRotated(c, report)
}

// printRotated says which key is where now.
func printRotated(c *cli.Context, r masterkey.Report) error {
	text := fmt.Sprintf("%s  has a new master key: %s\n", r.Database, r.Key)
	if r.Finished {
		text = fmt.Sprintf("%s  a change of its master key had been cut off; it is finished now: %s\n  Run the command again for one more key.\n", r.Database, r.Key)
	} else {
		text += fmt.Sprintf("  %s encrypted with it; keep a copy of it somewhere else\n", blueprint.Counted(int(r.Values), "value"))
	}
	if r.OldKeys > 0 {
		text += fmt.Sprintf("  %s kept behind it in the file, for backups made before; rotate with --forget once these are gone\n", blueprint.Counted(r.OldKeys, "old key"))
	}
	for _, name := range r.Removed {
		text += "  Removed " + name + ", which a rotation that was killed had left.\n"
	}
	_, err := c.App.Writer.Write([]byte(text))
	return err
}
