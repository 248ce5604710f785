package masterkey

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/secret"
	"blueprintd/store"
)

// NewSuffix is the suffix of the file of the next master key. The file exists before
// the database has the new key, and is renamed to the old one after that.
const NewSuffix = ".new"

// mostKeyFile bounds the size of a key file, in bytes: about a thousand keys.
const mostKeyFile = 1 << 16

// parseKeys reads what is in the file of a master key: the key on the first
// line, and on the others those that it had before, the newest first.
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

// RealPath follows links to where a key's file is: its successor is there too.
func RealPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// NextKey reads the key that an interrupted change of the master key has left; nil
// if there is none.
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

// Open opens a database with its master key. If a change of the key was interrupted
// after the database had the new one, the file is renamed now.
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

// adopt renames the file of the new key to that of the old one, unless another
// process has done so.
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
		return blueprint.Hinted("mv "+blueprint.ShellWord(path+NewSuffix)+" "+blueprint.ShellWord(path), "the database has a new master key, which cannot get its name: %s", fileio.Cause(err))
	}
	return nil
}
