package project

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/ids"
)

// derivedSeed is the seed of all derived ids.
const derivedSeed = 1

// DerivedID returns a placeholder id for a name. It depends only on the key and the
// name.
func DerivedID(key, name string) string { return ids.Seeded(derivedSeed).Stream(key, name).UUID() }

// refer replaces the references of a file by placeholder ids and records them.
func (r *Reader) refer(object map[string]any) map[string]any {
	object = maps.Clone(object)
	for _, name := range []string{"blueprint_map", "triggers"} {
		if value, given := object[name]; given {
			object[name] = Replace(value, []any{name}, func(to Reference) any {
				r.Blueprint.References = append(r.Blueprint.References, to)
				if !to.Wellformed() {
					r.wrong(`must be the path of a blueprint file from this one, with slashes, such as "child.blueprint.yaml"`, to.Path...)
				}
				return DerivedID(to.Key, to.Name)
			})
		}
	}
	return object
}

// maxFollowed is the largest number of files that one file refers to.
const maxFollowed = 1000

// Followed is a blueprint file with the files to which it refers, directly or not. Paths
// have slashes.
type Followed struct {
	Root  string
	base  string // the folder to which the paths in derived ids are relative
	Files map[string]*Blueprint
	bad   map[string][]blueprint.Issue // errors by file
	lost  map[string]error             // files that cannot be read
}

// Follow reads the files to which a file refers. name is its path; base is the path of
// the file to whose folder derived ids are relative.
func Follow(name, base string, b *Blueprint) *Followed {
	f := &Followed{Root: filepath.ToSlash(filepath.Clean(name)), base: filepath.Dir(base), bad: map[string][]blueprint.Issue{}, lost: map[string]error{}}
	f.Files = map[string]*Blueprint{f.Root: b}
	for queue := []string{f.Root}; len(queue) > 0; queue = queue[1:] {
		for _, to := range f.Files[queue[0]].References {
			target := to.Target(queue[0])
			if to.Key != BlueprintKey || !to.Wellformed() || f.Files[target] != nil || f.lost[target] != nil {
				continue
			}
			if len(f.Files) == maxFollowed {
				f.lost[target] = fmt.Errorf("is one file too many: at most %d are followed", maxFollowed)
				continue
			}
			found, issues, err := ReadFile(&Inputs{}, filepath.FromSlash(target))
			if err != nil {
				f.lost[target] = err
				continue
			}
			f.bad[target] = Errors(issues)
			f.Files[target] = found
			queue = append(queue, target)
		}
	}
	return f
}

// Problems returns the invalid references of each file.
func (f *Followed) Problems() map[string][]blueprint.Issue {
	var all []Desired
	for _, path := range slices.Sorted(maps.Keys(f.Files)) {
		all = append(all, desired(path, f.Files[path]))
	}
	found := map[string][]blueprint.Issue{}
	for _, d := range FindDangling(all) {
		if d.Indirect || !d.Wellformed() {
			continue
		}
		if err := f.lost[d.Target(d.File)]; err != nil {
			d.Message = MessageOf(err)
		}
		found[d.File] = append(found[d.File], blueprint.Issue{Path: d.Path, Message: d.Message, Severity: blueprint.SeverityError})
	}
	return found
}

// idOf returns the id of a file in a run without a server. It does not depend on the
// current folder.
func (f *Followed) idOf(path string) string {
	from, err := filepath.Rel(f.base, filepath.FromSlash(path))
	if err != nil {
		from = path
	}
	return DerivedID(BlueprintKey, filepath.ToSlash(from))
}

// Connect replaces the references of all files by ids and returns the definitions of all
// files but the root by id. wrong describes, in lines, why they cannot run.
func (f *Followed) Connect() (others map[string]*blueprint.Definition, wrong string) {
	problems := f.Problems()
	for _, path := range slices.Sorted(maps.Keys(f.Files)) {
		b := f.Files[path]
		if issues := append(slices.Clone(f.bad[path]), problems[path]...); len(issues) > 0 {
			wrong += Pointed(b.Document, issues)
			continue
		}
		b.Map = Replace(RawMap(b), nil, func(to Reference) any {
			if to.Key == BlueprintKey {
				return f.idOf(to.Target(path))
			}
			return DerivedID(to.Key, to.Name)
		})
	}
	if wrong != "" {
		return nil, wrong
	}
	others = map[string]*blueprint.Definition{}
	for path, b := range f.Files {
		if path == f.Root {
			continue
		}
		if m, _ := blueprint.ParseMap(b.Map); m == nil || len(m.Nodes) == 0 {
			return nil, b.Document.Name + ": has no nodes to run\n"
		}
		id := f.idOf(path)
		others[id] = Definition(id, b)
	}
	return others, ""
}

// Connections returns the names of connections to which the files refer.
func (f *Followed) Connections() map[string]bool {
	names := map[string]bool{}
	for _, b := range f.Files {
		for _, to := range b.References {
			if to.Key == ConnectionKey {
				names[to.Name] = true
			}
		}
	}
	return names
}

// RawMap returns the map of a file with its references.
func RawMap(b *Blueprint) any { return ValueAt(b.Document.Value, []any{"blueprint_map"}) }
