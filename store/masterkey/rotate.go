package masterkey

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/foundation/secret"
	"blueprintd/store"
	"blueprintd/store/dbfile"
)

// Rotation replaces the master key of a database. After a kill at any step, one of the two
// files contains the key of the database:
//
//	new    the new file, with the new key and the old ones, is complete
//	switch the database has the new key, in one transaction
//	name   the new file is renamed to the old one
//
// Until "switch" the database opens with the old key, and the next rotation replaces the
// new one; after it, Key.Open finds the new key and performs "name".
type Rotation struct {
	Key     Key
	Store   store.Options
	Options store.ChangeKeyOptions
	Forget  bool // keep no old keys
	// After, if not nil, is called after each step. If it returns an error, the rotation
	// ends there, like after a kill.
	After func(step string) error
}

// Report is the result of a Rotation.
type Report struct {
	Database string `json:"database"`
	Key      string `json:"key"`
	// Finished reports that the rotation only completed an earlier one.
	Finished bool `json:"finishedEarlier,omitempty"`
	// OldKeys is the number of earlier keys in the file. Removed lists the files left by
	// killed rotations.
	OldKeys int      `json:"oldKeys"`
	Removed []string `json:"removed,omitempty"`
	store.ChangeKeyReport
}

func (r *Rotation) Run(ctx context.Context) (report Report, err error) {
	s, err := r.Key.Open(func(sealer *secret.Sealer) (*store.Store, error) {
		options := r.Store
		options.Sealer = sealer
		return store.OpenToChangeKey(ctx, options)
	})
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	path := RealPath(r.Key.Path)
	report.Database, report.Key = fileio.Absolute(r.Store.Path), fileio.Absolute(path)
	if r.Store.Database != "" {
		report.Database = s.Name()
	}
	if report.Removed, err = removeStale(path); err != nil {
		return report, blueprint.Hinted("make the folder writable, or remove it yourself; nothing was changed", "the leftovers of an earlier rotation beside %s cannot be removed: %s", path, fileio.Cause(err))
	}
	lines, err := keyLines(path)
	if err != nil {
		return report, blueprint.Hinted("check the owner and mode of the file; nothing was changed", "the master key %s cannot be read: %s", path, fileio.Cause(err))
	}
	if r.Key.adopted {
		report.Finished, report.OldKeys = true, len(lines)-1
		if r.Forget && report.OldKeys > 0 {
			report.OldKeys = 0
			if err := writeKeys(path+NewSuffix, path, lines[:1]); err != nil {
				return report, err
			}
			err = r.Key.adopt()
		}
		return report, err
	}
	raw := secret.NewKey()
	next, err := secret.NewSealer(raw)
	if err != nil {
		return report, err
	}
	if r.Forget {
		lines = nil
	}
	report.OldKeys = len(lines)
	if err := writeKeys(path+NewSuffix, path, append([]string{hex.EncodeToString(raw)}, lines...)); err != nil {
		return report, blueprint.Hinted("make the folder writable, or move the key and name it with --master-key-file; nothing was changed", "the new master key cannot be written beside %s: %s", path, fileio.Cause(err))
	}
	if err := r.did("new"); err != nil {
		return report, err
	}
	if report.ChangeKeyReport, err = s.ChangeKey(ctx, next, r.Options); err != nil {
		return report, err
	}
	if err := r.did("switch"); err != nil {
		return report, err
	}
	if err := r.Key.adopt(); err != nil {
		return report, err
	}
	return report, r.did("name")
}

func (r *Rotation) did(step string) error {
	if r.After == nil {
		return nil
	}
	return r.After(step)
}

// keyLines returns the keys in a file as they are written, the current one first.
func keyLines(path string) ([]string, error) {
	data, err := fileio.Read(path, mostKeyFile)
	return strings.Fields(string(data)), err
}

// writeKeys writes and syncs a key file with the owner of the file like.
func writeKeys(path, like string, lines []string) error {
	if err := fileio.Write(path, []byte(strings.Join(lines, "\n")+"\n"), false); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dbfile.GiveTo(file, like), file.Close())
}

// staleKeyName matches the end of the name of a new key file that a process was writing
// beside a master key's file. It contains the process id.
var staleKeyName = regexp.MustCompile(`^\.new\.([1-9][0-9]{0,9})(?:\.[0-9]{1,10})?\.tmp$`)

// removeStale removes key files left by processes that have ended, and returns their names.
// No other rotation is in progress, because the caller holds the database.
func removeStale(path string) (removed []string, err error) {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		end, beside := strings.CutPrefix(entry.Name(), filepath.Base(path))
		match := staleKeyName.FindStringSubmatch(end)
		if !beside || !entry.Type().IsRegular() || match == nil || !isGone(match[1]) {
			continue
		}
		name := fileio.Absolute(filepath.Join(folder, entry.Name()))
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// isGone reports whether it is certain that no process has an id.
func isGone(number string) bool {
	id, err := strconv.Atoi(number)
	if err != nil {
		return false
	}
	process, err := os.FindProcess(id)
	if err != nil {
		return false
	}
	defer process.Release()
	return errors.Is(process.Signal(syscall.Signal(0)), os.ErrProcessDone)
}
