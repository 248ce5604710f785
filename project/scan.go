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

// The bounds of a folder. What goes beyond is no folder of blueprints.
const (
	MaxFiles   = 10_000  // blueprint, test and input files
	MaxEntries = 200_000 // files and folders of any kind that are looked at
	maxDepth   = 64
)

// Kind is what a file of the folder is for.
type Kind string

// The kinds of files.
const (
	KindBlueprint Kind = "blueprint" // *.blueprint.yaml, .yml or .json
	KindTest      Kind = "test"      // *.test.yaml, .yml or .json
	KindInput     Kind = "input"     // *.input.json
)

// KindOf tells from its name what a file is for; "" when it is none of ours.
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

// Stem returns the path of a file without its kind and extension: files with the
// same one belong together.
func Stem(name string) string {
	stem, _, _ := cutLast(name)
	stem, _, _ = cutLast(stem)
	return stem
}

// Listing is the files of a folder, by their paths in it, with slashes.
type Listing map[string]fs.FileInfo

// Unseen is a place of a folder that Survey does not look into, though it may hold
// blueprint files.
type Unseen struct {
	Path   string
	Why    string
	Folder bool // all that is below it is unseen; else it is a blueprint file
}

// Scan lists the files of a folder and of those below it. Folders whose names
// begin with a dot, node_modules, and links that lead out of the folder are left
// out; linked folders are not entered. What disappears meanwhile is not there.
func Scan(folder string) (Listing, error) {
	found, _, err := Survey(folder)
	return found, err
}

// Survey is Scan that says besides which places it left out, but for those that
// are left out by their names: what is there is not gone.
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

// Folders lists a folder and those below it that Scan looks into, as far as they can
// be read.
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

// skipped reports whether the name of a file or folder says that it is none of ours.
func skipped(entry fs.DirEntry) bool {
	return strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules"
}

// notRead says why a file that is there is not taken; "" when it is gone.
func notRead(entry fs.DirEntry, err error) string {
	switch {
	case entry.Type()&fs.ModeSymlink != 0:
		return "it is a link that leads out of the folder, or to nothing"
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return err.Error()
	}
	return "it is no regular file"
}

// ReadListed returns the content of a file of the folder, of at most a number of bytes.
// It never follows a link out of the folder.
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
