package main

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"blueprintd/secret"
	"blueprintd/store"
)

// newKeySuffix stands behind the name of a master key's file in the name of the
// one that takes its place. The file is there before the database has the new
// key, and gets the name of the old one after that.
const newKeySuffix = ".new"

// parseKey reads what is in the file of a master key.
func parseKey(path string, data []byte) (*secret.Sealer, error) {
	raw, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(raw) != secret.KeySize {
		return nil, failed("restore the file from your backup", "%s is no master key: it must hold %d hexadecimal digits", path, 2*secret.KeySize)
	}
	return secret.NewSealer(raw)
}

// realKey follows links to where a key's file is: its successor is there too.
func realKey(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// nextKey reads the key that a change of the master key, which was cut off, has
// left; nil when there is none.
func (k *masterKey) nextKey() (*secret.Sealer, error) {
	path := realKey(k.path) + newKeySuffix
	data, err := readFile(path, 1<<12)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("check the owner and mode of the file", "the master key %s cannot be read: %s", path, cause(err))
	}
	return parseKey(path, data)
}

// open opens a database with its master key. Where a change of the key was cut
// off after the database had the new one, the file gets its name now.
func (k *masterKey) open(open func(*secret.Sealer) (*store.Store, error)) (*store.Store, error) {
	s, err := open(k.sealer)
	if err == nil {
		return s, nil
	}
	if !store.OtherKey(err) {
		return nil, k.refused(err)
	}
	next, nextErr := k.nextKey()
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
	k.sealer, k.made, k.adopted = next, false, true
	return s, nil
}

// adopt gives the new key the name of the old one. Another process may have been
// faster.
func (k *masterKey) adopt() error {
	path := realKey(k.path)
	err := os.Rename(path+newKeySuffix, path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return failed("mv "+quoted(path+newKeySuffix)+" "+quoted(path), "the database has a new master key, which cannot get its name: %s", cause(err))
	}
	return nil
}
