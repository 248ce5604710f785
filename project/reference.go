package project

import (
	"maps"
	"path"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// The keys of references. An object with only this key may stand instead of an id.
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

// Reference is a name instead of an id.
type Reference struct {
	Key     string // ConnectionKey or BlueprintKey
	Name    string // of a connection, or the path of a file relative to the referring one
	Path    []any  // of the name in the value; ends with Key
	Within  string // the type of the node or trigger with the config, "" for none
	Several bool   // one of a list, such as of connections to MCP servers
}

// Replace returns a copy of a value at a path, with every reference replaced by the
// result of with.
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

// Connect returns a copy with the names of connections replaced by ids. Names for which
// id returns "" stay.
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
