package project

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"blueprintd/blueprint"
	"blueprintd/foundation/ids"
)

// derivedSeed is what the ids follow from that take the place of names.
const derivedSeed = 1

// DerivedID returns the id that takes the place of a name where nothing real is
// known by it. It follows from the name.
func DerivedID(key, name string) string { return ids.Seeded(derivedSeed).Stream(key, name).UUID() }

// refer puts stand-ins in the place of the references of a file, and keeps what
// it refers to.
func (r *Reader) refer(object map[string]any) map[string]any {
	object = maps.Clone(object)
	for _, name := range []string{"blueprint_map", "triggers"} {
		if value, given := object[name]; given {
			object[name] = Replace(value, []any{name}, func(to Reference) any {
				r.Blueprint.References = append(r.Blueprint.References, to)
				if !to.Wellformed() {
					r.wrong(blueprint.SeverityError, `must be the path of a blueprint file from this one, with slashes, such as "child.blueprint.yaml"`, to.Path...)
				}
				return DerivedID(to.Key, to.Name)
			})
		}
	}
	return object
}

// mostReferred is how many files one leads to.
const mostReferred = 1000

// Followed is a blueprint file with those that it refers to, and those that these
// do, by their paths with slashes.
type Followed struct {
	Root  string
	base  string // the folder from which ids come
	Files map[string]*Blueprint
	bad   map[string][]blueprint.Issue // errors of files that cannot run
	lost  map[string]error             // of files that cannot be read
}

// Follow reads what a file refers to. name is its path, base that of the first of
// all files.
func Follow(name, base string, b *Blueprint) *Followed {
	f := &Followed{Root: filepath.ToSlash(filepath.Clean(name)), base: filepath.Dir(base), bad: map[string][]blueprint.Issue{}, lost: map[string]error{}}
	f.Files = map[string]*Blueprint{f.Root: b}
	for queue := []string{f.Root}; len(queue) > 0; queue = queue[1:] {
		for _, to := range f.Files[queue[0]].References {
			target := to.Target(queue[0])
			if to.Key != BlueprintKey || !to.Wellformed() || f.Files[target] != nil || f.lost[target] != nil {
				continue
			}
			if len(f.Files) == mostReferred {
				f.lost[target] = fmt.Errorf("is one file too many: %d are followed", mostReferred)
				continue
			}
			found, issues, err := ReadFile(&Inputs{}, filepath.FromSlash(target))
			if err != nil {
				f.lost[target] = err
				continue
			}
			if issues = slices.DeleteFunc(issues, func(i blueprint.Issue) bool { return i.Severity == blueprint.SeverityWarning }); len(issues) > 0 {
				f.bad[target] = issues
			}
			f.Files[target] = found
			queue = append(queue, target)
		}
	}
	return f
}

// Problems tells what is wrong with the references of each file.
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

// idOf returns the id of a file while it runs without a server. It is the same in
// whichever folder the program is called.
func (f *Followed) idOf(path string) string {
	from, err := filepath.Rel(f.base, filepath.FromSlash(path))
	if err != nil {
		from = path
	}
	return DerivedID(BlueprintKey, filepath.ToSlash(from))
}

// Connect lets the files refer to each other by id, and gives what the first one
// leads to; wrong tells, in lines, why they cannot run.
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

// RawMap is the map of a file as it stands there.
func RawMap(b *Blueprint) any {
	object, _ := b.Document.Value.(map[string]any)
	return object["blueprint_map"]
}
