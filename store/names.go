package store

import (
	"os"
	"path/filepath"
	"strings"
)

// beforeRestore stands between the name of a database and the time in the name
// that it keeps when another one is restored in its place, and restoring behind
// the name of the one that takes the place.
const (
	beforeRestore = ".before-restore-"
	restoring     = ".restoring"
)

// checkNames refuses a database file that has a second name: each name has a
// lock of its own, so that two servers could have it. The names that a killed
// restore has left do not count; their lock is that of the database.
func checkNames(path string, info os.FileInfo) error {
	if names := namesOf(info); names < 2 || names <= 1+uint64(len(leftNames(path, info))) {
		return nil
	}
	return refusal("remove the other names (find FOLDER -samefile "+path+" shows them), or make a file of its own: cp "+path+" "+path+".copy && mv "+path+".copy "+path+", with the server stopped",
		"the database %s is a file with more than one name (hard link), and under each another server could open it", path)
}

// leftNames lists the other names that a killed restore has left of a database.
func leftNames(path string, info os.FileInfo) (names []string) {
	folder := filepath.Dir(path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		suffix, is := strings.CutPrefix(entry.Name(), filepath.Base(path))
		if !is || suffix != restoring && !strings.HasPrefix(suffix, beforeRestore) {
			continue
		}
		if other, err := entry.Info(); err == nil && os.SameFile(info, other) {
			names = append(names, filepath.Join(folder, entry.Name()))
		}
	}
	return names
}

// dropNames removes them: the file stays under its own. Only who has the lock
// may, for a restore has it too.
func dropNames(path string) {
	info, err := os.Stat(path)
	if err != nil || namesOf(info) < 2 {
		return
	}
	for _, name := range leftNames(path, info) {
		_ = os.Remove(name) // the next start tries again
	}
}
