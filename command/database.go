package command

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/store"
	"blueprintd/store/masterkey"

	"github.com/urfave/cli/v2"
)

// databaseFlags are the flags of every command that opens the database.
func databaseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "db", Usage: "the database `FILE`", Value: "blueprintd.db"},
		&cli.StringFlag{Name: "master-key-file", Usage: "the `FILE` with the key that encrypts secrets (default: the database's name + .key)"},
		&cli.BoolFlag{Name: "allow-network-fs", Usage: "open the database even on a network file system, where it may be destroyed"},
	}
}

// checkDatabase refuses what cannot be the name of a database.
func checkDatabase(c *cli.Context) error {
	path := c.String("db")
	if path == "" {
		return usage("--db blueprintd.db", "%s: name a file", given(c, "db"))
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return blueprint.Hinted("name a file in it: --db "+filepath.Join(path, "blueprintd.db"), "the database %s is a folder", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return blueprint.Hinted("create the folder, or choose another place with --db", "the folder %s of the database does not exist", filepath.Dir(path))
	}
	return nil
}

// openTool opens the database for a command line tool, beside a server or
// without one. An existing database is required unless create is set.
func openTool(c *cli.Context, create bool) (*store.Store, error) {
	s, _, err := openSealed(c, create)
	return s, err
}

// openSealed is openTool for who has to open what is encrypted, too.
func openSealed(c *cli.Context, create bool) (s *store.Store, opens *secret.Sealer, err error) {
	if err := checkDatabase(c); err != nil {
		return nil, nil, err
	}
	path := c.String("db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !create {
		return nil, nil, blueprint.Hinted("name it with --db FILE, or make one with blueprintd serve or blueprintd user add", "there is no database %s", path)
	}
	logger := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	key, err := masterkey.Open(path, c.String("master-key-file"), logger)
	if err != nil {
		return nil, nil, err
	}
	s, err = key.Open(func(sealer *secret.Sealer) (*store.Store, error) {
		opens = sealer
		return store.Open(c.Context, store.Options{Path: path, Schema: programOf(c).Schema, Sealer: sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: logger, AllowNetworkFS: c.Bool("allow-network-fs")})
	})
	return s, opens, err
}

// withTool opens the database for the time of use. What is changed meanwhile is
// noted in the audit log.
func withTool(c *cli.Context, create bool, use func(ctx context.Context, s *store.Store) error) error {
	s, err := openTool(c, create)
	if err != nil {
		return err
	}
	return errors.Join(use(asOperator(c.Context, c), s), s.Close())
}
