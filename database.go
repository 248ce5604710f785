package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"blueprintd/clock"
	"blueprintd/ids"
	"blueprintd/secret"
	"blueprintd/store"
)

// databaseFlags are the flags of every command that opens the database.
func databaseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "db", Usage: "the database `FILE`", Value: "blueprintd.db", EnvVars: environment("db")},
		&cli.StringFlag{Name: "master-key-file", Usage: "the `FILE` with the key that encrypts secrets (default: the database's name + .key)", EnvVars: environment("master-key-file")},
	}
}

// openTool opens the database for a command line tool, beside a server or
// without one. An existing database is required unless create is set.
func openTool(c *cli.Context, create bool) (*store.Store, error) {
	path := c.String("db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !create {
		return nil, usage("name it with --db FILE, or make one with blueprintd serve or blueprintd user add", "there is no database %s", path)
	}
	sealer, undo, err := masterKey(path, c.String("master-key-file"))
	if err != nil {
		return nil, err
	}
	s, err := store.Open(c.Context, store.Options{Path: path, Schema: schema, Sealer: sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))})
	if err != nil {
		undo()
		return nil, err
	}
	return s, nil
}

// withTool opens the database for the time of use.
func withTool(c *cli.Context, create bool, use func(ctx context.Context, s *store.Store) error) error {
	s, err := openTool(c, create)
	if err != nil {
		return err
	}
	return errors.Join(use(c.Context, s), s.Close())
}

// masterKey reads the master key of a database, or makes one where there is
// none; undo takes a new one back when the database turns out to have had
// another.
func masterKey(database, path string) (sealer *secret.Sealer, undo func(), err error) {
	undo = func() {}
	if path == "" {
		path = database + ".key"
	}
	data, err := readFile(path, 1<<12)
	if errors.Is(err, fs.ErrNotExist) {
		key := secret.NewKey()
		if err := writeFile(path, []byte(hex.EncodeToString(key)+"\n"), true); err != nil {
			return nil, undo, failed("make the folder writable, or name another file with --master-key-file", "the master key cannot be written to %s: %s", path, cause(err))
		}
		sealer, err = secret.NewSealer(key)
		return sealer, func() { os.Remove(path) }, err
	}
	if err != nil {
		return nil, undo, failed("check the owner and mode of the file", "the master key %s cannot be read: %s", path, cause(err))
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) != secret.KeySize {
		return nil, undo, failed("restore the file from your backup", "%s is no master key: it must hold %d hexadecimal digits", path, 2*secret.KeySize)
	}
	sealer, err = secret.NewSealer(key)
	return sealer, undo, err
}

// writeFile writes a file whole, for its owner alone, and onto the disk: under
// a name of its own first, so that nobody ever reads half of it. With fresh
// set, a file that exists is not replaced.
func writeFile(path string, data []byte, fresh bool) (err error) {
	temporary := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temporary)
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if fresh {
		return os.Link(temporary, path)
	}
	return os.Rename(temporary, path)
}
