package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"

	"github.com/urfave/cli/v2"

	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/secret"
	"blueprintd/store"
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
		return failed("name a file in it: --db "+filepath.Join(path, "blueprintd.db"), "the database %s is a folder", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return failed("create the folder, or choose another place with --db", "the folder %s of the database does not exist", filepath.Dir(path))
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
		return nil, nil, failed("name it with --db FILE, or make one with blueprintd serve or blueprintd user add", "there is no database %s", path)
	}
	logger := slog.New(slog.NewTextHandler(c.App.ErrWriter, nil))
	key, err := openMasterKey(path, c.String("master-key-file"), logger)
	if err != nil {
		return nil, nil, err
	}
	s, err = key.open(func(sealer *secret.Sealer) (*store.Store, error) {
		opens = sealer
		return store.Open(c.Context, store.Options{Path: path, Schema: schema, Sealer: sealer, Clock: clock.Real{}, IDs: ids.New(nil), Logger: logger, AllowNetworkFS: c.Bool("allow-network-fs")})
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

// writeFile writes a file whole, for its owner alone, and onto the disk: under
// a name of its own first, which nobody can guess and put a link at, so that nobody
// ever reads half of it. With fresh set, a file that exists is not replaced.
func writeFile(path string, data []byte, fresh bool) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), fmt.Sprintf("%s.%d.*.tmp", filepath.Base(path), os.Getpid())) // 0600, and O_EXCL
	if err != nil {
		return err
	}
	temporary := f.Name()
	defer os.Remove(temporary)
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if fresh {
		err = os.Link(temporary, path)
	} else {
		err = os.Rename(temporary, path)
	}
	if err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// syncFolder brings the names in a folder onto the disk. Where folders cannot
// be synced there is nothing to be done about it.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && runtime.GOOS != "windows" {
		return err
	}
	return nil
}
