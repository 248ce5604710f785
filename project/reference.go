package project

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/ids"
)

// The keys of references. An object with only this key may replace an id.
const (
	ConnectionKey = "$connection" // the name of a connection
	BlueprintKey  = "$blueprint"  // the path of a blueprint file
)

// The members of configs that are ids.
const (
	OneConnection      = "connectionId"
	SeveralConnections = "mcpConnectionIds"
	OneBlueprint       = "blueprintId"
)

// Reference is a name in place of an id.
type Reference struct {
	Key     string // ConnectionKey or BlueprintKey
	Name    string // of a connection, or the path of a file relative to the referring one
	Path    []any  // of the name in the value; ends with Key
	Within  string // the type of the node or trigger with the config, "" for none
	Several bool   // one of a list, such as of connections to MCP servers
}

// Replace returns a copy of a value at a path, with its references replaced by with.
func Replace(value any, at []any, with func(Reference) any) any {
	return (&replacer{with: with}).value(value, at, "")
}

type replacer struct{ with func(Reference) any }

func (r *replacer) value(value any, at []any, within string) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = r.value(v[i], below(at, i), within)
		}
		return out
	case map[string]any:
		return r.object(v, at, within)
	}
	return value
}

// object visits the members in order, so that the order of references is stable.
func (r *replacer) object(v map[string]any, at []any, within string) map[string]any {
	out := make(map[string]any, len(v))
	inside := within
	if _, ok := v["config"].(map[string]any); ok {
		for _, name := range []string{"type", "triggerType"} {
			if kind, ok := v[name].(string); ok {
				inside = blueprint.NormalType(kind)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v)) {
		member, of := v[name], within
		if name == "config" {
			of = inside
		}
		list, isList := member.([]any)
		switch {
		case name == OneConnection:
			out[name] = r.named(member, ConnectionKey, below(at, name), of, false)
		case name == OneBlueprint:
			out[name] = r.named(member, BlueprintKey, below(at, name), of, false)
		case name == SeveralConnections && isList:
			ids := make([]any, len(list))
			for i := range list {
				ids[i] = r.named(list[i], ConnectionKey, append(below(at, name), i), of, true)
			}
			out[name] = ids
		default:
			out[name] = r.value(member, below(at, name), of)
		}
	}
	return out
}

func (r *replacer) named(value any, key string, at []any, within string, several bool) any {
	if name := NameIn(value, key); name != "" {
		return r.with(Reference{Key: key, Name: name, Path: below(at, key), Within: within, Several: several})
	}
	return r.value(value, at, within)
}

// NameIn returns the name in a reference, "" if the value is not one.
func NameIn(value any, key string) string {
	object, _ := value.(map[string]any)
	name, _ := object[key].(string)
	if len(object) != 1 {
		return ""
	}
	return name
}

func below(at []any, steps ...any) []any { return append(slices.Clone(at), steps...) }

// Back returns the reference as in a file.
func (r Reference) Back() any { return map[string]any{r.Key: r.Name} }

// Target returns the path of the file that a reference in a file names; it begins with
// ../ if the target is outside the folder.
func (r Reference) Target(from string) string { return path.Join(path.Dir(from), r.Name) }

// Wellformed reports whether a reference to a file is a relative path with slashes and
// the name of a blueprint file.
func (r Reference) Wellformed() bool {
	if r.Key != BlueprintKey {
		return true
	}
	return !path.IsAbs(r.Name) && !strings.Contains(r.Name, `\`) && KindOf(r.Name) == KindBlueprint
}

// References returns the references of a file; their paths start at the file.
func (d *Desired) References() (found []Reference) {
	d.Replace(func(r Reference) any {
		found = append(found, r)
		return nil
	})
	return found
}

// Replace returns a copy with every reference replaced by the result of with.
func (d *Desired) Replace(with func(Reference) any) Desired {
	out := *d
	out.Map = Replace(d.Map, []any{"blueprint_map"}, with)
	out.Triggers = slices.Clone(d.Triggers)
	for i := range out.Triggers {
		t := &out.Triggers[i]
		whole, _ := Replace(map[string]any{"triggerType": string(t.Type), "config": t.Config}, []any{"triggers", i}, with).(map[string]any)
		t.Config, _ = whole["config"].(map[string]any)
	}
	return out
}

// Connect returns a copy with names of connections replaced by ids, unless id returns "".
func (d *Desired) Connect(id func(Reference) string) Desired {
	return d.Replace(func(r Reference) any {
		if r.Key == ConnectionKey {
			if known := id(r); known != "" {
				return known
			}
		}
		return r.Back()
	})
}

// TypeNames returns the names of types of connection, joined by "or".
func TypeNames(types []blueprint.ConnectionType) string {
	var names []string
	for _, kind := range types {
		names = append(names, string(kind))
	}
	return strings.Join(names, " or ")
}

// Connections returns the types of connection that a reference may name; nil for any.
func (r Reference) Connections() []blueprint.ConnectionType {
	switch {
	case r.Several:
		return []blueprint.ConnectionType{blueprint.ConnectionMCPServer}
	case r.Within == string(blueprint.TriggerSlack):
		return []blueprint.ConnectionType{blueprint.ConnectionSlack}
	}
	return ConnectionsOf(r.Within)
}

// derivedSeed is the seed of all derived ids.
const derivedSeed = 1

// DerivedID returns a placeholder id for a name. It depends only on the key and the name.
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

// Followed is a blueprint file with all that it refers to. Paths have slashes.
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
				f.lost[target] = fmt.Errorf("exceeds the limit of %d files", maxFollowed)
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

// idOf returns the id of a file without a server, whatever the working directory.
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
