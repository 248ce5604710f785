package main

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"syscall"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/secret"
)

// masterKey is the key that encrypts the secrets of a database.
type masterKey struct {
	path   string // "" for a key of the moment
	made   bool   // there was no file
	sealer *secret.Sealer
	old    []*secret.Sealer // that the file has kept, the newest first
	// adopted says that a change of the key, which was cut off, was finished.
	adopted bool
}

// masterKeyFile names the file of a database's key.
func masterKeyFile(database, chosen string) string {
	if chosen == "" {
		return database + ".key"
	}
	return chosen
}

// openMasterKey reads the master key of a database, or makes one where there
// is none.
func openMasterKey(database, chosen string, logger *slog.Logger) (masterKey, error) {
	key, err := readMasterKey(database, chosen, logger)
	if err != nil || key.sealer != nil {
		return key, err
	}
	data := []byte(hex.EncodeToString(secret.NewKey()) + "\n")
	switch err = fileio.Write(key.path, data, true); {
	case errors.Is(err, fs.ErrExist): // another process was faster
	case errors.Is(err, syscall.ENOSPC):
		return key, blueprint.Hinted("free some space, or choose another place with --db", "the disk is full: the master key cannot be written to %s", key.path)
	case err != nil:
		return key, blueprint.Hinted("make the folder writable, or name another file with --master-key-file", "the master key cannot be written to %s: %s", key.path, fileio.Cause(err))
	default:
		key.made = true
	}
	made := key.made
	key, err = readMasterKey(database, chosen, logger)
	key.made = made
	if err == nil && key.sealer == nil {
		err = blueprint.Hinted("run the command again", "another process has taken the master key %s away", key.path)
	}
	return key, err
}

// readMasterKey reads the master key of a database. Where there is none, the
// key that it gives has no sealer.
func readMasterKey(database, chosen string, logger *slog.Logger) (masterKey, error) {
	key := masterKey{path: masterKeyFile(database, chosen)}
	data, err := fileio.Read(key.path, mostKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return key, nil
	}
	if err != nil {
		return key, blueprint.Hinted("check the owner and mode of the file", "the master key %s cannot be read: %s", key.path, fileio.Cause(err))
	}
	all, err := parseKeys(key.path, data)
	if err != nil {
		return key, err
	}
	if info, err := os.Stat(key.path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 && !isCredential(key.path) {
		logger.Warn("other users of this machine can get at the master key", "path", key.path, "hint", "chmod 600 "+quoted(key.path))
	}
	key.sealer, key.old = all[0], all[1:]
	return key, nil
}

// refused takes a new key back when the database could not be opened with it,
// and says so when the one that belongs to the database is not there.
func (k masterKey) refused(err error) error {
	if !k.made {
		return err
	}
	os.Remove(k.path)
	var known *blueprint.Error
	if errors.As(err, &known) && strings.Contains(known.Hint, "--master-key-file") {
		return blueprint.Hinted("restore it from your backup, or say with --master-key-file where it is", "the master key %s is missing, and the database was used with one", k.path)
	}
	return err
}
