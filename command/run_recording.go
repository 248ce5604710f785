package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/recording"
	"blueprintd/project"
	"blueprintd/project/local"
)

// readConnections reads the file of --connections; nil if the flag is not set.
func readConnections(c *cli.Context) (*local.Connections, error) {
	const hint = "fix the file; nothing was run"
	name := c.String("connections")
	if name == "" {
		if onLine(c, "connections") {
			return nil, usage(blueprint.SeeDocs("--connections crm.seed.yaml", "connections-and-sign-in"), "%s: name a file", given(c, "connections"))
		}
		return nil, nil
	}
	data, err := fileio.Read(name, document.MaxSize)
	if err != nil {
		return nil, usage("name a file that exists", "%s %s: %s", given(c, "connections"), name, fileio.Cause(err))
	}
	connections, issues, err := local.ReadConnections(name, data, project.Environment)
	if err != nil {
		return nil, syntaxError(err, hint) // without the line, which may contain a secret
	}
	if len(issues) > 0 {
		connections.Point(c.App.ErrWriter, issues)
		return nil, usage(hint, "%s has %s", name, blueprint.Counted(len(issues), "error"))
	}
	return connections, nil
}

// checkRecord verifies before the run that --record names a file that can be written
// and does not overwrite anything but a cassette.
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
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return unwritableRecord(name, err)
	case err == nil && info.IsDir():
		return usage(hint, "%s is a folder", name)
	case err == nil && !info.Mode().IsRegular():
		return nil
	case err == nil && info.Size() > 0 && !c.Bool("force"):
		if _, err := recording.ReadCassetteFile(name); err != nil {
			return usage("choose another name, or pass --force to replace it", "%s exists already and is not a cassette", name)
		}
	}
	if err := probe(filepath.Dir(name), ".record-*"); err != nil {
		return unwritableRecord(name, err)
	}
	return nil
}

func unwritableRecord(name string, err error) error {
	return blueprint.Hinted("check the path of --record", "%s cannot be written: %s", name, fileio.Cause(err))
}

// probe verifies that a file can be created in a folder, and removes it.
func probe(folder, pattern string) error {
	f, err := os.CreateTemp(folder, pattern)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// writeCassette writes the calls of a run to a file that only its owner can read.
// Special files, such as /dev/stdout, are written to and not replaced.
func writeCassette(name string, record *blueprint.Recording, opened map[string]recording.Connection) error {
	data, err := recording.NewCassette(record.Exchanges, opened).Bytes()
	if err != nil {
		return err
	}
	if info, statErr := os.Stat(name); statErr == nil && !info.Mode().IsRegular() {
		err = os.WriteFile(name, data, 0o600)
	} else {
		err = fileio.Write(name, data, false)
	}
	if err != nil {
		return unwritableRecord(name, err)
	}
	return nil
}
