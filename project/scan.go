package project

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// The limits of a folder.
const (
	MaxFiles   = 10_000  // blueprint, test and input files
	MaxEntries = 200_000 // files and folders of any kind
	maxDepth   = 64
)

// Kind is the kind of a project file.
type Kind string

const (
	KindBlueprint Kind = "blueprint" // *.blueprint.yaml, .yml or .json
	KindTest      Kind = "test"      // *.test.yaml, .yml or .json
	KindInput     Kind = "input"     // *.input.json
)

// KindOf returns the kind of a file by its name, "" for other files.
func KindOf(name string) Kind {
	stem, extension, _ := cutLast(path.Base(name))
	if extension != "yaml" && extension != "yml" && extension != "json" {
		return ""
	}
	first, kind, _ := cutLast(stem)
	switch {
	case first == "":
		return ""
	case kind == string(KindBlueprint), kind == string(KindTest), kind == string(KindInput) && extension == "json":
		return Kind(kind)
	}
	return ""
}

func cutLast(name string) (before, after string, found bool) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", "", false
	}
	return name[:i], name[i+1:], true
}

// Stem returns the path of a file without its kind and extension, which is the same for
// files that belong together.
func Stem(name string) string {
	stem, _, _ := cutLast(name)
	stem, _, _ = cutLast(stem)
	return stem
}

// Listing holds the files of a folder by their paths in it, with slashes.
type Listing map[string]fs.FileInfo

// Unseen is a blueprint file that Survey cannot read, or a folder that it does not enter.
type Unseen struct {
	Path   string
	Why    string
	Folder bool
}

// Scan lists the project files below a folder. It skips hidden folders, node_modules, and
// links that lead out of the folder, and does not enter linked folders.
func Scan(folder string) (Listing, error) {
	found, _, err := Survey(folder)
	return found, err
}

// Survey is Scan that also returns what was skipped for reasons other than its name, so
// that blueprints there are not mistaken for deleted ones.
func Survey(folder string) (Listing, []Unseen, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	found, entries := Listing{}, 0
	var unseen []Unseen
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if entries++; entries > MaxEntries {
			return fmt.Errorf("the folder holds more than %d files and folders", MaxEntries)
		}
		switch {
		case err != nil && name != "." && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case entry.IsDir():
			deep := strings.Count(name, "/") >= maxDepth
			if name != "." && (skipped(entry) || deep) {
				if !skipped(entry) {
					unseen = append(unseen, Unseen{name, "it is too deep", true})
				}
				return fs.SkipDir
			}
			return nil
		case skipped(entry):
			return nil
		case KindOf(name) == "":
			if entry.Type()&fs.ModeSymlink != 0 {
				unseen = append(unseen, Unseen{name, "it is a link", true})
			}
			return nil
		}
		info, err := root.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			if why := notRead(entry, err); why != "" && KindOf(name) == KindBlueprint {
				unseen = append(unseen, Unseen{name, why, false})
			}
			return nil
		}
		if found[name] = info; len(found) > MaxFiles {
			return fmt.Errorf("the folder holds more than %d blueprint and test files", MaxFiles)
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return found, unseen, nil
}

// Folders lists a folder and the readable folders below it that Scan enters.
func Folders(folder string) []string {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	found := []string{folder}
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir() || path == folder:
			return nil
		case skipped(entry):
			return fs.SkipDir
		}
		found = append(found, path)
		return nil
	})
	return found
}

func skipped(entry fs.DirEntry) bool {
	return strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"
}

// notRead returns the reason why a file is not listed, "" if it does not exist.
func notRead(entry fs.DirEntry, err error) string {
	switch {
	case entry.Type()&fs.ModeSymlink != 0:
		return "it is a broken link, or a link out of the folder"
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return err.Error()
	}
	return "it is not a regular file"
}

// ReadListed returns the content of a file in a folder, of at most a number of bytes. It
// does not follow links out of the folder.
func ReadListed(folder, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is larger than %d bytes", most)
	}
	return data, err
}
