package main

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"blueprintd/secret"
	"blueprintd/store"
)

// rotation gives a database a new master key. Its steps are such that after a
// kill at any moment one of the two files has the key that the database has:
//
//	new    the new key lies beside the old one, on the disk
//	old    the old key has a second name, under which it stays
//	switch the database has the new key, in one transaction
//	name   the new key has taken the name of the old one
//
// Until "switch" the database opens with the old key, and the next rotation
// replaces the new one; from then on whoever opens the database finds that it
// belongs to the new one, and does "name"; see masterKey.open.
type rotation struct {
	key     masterKey
	store   store.Options
	options store.ChangeKeyOptions
	// after, if not nil, is called when a step is done; its error ends the
	// rotation there, as a kill would.
	after func(step string) error
}

// rotationReport says which key is where.
type rotationReport struct {
	Database string `json:"database"`
	Key      string `json:"key"`
	Old      string `json:"oldKey,omitempty"`
	// Finished says that an earlier rotation was finished, and nothing else done.
	Finished bool `json:"finishedEarlier,omitempty"`
	// OldKeys are all files beside the key with a key that it had once, and
	// Removed those that were left by rotations that were killed.
	OldKeys []string `json:"oldKeys,omitempty"`
	Removed []string `json:"removed,omitempty"`
	store.ChangeKeyReport
}

func (r *rotation) run(ctx context.Context) (report rotationReport, err error) {
	s, err := r.key.open(func(sealer *secret.Sealer) (*store.Store, error) {
		options := r.store
		options.Sealer = sealer
		return store.OpenToChangeKey(ctx, options)
	})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	path := realKey(r.key.path)
	report.Database, report.Key = absolute(r.store.Path), absolute(path)
	if report.Removed, err = removeStale(path); err != nil {
		return report, failed("make the folder writable, or remove it yourself; nothing was changed", "what an earlier rotation left beside %s cannot be removed: %s", path, cause(err))
	}
	if r.key.adopted {
		report.Finished = true
		report.OldKeys, err = oldKeys(path)
		return report, err
	}
	raw := secret.NewKey()
	next, err := secret.NewSealer(raw)
	if err != nil {
		return report, err
	}
	if err := writeNewKey(path, raw); err != nil {
		return report, failed("make the folder writable, or move the key and name it with --master-key-file; nothing was changed", "the new master key cannot be written beside %s: %s", path, cause(err))
	}
	if err := r.did("new"); err != nil {
		return report, err
	}
	if report.Old, err = keepOldKey(path, r.key.sealer); err != nil {
		return report, failed("make the folder writable, or move the key and name it with --master-key-file; nothing was changed", "the old master key cannot be kept beside %s: %s", path, cause(err))
	}
	if err := r.did("old"); err != nil {
		return report, err
	}
	if report.ChangeKeyReport, err = s.ChangeKey(ctx, next, r.options); err != nil {
		return report, err
	}
	if err := r.did("switch"); err != nil {
		return report, err
	}
	if err := r.key.adopt(); err != nil {
		return report, err
	}
	if report.OldKeys, err = oldKeys(path); err != nil {
		return report, err
	}
	return report, r.did("name")
}

func (r *rotation) did(step string) error {
	if r.after == nil {
		return nil
	}
	return r.after(step)
}

// writeNewKey writes the key that will take the place of the one at path, onto
// the disk. One that lies there was never used: the database has just been
// opened with the one at path.
func writeNewKey(path string, raw []byte) error {
	name := path + newKeySuffix
	if err := writeFile(name, []byte(hex.EncodeToString(raw)+"\n"), false); err != nil {
		return err
	}
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(store.GiveTo(file, path), file.Close())
}

// keepOldKey gives the old key a second name, which tells it from others, so
// that it outlasts its successor.
func keepOldKey(path string, sealer *secret.Sealer) (kept string, err error) {
	kept = path + oldKeySuffix + hex.EncodeToString(sealer.Check()[:4])
	err = os.Link(path, kept)
	if errors.Is(err, fs.ErrExist) {
		present, readErr := os.ReadFile(kept)
		if readErr != nil {
			return "", readErr
		}
		if known, err := parseKey(kept, present); err == nil && string(known.Check()) == string(sealer.Check()) {
			return absolute(kept), nil
		}
		return "", errors.New(kept + " is there already and holds something else")
	}
	if err != nil { // a file system without links
		data, readErr := os.ReadFile(path)
		if readErr != nil {
			return "", readErr
		}
		err = writeFile(kept, data, false)
	}
	return absolute(kept), errors.Join(err, syncFolder(filepath.Dir(path)))
}
