// Package masterkey creates, reads and rotates the key that seals the secrets of a
// database. The key is in a file beside the database unless another path is given, and only
// its owner may read it.
package masterkey

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/secret"
	"blueprintd/store"
	"blueprintd/store/dbfile"
)

// Key is the key that encrypts the secrets of a database.
type Key struct {
	Path   string // "" for a key without a file
	made   bool   // there was no file
	late   bool   // and there was a database already, which has another key
	Sealer *secret.Sealer
	Old    []*secret.Sealer // earlier keys in the file, the newest first
	// adopted reports that an interrupted change of the key was finished.
	adopted bool
}

// File returns the path of a database's key file.
func File(database, chosen string) string {
	if chosen == "" {
		return database + ".key"
	}
	return chosen
}

// Open reads the master key of a database. If there is none, it creates one for a file;
// "" is a database that processes on several machines may use, which need the same key.
func Open(database, chosen string, logger *slog.Logger) (Key, error) {
	key, err := Read(database, chosen, logger)
	if err != nil || key.Sealer != nil {
		return key, err
	}
	if database == "" {
		return key, blueprint.Hinted("run blueprintd master-key create "+blueprint.ShellWord(key.Path)+" once, and copy the file to every machine", "there is no master key %s", key.Path)
	}
	info, err := os.Stat(database)
	late, made := err == nil && info.Size() > 0, true
	if err := Create(key.Path); errors.Is(err, fs.ErrExist) { // another process was faster
		made = false
	} else if err != nil {
		return key, err
	}
	key, err = Read(database, chosen, logger)
	key.made, key.late = made, late
	if err == nil && key.Sealer == nil {
		err = blueprint.Hinted("run the command again", "another process has removed the master key %s", key.Path)
	}
	return key, err
}

// Create creates a master key in a new file. The error is fs.ErrExist if there is a file.
func Create(path string) error {
	err := fileio.Write(path, []byte(hex.EncodeToString(secret.NewKey())+"\n"), true)
	switch {
	case err == nil || errors.Is(err, fs.ErrExist):
		return err
	case errors.Is(err, syscall.ENOSPC):
		return blueprint.Hinted("free some space, or choose another place with --db", "the disk is full: the master key cannot be written to %s", path)
	}
	return blueprint.Hinted("make the folder writable, or name another file with --master-key-file", "the master key cannot be written to %s: %s", path, fileio.Cause(err))
}

// Read reads the master key of a database. The Sealer is nil if there is no file.
func Read(database, chosen string, logger *slog.Logger) (Key, error) {
	key := Key{Path: File(database, chosen)}
	data, err := fileio.Read(key.Path, mostKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return key, nil
	}
	if err != nil {
		return key, blueprint.Hinted("check the owner and mode of the file", "the master key %s cannot be read: %s", key.Path, fileio.Cause(err))
	}
	all, err := parseKeys(key.Path, data)
	if err != nil {
		return key, err
	}
	if info, err := os.Stat(key.Path); err == nil {
		if hint := Protect(info, key.Path); hint != "" {
			logger.Warn("master key file is accessible to other users", "path", key.Path, "hint", hint)
		}
	}
	key.Sealer, key.Old = all[0], all[1:]
	return key, nil
}

// Protect returns the command that protects a key file from other users; "" if it is protected.
// So is a file of another user, such as root, that only the group of this process may read:
// Kubernetes passes secrets in that way.
func Protect(info fs.FileInfo, path string) (command string) {
	if IsCredential(path) || !info.Mode().IsRegular() {
		return ""
	}
	return protect(info.Mode(), dbfile.IsOwned(info), blueprint.ShellWord(path))
}

func protect(mode fs.FileMode, owned bool, path string) (command string) {
	switch {
	case owned && mode&0o077 != 0:
		return "chmod 600 " + path
	case !owned && mode&0o037 != 0:
		return fmt.Sprintf("as root: chown %d %[2]s && chmod 600 %[2]s", os.Geteuid(), path)
	}
	return ""
}

// refused removes a new key if no process can open the database with it, and returns an
// error that names the missing key if the database had one. After any other error the key
// stays: a process that started at the same time may have read it and be using it.
func (k Key) refused(err error) error {
	known, ok := errors.AsType[*blueprint.Error](err)
	if !k.made || !k.late && (!ok || known.Outage || errors.Is(err, dbfile.ErrHeld)) {
		return err
	}
	os.Remove(k.Path)
	if ok && strings.Contains(known.Hint, "--master-key-file") {
		return blueprint.Hinted(blueprint.SeeDocs("restore it from your backup, or say with --master-key-file where it is", "backup-and-recovery"), "the master key %s is missing, and the database was used with one", k.Path)
	}
	return err
}

// IsCredential reports whether a file is a credential of the service manager, which only
// the service can read regardless of its mode.
func IsCredential(path string) bool {
	folder := os.Getenv("CREDENTIALS_DIRECTORY")
	return folder != "" && filepath.Dir(fileio.Absolute(path)) == filepath.Clean(folder)
}

// NewSuffix is the suffix of the file of the next master key. The file exists before the
// database uses the new key, and is renamed to the name of the old one afterwards.
const NewSuffix = ".new"

// mostKeyFile is the maximum size of a key file in bytes: about a thousand keys.
const mostKeyFile = 1 << 16

// parseKeys parses the content of a master key file: the current key is on the first line,
// earlier keys follow, newest first.
func parseKeys(path string, data []byte) (keys []*secret.Sealer, err error) {
	for _, line := range strings.Fields(string(data)) {
		raw, err := hex.DecodeString(line)
		if err != nil || len(raw) != secret.KeySize {
			keys = nil
			break
		}
		key, err := secret.NewSealer(raw)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, blueprint.Hinted(blueprint.SeeDocs("restore the file from your backup", "backup-and-recovery"), "%s is not a master key: it must hold %d hexadecimal digits, and the same on further lines for old keys", path, 2*secret.KeySize)
	}
	return keys, nil
}

// RealPath resolves links to the key file; the file of the next key is beside it.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// NextKey reads the key that an interrupted key change left; nil if there is none.
func (k *Key) NextKey() (*secret.Sealer, error) {
	path := RealPath(k.Path) + NewSuffix
	data, err := fileio.Read(path, mostKeyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, blueprint.Hinted("check the owner and mode of the file", "the master key %s cannot be read: %s", path, fileio.Cause(err))
	}
	keys, err := parseKeys(path, data)
	if err != nil {
		return nil, err
	}
	return keys[0], nil
}

// Open opens a database with its master key. If a key change was interrupted after the
// database received the new key, Open renames the file.
func (k *Key) Open(open func(*secret.Sealer) (*store.Store, error)) (*store.Store, error) {
	s, err := open(k.Sealer)
	if err == nil {
		return s, nil
	}
	if !store.OtherKey(err) {
		return nil, k.refused(err)
	}
	next, nextErr := k.NextKey()
	if next == nil || nextErr != nil {
		return nil, k.refused(err)
	}
	s, retryErr := open(next)
	switch {
	case store.OtherKey(retryErr):
		return nil, k.refused(err)
	case retryErr != nil:
		return nil, retryErr
	}
	if err := k.adopt(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	k.Sealer, k.made, k.adopted = next, false, true
	return s, nil
}

// adopt renames the file of the new key to the old name, unless another process has.
func (k *Key) adopt() error {
	path := RealPath(k.Path)
	err := os.Rename(path+NewSuffix, path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = fileio.SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		return blueprint.Hinted("mv "+blueprint.ShellWord(path+NewSuffix)+" "+blueprint.ShellWord(path), "the database has a new master key, which cannot be renamed: %s", fileio.Cause(err))
	}
	return nil
}
