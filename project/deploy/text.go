package deploy

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

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
		if t.ID != "" && t.Action != Create {
			line += " " + t.ID
		}
		add("%s", line+listed(t.Fields, t.Note))
		if t.Address != "" {
			add("  %s", blueprint.OneLine(t.Address))
		}
	}
	return lines
}

// NodeLines describes the changes of nodes, a line for each. It returns nothing for a new
// blueprint.
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
	if n := p.Kept(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d kept", n))
	}
	return cmp.Or(strings.Join(parts, ", "), "nothing to do")
}
