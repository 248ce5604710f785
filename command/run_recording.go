package command

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/recording"
	"blueprintd/project/local"
)

func connectionsFlag() cli.Flag {
	return &cli.StringFlag{Name: "connections", Usage: "use the connections of this `FILE`, YAML or JSON, as a seed file has them; ${NAME} in them is an environment variable"}
}

// chooseConnections reads the connections that a run is given; nil for none.
func chooseConnections(c *cli.Context, lookup func(string) (string, bool)) (*local.Connections, error) {
	const hint = "mend the file; nothing was run"
	name := c.String("connections")
	if name == "" {
		if onLine(c, "connections") {
			return nil, usage("--connections crm.seed.yaml", "%s: name a file", given(c, "connections"))
		}
		return nil, nil
	}
	data, err := fileio.Read(name, document.MaxSize)
	if err != nil {
		return nil, usage("name a file that exists", "%s %s: %s", given(c, "connections"), name, fileio.Cause(err))
	}
	g, issues, err := local.ReadConnections(name, data, lookup)
	var syntax *document.SyntaxError
	switch {
	case errors.As(err, &syntax): // its line may hold a secret
		return nil, usage(hint, "%s", syntax.Error())
	case err != nil:
		return nil, err
	case len(issues) > 0:
		g.Point(c.App.ErrWriter, issues)
		return nil, usage(hint, "%s has %s", name, blueprint.Counted(len(issues), "error"))
	}
	return g, nil
}

// checkRecord tells, before anything runs, that the record of a run could not be
// written, or would take the place of something else.
func checkRecord(c *cli.Context) error {
	const hint = "--record order.cassette.json"
	name := c.String("record")
	if name == "" && !onLine(c, "record") {
		return nil
	}
	switch name {
	case "":
		return usage(hint, "%s: name a file", given(c, "record"))
	case "-":
		return usage(hint, "%s: standard output is for the record of the run; name a file", given(c, "record"))
	}
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return probe(filepath.Dir(name), name)
	case err != nil:
		return blueprint.Hinted("check the path of --record", "%s cannot be written: %s", name, fileio.Cause(err))
	case info.IsDir():
		return usage(hint, "%s is a folder", name)
	case !info.Mode().IsRegular():
		return nil
	}
	if !c.Bool("force") && info.Size() > 0 {
		f, err := os.Open(name)
		if err != nil {
			return blueprint.Hinted("check the path of --record", "%s cannot be read: %s", name, fileio.Cause(err))
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, recording.MaxSize+1))
		if err == nil {
			_, err = recording.ReadCassette(data)
		}
		if err != nil {
			return usage("choose another name, or pass --force to replace it", "%s exists already and is no cassette", name)
		}
	}
	return probe(filepath.Dir(name), name)
}

// probe tries whether a file can be made in a folder, and leaves none.
func probe(folder, name string) error {
	f, err := os.CreateTemp(folder, ".record-*")
	if err != nil {
		return blueprint.Hinted("check the path of --record", "%s cannot be written: %s", name, fileio.Cause(err))
	}
	if err := errors.Join(f.Close(), os.Remove(f.Name())); err != nil {
		return blueprint.Hinted("check the path of --record", "%s cannot be written: %s", name, fileio.Cause(err))
	}
	return nil
}

// writeCassette writes what a run exchanged with other services.
func writeCassette(name string, record *blueprint.Recording, opened map[string]recording.Connection) error {
	data, err := recording.NewCassette(record.Exchanges, opened).Bytes()
	if err != nil {
		return err
	}
	if err := writePrivate(name, data); err != nil {
		return blueprint.Hinted("check the path of --record", "%s cannot be written: %s", name, fileio.Cause(err))
	}
	return nil
}

// writePrivate writes a file for its owner alone, in the place of one that is there;
// what is no file, as /dev/stdout, is written to.
func writePrivate(name string, data []byte) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, data, 0o600)
	}
	return fileio.Write(name, data, false)
}
