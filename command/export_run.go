package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/engine"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/secret"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/store"
)

func commandExportRun() *cli.Command {
	return &cli.Command{
		Name: "export-run", Usage: "write a run as a file, with its blueprint and, if it was recorded, what it exchanged", ArgsUsage: "ID",
		Description: "blueprintd open shows such a file, blueprintd replay repeats it offline. With --test it writes a blueprint file,\n" +
			"a test that expects what the run did, and the cassette that the test is played from.\n" +
			"What is marked secret, credentials of connections, and what looks like a secret are left out; look before you share it.",
		Flags: append(databaseFlags(),
			&cli.StringFlag{Name: "out", Usage: "write to this `FILE` instead of standard output"},
			&cli.StringFlag{Name: "test", Usage: "make a test of the run in this folder, `DIR`"},
		),
		Action: exportRun,
	}
}

func exportRun(c *cli.Context) error {
	if c.NArg() != 1 {
		return usage("blueprintd export-run exec_1735689600000_... --out my.run.json", "export-run takes the id of one run")
	}
	if c.String("out") != "" && c.String("test") != "" {
		return usage("call it twice for both", "--out and --test cannot stand together")
	}
	s, sealer, err := openSealed(c, false)
	if err != nil {
		return err
	}
	return errors.Join(writeRun(c, s, sealer), s.Close())
}

// writeRun writes what the command line asks for, in the place of who made the
// blueprint.
func writeRun(c *cli.Context, s *store.Store, sealer *secret.Sealer) error {
	ctx, id := c.Context, c.Args().First()
	stored, err := s.Load(ctx, id)
	if err != nil {
		return blueprint.WithHint(err, "ids of runs are what blueprint.execute answers, and what the dashboard shows under Runs")
	}
	owner, err := s.Creator(ctx, stored.Row.BlueprintID)
	if err != nil {
		return blueprint.WithHint(err, "runs of a blueprint that was deleted cannot be exported")
	}
	service := exporter(programOf(c).Version, s, sealer)
	if c.String("test") != "" {
		files, err := service.ExportTest(ctx, owner, id)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := writeNew(c, filepath.Join(c.String("test"), file.Name), []byte(file.Content)); err != nil {
				return err
			}
		}
		return nil
	}
	f, err := service.Export(ctx, owner, id)
	if err != nil {
		return err
	}
	data, err := f.Bytes()
	if err != nil {
		return err
	}
	if c.String("out") != "" {
		return writeNew(c, c.String("out"), data)
	}
	_, err = c.App.Writer.Write(data)
	return err
}

// exporter makes files of the runs in a database.
func exporter(version string, s *store.Store, sealer *secret.Sealer) *rpc.Exporter {
	types := project.Catalogue()
	return rpc.NewExporter(s, engine.NewReader(types, s, sealer), types, func() rpc.ServerInfo {
		return rpc.ServerInfo{Version: version, Now: blueprint.TimeOf(clock.Real{}.Now()), Sandbox: s.IsSandbox()}
	})
}

// writeNew writes a file that does not exist yet and says its name. Its folder
// is made.
func writeNew(c *cli.Context, name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return blueprint.Hinted("choose another place", "the folder of %s cannot be made: %s", name, fileio.Cause(err))
	}
	switch err := fileio.Write(name, data, true); {
	case errors.Is(err, fs.ErrExist):
		return blueprint.Hinted("move it away, or choose another place", "%s exists already", name)
	case err != nil:
		return blueprint.Hinted("choose another place", "%s cannot be written: %s", name, fileio.Cause(err))
	}
	_, err := c.App.Writer.Write([]byte(name + "\n"))
	return err
}
