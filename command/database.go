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

// checkDatabase refuses a --db or a --database that cannot name a database.
func checkDatabase(c *cli.Context) error {
	if isRemote(c) {
		return checkRemote(c)
	}
	path := c.String("db")
	if path == "" {
		return usage("--db blueprintd.db", "%s: name a file", given(c, "db"))
	}
	return checkFile("db", path)
}

// checkFile refuses a path, given by a flag, that cannot name a database.
func checkFile(flag, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return blueprint.Hinted("name a file in it: --"+flag+" "+filepath.Join(path, "blueprintd.db"), "the database %s is a folder", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return blueprint.Hinted("create the folder, or name another one with --"+flag, "the folder %s of the database does not exist", filepath.Dir(path))
	}
	return nil
}

// isRemote reports whether the database is PostgreSQL.
func isRemote(c *cli.Context) bool { return c.String("database") != "" }

// databaseName returns the database as the user named it, without the password of a URL.
func databaseName(c *cli.Context, s *store.Store) string {
	if isRemote(c) {
		return s.Name()
	}
	return c.String("db")
}

// checkRemote checks --database. It never repeats the URL, which may contain a password.
func checkRemote(c *cli.Context) error {
	if err := store.CheckURL(c.String("database")); err != nil {
		return usage("--database postgres://USER@HOST/NAME", "%s: %s", given(c, "database"), err)
	}
	if c.IsSet("db") {
		return exclude("%s keeps everything in PostgreSQL, and %s names a file", given(c, "database"), given(c, "db"))
	}
	for _, name := range []string{"ephemeral", "min-free", "allow-network-fs", "max-disk"} {
		if c.IsSet(name) {
			return exclude("%s: does not go with %s, whose disk is that of PostgreSQL", given(c, name), given(c, "database"))
		}
	}
	if c.String("master-key-file") == "" {
		return usage("run blueprintd master-key create FILE once and add --master-key-file FILE to every command", "%s needs --master-key-file: all processes use the same master key", given(c, "database"))
	}
	return nil
}

// checkDatabaseExists is checkDatabase for commands that do not create the database.
func checkDatabaseExists(c *cli.Context) error {
	if err := checkDatabase(c); err != nil || isRemote(c) {
		return err
	}
	if _, err := os.Stat(c.String("db")); errors.Is(err, fs.ErrNotExist) {
		return blueprint.Hinted("name it with --db FILE, or create one with blueprintd serve or blueprintd user add", "there is no database %s", c.String("db"))
	}
	return nil
}

// storeOptions returns the options of the database without its key.
func storeOptions(c *cli.Context, logger *slog.Logger) store.Options {
	options := store.Options{Path: c.String("db"), Schema: programOf(c).Schema, Clock: clock.Real{}, IDs: ids.New(nil), Logger: logger, AllowNetworkFS: c.Bool("allow-network-fs")}
	if isRemote(c) {
		options.Path, options.Database = "", c.String("database")
	}
	return options
}

func textLog(c *cli.Context) *slog.Logger { return slog.New(slog.NewTextHandler(c.App.ErrWriter, nil)) }

// openSealed opens the database, which a server may use at the same time, and returns
// the sealer of its encrypted values. A missing database is an error unless create is
// set.
func openSealed(c *cli.Context, create bool) (s *store.Store, opened *secret.Sealer, err error) {
	check := checkDatabaseExists
	if create {
		check = checkDatabase
	}
	if err := check(c); err != nil {
		return nil, nil, err
	}
	options := storeOptions(c, textLog(c))
	key, err := masterkey.Open(options.Path, c.String("master-key-file"), options.Logger)
	if err != nil {
		return nil, nil, err
	}
	s, err = key.Open(func(sealer *secret.Sealer) (*store.Store, error) {
		opened, options.Sealer = sealer, sealer
		return store.Open(c.Context, options)
	})
	return s, opened, err
}

// withStore opens the database and calls use, whose changes are recorded in the audit
// log under the name of the command.
func withStore(c *cli.Context, create bool, use func(ctx context.Context, s *store.Store) error) error {
	s, _, err := openSealed(c, create)
	if err != nil {
		return err
	}
	return errors.Join(use(asOperator(c.Context, c), s), s.Close())
}
