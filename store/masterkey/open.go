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

// adopt renames the file of the new key to the name of the old one, unless another process
// has done so.
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
