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

// nameFile is the file in a folder that says its name on servers, wherever the
// folder is checked out.
const nameFile = ".blueprintd.yaml"

// mostNameFile is how large it may be.
const mostNameFile = 64 << 10

// Name returns the name of a folder on servers: that which was asked for, else
// that of its file, else its own; the first two are chosen.
func Name(dir, asked string) (name string, chosen bool, err error) {
	if name = asked; name == "" {
		if name, err = nameInFile(dir); err != nil {
			return "", false, err
		}
	}
	chosen = name != ""
	name = cmp.Or(name, filepath.Base(fileio.Absolute(dir)))
	if utf8.RuneCountInString(name) > 100 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == ':' || r == '/' || blueprint.IsUnprintable(r) }) {
		return "", false, blueprint.InputErrorf("--name flows", "%q is no name for a folder on the server: it may have 100 characters, none of them : or /", name)
	}
	return name, chosen, nil
}

// nameInFile reads the name out of the folder's file; "" when there is none.
func nameInFile(dir string) (string, error) {
	data, err := project.ReadListed(dir, nameFile, mostNameFile)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return "", nil
	}
	called := filepath.Join(dir, nameFile)
	bad := func(why string) error {
		return blueprint.InputErrorf("write into it: name: flows", "%s: %s", called, why)
	}
	if err != nil {
		return "", bad(fileio.Cause(err).Error())
	}
	doc, err := document.Parse(called, data)
	if err != nil {
		return "", blueprint.InputErrorf("write into it: name: flows", "%s", blueprint.OneLine(err.Error()))
	}
	object, _ := doc.Value.(map[string]any)
	name, _ := object["name"].(string)
	if len(object) != 1 || name == "" {
		return "", bad("must be an object with a name, and nothing else")
	}
	return name, nil
}

// sameFolder refuses to make all blueprints of a folder once more because it has
// another name here: when none is of this name, and at least half of the files
// have their path or title under one other.
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
	return blueprint.Hinted(fmt.Sprintf("--name %s if it is that folder, for good with %q in %s; --name %s if it is another", quotedName(best), "name: "+best, nameFile, quotedName(name)),
		"the server has nothing of a folder %q, but %d of its %s under the name %q", name, most, blueprint.Counted(len(wanted), "file"), best)
}

// quotedName writes a name as a shell takes it.
func quotedName(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("-_.", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	return name
}
