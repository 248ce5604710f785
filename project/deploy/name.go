package deploy

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/fileio"
	"blueprintd/project"
)

// nameFile is the file in a folder with the name of the folder on servers.
const nameFile = ".blueprintd.yaml"

// maxNameFile is the size of the largest nameFile, in bytes.
const maxNameFile = 64 << 10

// Name returns the name of a folder on servers: wanted, or the name in its nameFile, or
// that of the folder itself, which is not chosen.
func Name(dir, wanted string) (name string, chosen bool, err error) {
	if name = wanted; name == "" {
		if name, err = nameInFile(dir); err != nil {
			return "", false, err
		}
	}
	chosen = name != ""
	name = cmp.Or(name, filepath.Base(fileio.Absolute(dir)))
	if utf8.RuneCountInString(name) > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == ':' || r == '/' || blueprint.IsUnprintable(r) }) {
		return "", false, blueprint.InputErrorf("--name flows", "%q cannot be the name of a folder on the server: use at most 100 characters without : and /", name)
	}
	return name, chosen, nil
}

// nameInFile reads the name in the nameFile, "" if there is none.
func nameInFile(dir string) (string, error) {
	data, err := project.ReadListed(dir, nameFile, maxNameFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return "", nil
	}
	called := filepath.Join(dir, nameFile)
	const hint = "write name: flows into it"
	if err != nil {
		return "", blueprint.InputErrorf(hint, "%s: %s", called, fileio.Cause(err))
	}
	doc, err := document.Parse(called, data)
	if err != nil {
		return "", blueprint.InputErrorf(hint, "%s", blueprint.OneLine(err.Error()))
	}
	object, _ := doc.Value.(map[string]any)
	name, _ := object["name"].(string)
	if len(object) != 1 || name == "" {
		return "", blueprint.InputErrorf(hint, "%s: must be an object with only a name", called)
	}
	return name, nil
}

// sameFolder refuses to create all blueprints of a folder again because its name has
// changed: if at least half of the files have the path or title of a blueprint under one
// other name. The caller has checked that there are none under this name.
func sameFolder(name string, wanted []project.Desired, all []project.Deployed) error {
	paths, titles := map[string]map[string]bool{}, map[string]map[string]bool{}
	for i := range all {
		rest, ours := strings.CutPrefix(all[i].Source, project.Scheme)
		other, path, whole := strings.Cut(rest, ":")
		if !ours || !whole || other == name {
			continue
		}
		if paths[other] == nil {
			paths[other], titles[other] = map[string]bool{}, map[string]bool{}
		}
		paths[other][path], titles[other][all[i].Title] = true, true
	}
	best, most := "", 0
	for _, other := range slices.Sorted(maps.Keys(paths)) {
		n := 0
		for i := range wanted {
			if paths[other][wanted[i].Path] || titles[other][wanted[i].Title] {
				n++
			}
		}
		if n > most {
			best, most = other, n
		}
	}
	if most == 0 || most*2 < len(wanted) {
		return nil
	}
	return blueprint.Hinted(fmt.Sprintf("use --name %s if it is that folder, or write %q into %s; use --name %s if it is another", blueprint.ShellWord(best), "name: "+best, nameFile, blueprint.ShellWord(name)),
		"the server has no blueprints of a folder %q, but %d of its %s under the name %q", name, most, blueprint.Counted(len(wanted), "file"), best)
}
