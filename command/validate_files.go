package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// fileChecker checks files whose names have one of several endings.
type fileChecker struct {
	endings []string
	check   func(in *validation, name string) ([]problem, error)
}

// fileCheckers are the kinds of files that validate knows.
var fileCheckers = []fileChecker{
	{[]string{".blueprint.yaml", ".blueprint.yml", ".blueprint.json"}, blueprintProblems},
	{[]string{".test.yaml", ".test.yml", ".test.json"}, testProblems},
	{[]string{".seed.yaml", ".seed.yml", ".seed.json"}, seedProblems},
}

// checkerIndex returns the index of the checker of a file, -1 for none.
func checkerIndex(name string) int {
	return slices.IndexFunc(fileCheckers, func(k fileChecker) bool {
		return slices.ContainsFunc(k.endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
	})
}

// checkerOf returns the check for a file; an unknown name is a blueprint's.
func checkerOf(name string) func(*validation, string) ([]problem, error) {
	return fileCheckers[max(checkerIndex(name), 0)].check
}

// maxFiles is the largest number of files in a folder.
const maxFiles = 10_000

// filesToCheck replaces folders by the files in them that validate knows.
func filesToCheck(names []string) (files []string, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			files = append(files, name) // an unreadable file is reported when it is read
			continue
		}
		found, err := filesBelow(name)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

// filesBelow returns the files below a folder, sorted by path, without hidden folders
// and node_modules.
func filesBelow(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return usage("check the path and its permissions", "%s cannot be read: %s", path, fileio.Cause(err))
		case entry.IsDir() && path != folder && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || checkerIndex(name) < 0:
			return nil
		case len(files) == maxFiles:
			return usage("name its subfolders one by one", "%s has more than %d files", folder, maxFiles)
		}
		files = append(files, path)
		return nil
	})
	if err == nil && len(files) == 0 {
		err = usage(blueprint.SeeDocs("name blueprint files *.blueprint.yaml or *.blueprint.json", "files"), "%s has no file to validate", folder)
	}
	return files, err
}
