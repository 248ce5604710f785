package deploy

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// Field is a changed value. Objects, arrays and possible secrets are left out.
type Field struct {
	Path   string `json:"path"`
	Before any    `json:"before,omitempty"`
	After  any    `json:"after,omitempty"`
	Hidden bool   `json:"hidden,omitempty"` // possibly a secret
	What   string `json:"what,omitempty"`   // "added" or "removed", without values
}

// NodeChange is a node that is added, removed or changed.
type NodeChange struct {
	Action string  `json:"action"` // Create, Update or Delete
	ID     string  `json:"id"`
	Type   string  `json:"type,omitempty"`
	Fields []Field `json:"fields,omitempty"`
}

// maxFields is the largest number of changed values in a node or trigger.
const maxFields = 20

// private matches the names of possible secrets.
var private = regexp.MustCompile(`(?i)secret|passw|token|authori[sz]ation|cookie|credential|api.?key|private`)

// differences appends the differing values of two values at a path.
func differences(path string, before, after any, out []Field) []Field {
	if len(out) >= maxFields || blueprint.Equal(before, after) {
		return out
	}
	a, isA := before.(map[string]any)
	b, isB := after.(map[string]any)
	if isA && isB {
		names := maps.Clone(a)
		maps.Copy(names, b)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			below := name
			if path != "" {
				below = path + "." + name
			}
			before, was := a[name]
			after, is := b[name]
			if was && is {
				out = differences(below, before, after, out)
			} else if len(out) < maxFields {
				out = append(out, field(below, before, after))
			}
		}
		return out
	}
	list, isList := before.([]any)
	other, isToo := after.([]any)
	if isList && isToo && len(list) == len(other) {
		for i := range list {
			out = differences(fmt.Sprintf("%s[%d]", path, i), list[i], other[i], out)
		}
		return out
	}
	return append(out, field(path, before, after))
}

func field(path string, before, after any) Field {
	if private.MatchString(path) {
		return Field{Path: path, Hidden: true}
	}
	return Field{Path: path, Before: plain(before), After: plain(after)}
}

// plain returns a scalar or a reference, and nil for other values.
func plain(value any) any {
	if project.NameIn(value, project.ConnectionKey) != "" || project.NameIn(value, project.BlueprintKey) != "" {
		return value
	}
	switch value.(type) {
	case map[string]any, []any:
		return nil
	}
	return value
}

// byName returns the objects of a list by one of their members, and its values in order.
func byName(value any, key string) (map[string]map[string]any, []string) {
	list, _ := value.([]any)
	out := make(map[string]map[string]any, len(list))
	var names []string
	for _, element := range list {
		object, _ := element.(map[string]any)
		name, _ := object[key].(string)
		if _, twice := out[name]; object != nil && !twice {
			out[name] = object
			names = append(names, name)
		}
	}
	return out, names
}

func member(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

// nodeChanges compares the nodes of two maps, in the order of after.
func nodeChanges(before, after any) (out []NodeChange) {
	was, wasNames := byName(member(before, "nodes"), "id")
	is, names := byName(member(after, "nodes"), "id")
	kind := func(node map[string]any) string {
		text, _ := node["type"].(string)
		return text
	}
	for _, id := range names {
		old, known := was[id]
		switch {
		case !known:
			out = append(out, NodeChange{Action: Create, ID: id, Type: kind(is[id])})
		case !blueprint.Equal(old, is[id]):
			out = append(out, NodeChange{Action: Update, ID: id, Type: kind(is[id]), Fields: differences("", old, is[id], nil)})
		}
	}
	for _, id := range wasNames {
		if is[id] == nil {
			out = append(out, NodeChange{Action: Delete, ID: id, Type: kind(was[id])})
		}
	}
	return out
}

// mapChanges compares two maps without the content of their nodes.
func mapChanges(before, after any) (out []Field) {
	was, _ := before.(map[string]any)
	is, _ := after.(map[string]any)
	names := map[string]any{}
	maps.Copy(names, was)
	maps.Copy(names, is)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch {
		case blueprint.Equal(was[name], is[name]):
		case name == "edges":
			added, removed := edgeChanges(was[name], is[name])
			if added+removed > 0 {
				out = append(out, Field{Path: "edges", Before: fmt.Sprintf("%d removed", removed), After: fmt.Sprintf("%d added", added)})
			} else {
				out = append(out, Field{Path: "order of edges"})
			}
		case name == "nodes":
			_, old := byName(was[name], "id")
			_, now := byName(is[name], "id")
			if !slices.Equal(old, now) && slices.Equal(slices.Sorted(slices.Values(old)), slices.Sorted(slices.Values(now))) {
				out = append(out, Field{Path: "order of nodes"})
			}
		default:
			out = append(out, field(name, was[name], is[name]))
		}
	}
	return out
}

func edgeChanges(before, after any) (added, removed int) {
	count := map[string]int{}
	tally := func(value any, by int) {
		list, _ := value.([]any)
		for _, edge := range list {
			text, _ := blueprint.Encode(edge)
			count[string(text)] += by
		}
	}
	tally(after, 1)
	tally(before, -1)
	for _, n := range count {
		added += max(n, 0)
		removed += max(-n, 0)
	}
	return added, removed
}

// variableChanges compares environment variables without showing secrets.
func variableChanges(before, after []any) (out []Field) {
	was, old := byName(before, "name")
	is, now := byName(after, "name")
	for _, name := range append(now, slices.DeleteFunc(old, func(name string) bool { return is[name] != nil })...) {
		path := "environment_variables." + name
		switch {
		case was[name] == nil:
			out = append(out, Field{Path: path, What: "added"})
		case is[name] == nil:
			out = append(out, Field{Path: path, What: "removed"})
		default:
			for _, f := range differences(path, was[name], is[name], nil) {
				if was[name]["secret"] == true || is[name]["secret"] == true {
					f = Field{Path: f.Path, Hidden: true}
				}
				out = append(out, f)
			}
		}
	}
	if len(out) == 0 {
		out = append(out, Field{Path: "environment_variables"})
	}
	return out
}

// signs are the first characters of the lines of changes.
var signs = map[string]string{Create: "+", Update: "~", Delete: "-", Keep: "?"}

// Lines describes a change: a line for the blueprint, then indented lines for its
// differences. The first character is that of signs, or "!" for a conflict. User input
// is quoted, so that it contains no line breaks.
func (c *Change) Lines() []string {
	first := fmt.Sprintf("%s %s  %s", signs[c.Action], blueprint.OneLine(c.Path), shown(c.Title))
	if c.ID != "" && c.Action != Create {
		first += "  " + c.ID
	}
	lines := []string{first}
	add := func(format string, args ...any) { lines = append(lines, "    "+fmt.Sprintf(format, args...)) }
	if c.Conflict != "" {
		lines[0] = "!" + first[1:]
		add("%s", c.Conflict)
	}
	if c.Note != "" {
		add("%s", c.Note)
	}
	if c.From != "" {
		add("renamed from %s", blueprint.OneLine(c.From))
	}
	if c.Action == Create {
		add("%s", blueprint.Counted(len(c.Nodes), "node"))
	}
	for _, f := range c.Fields {
		add("%s", f)
	}
	for _, line := range c.NodeLines() {
		add("%s", line)
	}
	for _, t := range c.Triggers {
		line := signs[t.Action] + " trigger " + string(t.Type)
		if t.ID != "" {
			line += " " + t.ID
		}
		add("%s", line+listed(t.Fields, t.Note))
		if t.Address != "" {
			add("  %s", blueprint.OneLine(t.Address))
		}
	}
	return lines
}

// NodeLines describes the changes of nodes of an existing blueprint, a line for each.
func (c *Change) NodeLines() (lines []string) {
	if c.Action == Create {
		return nil
	}
	for _, n := range c.Nodes {
		line := fmt.Sprintf("%s node %s", signs[n.Action], blueprint.OneLine(n.ID))
		if n.Action == Create && n.Type != "" {
			line += " (" + blueprint.OneLine(n.Type) + ")"
		}
		lines = append(lines, line+listed(n.Fields, ""))
	}
	return lines
}

func listed(fields []Field, note string) string {
	var parts []string
	for _, f := range fields {
		parts = append(parts, f.String())
	}
	if note != "" {
		parts = append(parts, note)
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.Join(parts, ", ")
}

// String describes the change of a value in one line.
func (f Field) String() string {
	path := blueprint.OneLine(f.Path)
	switch {
	case f.What != "":
		return path + ": " + f.What
	case f.Hidden, f.Before == nil && f.After == nil:
		return path + " changed"
	case f.Path == "edges":
		return fmt.Sprintf("edges: %v, %v", f.After, f.Before)
	}
	return fmt.Sprintf("%s: %s -> %s", path, shown(f.Before), shown(f.After))
}

// maxShown is the largest number of characters of a value in a line.
const maxShown = 48

// shown returns the beginning of a value as one line of JSON.
func shown(value any) string {
	if value == nil {
		return "none"
	}
	data, err := blueprint.Encode(value)
	if err != nil {
		return "?"
	}
	text := string(data)
	if text == "null" {
		return "none"
	}
	if utf8.RuneCountInString(text) > maxShown {
		text = string([]rune(text)[:maxShown]) + "..."
	}
	return blueprint.OneLine(text)
}

// Summary describes in one line the changes that Apply makes, or with done has made.
func (p *Plan) Summary(done bool) string {
	var parts []string
	counts := p.Pending()
	for _, each := range [][3]string{{Create, "to create", "created"}, {Update, "to update", "updated"}, {Delete, "to delete", "deleted"}} {
		if n := counts[each[0]]; n > 0 {
			word := each[1]
			if done {
				word = each[2]
			}
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	if n := p.Conflicts(); n > 0 {
		parts = append(parts, blueprint.Counted(n, "conflict"))
	}
	if n := p.count(func(c Change) bool { return c.Action == Keep && c.Conflict == "" }); n > 0 {
		parts = append(parts, fmt.Sprintf("%d kept", n))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to do")
}
