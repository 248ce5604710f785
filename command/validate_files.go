package command

import (
	"blueprintd/foundation/fileio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// fileChecker tells what is wrong with files of one kind, which their names say.
type fileChecker struct {
	endings []string
	check   func(in *validation, name string) ([]problem, error)
}

// fileCheckers are the kinds of files that validate knows. Any other name is
// taken for a blueprint file's.
var fileCheckers = []fileChecker{
	{[]string{".blueprint.yaml", ".blueprint.yml", ".blueprint.json"}, problems},
	{[]string{".test.yaml", ".test.yml", ".test.json"}, testProblems},
	{[]string{".seed.yaml", ".seed.yml", ".seed.json"}, seedProblems},
}

func checkerOf(name string) func(*validation, string) ([]problem, error) {
	for _, kind := range fileCheckers {
		if kind.takes(name) {
			return kind.check
		}
	}
	return problems
}

func (k fileChecker) takes(name string) bool {
	return slices.ContainsFunc(k.endings, func(ending string) bool { return strings.HasSuffix(name, ending) })
}

// mostFiles is how many files of folders are looked at.
const mostFiles = 10_000

// filesToCheck puts the files that validate knows in the place of folders.
func filesToCheck(names []string) (files []string, err error) {
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			files = append(files, name) // what cannot be read is told when it is
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

// filesBelow returns the files of a folder and of those within, sorted by path.
// Hidden folders and node_modules are left out.
func filesBelow(folder string) (files []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return usage("check the path and who may read it", "%s cannot be read: %s", path, fileio.Cause(err))
		case entry.IsDir() && path != folder && (strings.HasPrefix(name, ".") || name == "node_modules"):
			return fs.SkipDir
		case entry.IsDir() || !slices.ContainsFunc(fileCheckers, func(k fileChecker) bool { return k.takes(name) }):
			return nil
		case len(files) == mostFiles:
			return usage("name the folders within one by one", "%s has more than %d files", folder, mostFiles)
		}
		files = append(files, path)
		return nil
	})
	if err == nil && len(files) == 0 {
		err = usage("blueprint files are named *.blueprint.yaml or *.blueprint.json", "%s has no file to validate", folder)
	}
	return files, err
}
