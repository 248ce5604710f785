package masterkey

import (
	"blueprintd/foundation/fileio"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// staleKeyName is the end of the name, beside a master key's file, of a new one
// that a process was writing, whose number is in it.
var staleKeyName = regexp.MustCompile(`^\.new\.([1-9][0-9]{0,9})(?:\.[0-9]{1,10})?\.tmp$`)

// removeStale removes new keys that were being written by processes that are
// gone, and tells which. No other rotation is under way: the caller has the
// database.
func removeStale(path string) (removed []string, err error) {
	stale, err := besideKey(path, func(end string) bool {
		match := staleKeyName.FindStringSubmatch(end)
		return match != nil && isGone(match[1])
	})
	if err != nil {
		return nil, err
	}
	for _, name := range stale {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
		removed = append(removed, name)
	}
	return removed, nil
}

// besideKey lists the files in the folder of a key whose names are its own with
// an end, in the order of their names.
func besideKey(path string, fits func(end string) bool) (names []string, err error) {
	entries, err := os.ReadDir(filepath.Dir(path))
	for _, entry := range entries {
		end, ok := strings.CutPrefix(entry.Name(), filepath.Base(path))
		if ok && entry.Type().IsRegular() && fits(end) {
			names = append(names, fileio.Absolute(filepath.Join(filepath.Dir(path), entry.Name())))
		}
	}
	return names, err
}

// isGone reports whether surely no process has a number.
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
