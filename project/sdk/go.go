package sdk

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/clients"
	"blueprintd/foundation/fileio"
)

// GoPackage is a copy of the Go client in the project of a user.
type GoPackage struct {
	Folder     string
	Name       string // "" for the last element of the import path, or blueprintd if that is no name of a package
	ImportPath string // "" for the path that the go.mod above the folder defines
	Version    string // of the program
}

// Write writes the package, and sets its Name and ImportPath if they are empty. Errors say
// whether the input or the folder is wrong; nothing is changed then.
func (p *GoPackage) Write() error {
	if err := p.complete(); err != nil {
		return err
	}
	f := &folder{path: p.Folder, language: "go", files: clients.Go(p.Version, p.Name, p.ImportPath)}
	if err := p.checkPackages(f); err != nil {
		return err
	}
	return f.write()
}

// importPathForm matches import paths, without the rule that an element is not . or ..
var importPathForm = regexp.MustCompile(`^[0-9A-Za-z._~+-]+(/[0-9A-Za-z._~+-]+)*$`)

func (p *GoPackage) complete() (err error) {
	if p.ImportPath == "" {
		if p.ImportPath, err = importPathOf(p.Folder); err != nil {
			return err
		}
	}
	if !importPathForm.MatchString(p.ImportPath) || path.Clean(p.ImportPath) != p.ImportPath || strings.HasPrefix(p.ImportPath, ".") {
		return blueprint.InputErrorf("name it with --import-path example.org/app/internal/blueprintd", "%q is not an import path", p.ImportPath)
	}
	if p.Name == "" {
		if p.Name = path.Base(p.ImportPath); !isPackageName(p.Name) {
			p.Name = "blueprintd"
		}
	}
	if !isPackageName(p.Name) {
		return blueprint.InputErrorf("--package blueprintd", "%q is not the name of a package that others can import: use lower-case letters, digits and _", p.Name)
	}
	return nil
}

var (
	packageForm = regexp.MustCompile(`^[a-z][0-9a-z_]*$`)
	// keywords are the identifiers that name no package that others can import.
	keywords = strings.Fields("break case chan const continue default defer else fallthrough for func go goto if import interface main map package range return select struct switch type var")
)

func isPackageName(name string) bool {
	return packageForm.MatchString(name) && !slices.Contains(keywords, name) && !strings.HasSuffix(name, "_test")
}

var moduleLine = regexp.MustCompile(`(?m)^[ \t]*module[ \t]+["` + "`" + `]?([^\s"` + "`" + `]+)`)

// importPathOf returns the import path of a folder, which need not exist, by the go.mod in
// it or above it.
func importPathOf(folder string) (string, error) {
	const hint = "run go mod init in your project first, or name the path with --import-path"
	full := fileio.Absolute(folder)
	for root := full; ; root = filepath.Dir(root) {
		data, err := os.ReadFile(filepath.Join(root, "go.mod"))
		if err == nil {
			match := moduleLine.FindSubmatch(data)
			if match == nil {
				return "", blueprint.InputErrorf("name the path with --import-path", "%s names no module", filepath.Join(root, "go.mod"))
			}
			below, err := filepath.Rel(root, full)
			if err != nil {
				return "", err
			}
			return path.Join(string(match[1]), filepath.ToSlash(below)), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", blueprint.InputErrorf(hint, "%s cannot be read: %s", filepath.Join(root, "go.mod"), fileio.Cause(err))
		}
		if filepath.Dir(root) == root {
			return "", blueprint.InputErrorf(hint, "there is no go.mod in %s or above it", folder)
		}
	}
}

var clause = regexp.MustCompile(`(?m)^package[ \t]+(\w+)`)

// checkPackages returns an error if a folder of the client has Go files of another package,
// because the compiler accepts one package in a folder.
func (p *GoPackage) checkPackages(f *folder) error {
	packages := map[string]string{} // by folder
	for name, data := range f.files {
		if match := clause.FindSubmatch(data); match != nil && strings.HasSuffix(name, ".go") {
			packages[path.Dir(name)] = string(match[1])
		}
	}
	for _, below := range slices.Sorted(maps.Keys(packages)) {
		if err := p.checkPackage(f, below, packages[below]); err != nil {
			return err
		}
	}
	return nil
}

func (p *GoPackage) checkPackage(f *folder, below, wanted string) error {
	folder := filepath.Join(p.Folder, filepath.FromSlash(below))
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil // it does not exist, or writing to it says what is wrong
	}
	for _, entry := range entries {
		file := filepath.Join(folder, entry.Name())
		if filepath.Ext(file) != ".go" {
			continue
		}
		data, err := os.ReadFile(file)
		match := clause.FindSubmatch(data)
		if err != nil || match == nil || clients.IsMarked(data, f.language) {
			continue
		}
		if name := strings.TrimSuffix(string(match[1]), "_test"); name != wanted {
			hint := "name another folder"
			if below == "." && isPackageName(name) {
				hint += ", or the package with --package " + name
			}
			return blueprint.Hinted(hint, "%s is of package %s, and the client would be package %s; nothing was changed", file, name, wanted)
		}
	}
	return nil
}
