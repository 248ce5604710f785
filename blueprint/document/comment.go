package document

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// cutBy matches the start of a comment that looks like a part of the value before it:
// a "#" without a following space, as in "text: hello #world" or "channel: #general".
var cutBy = regexp.MustCompile(`^[ \t]+#[^\s#!-]`)

// afterName matches a name up to its value.
var afterName = regexp.MustCompile(`^("[^"]*"|'[^']*'|[^\s:#'"]+)[ \t]*:`)

// CutByComment returns the paths of at most most values that are truncated or empty
// because of a comment that looks like text.
func (d *Document) CutByComment(most int) (paths [][]any) {
	if !strings.Contains(string(d.source.data), " #") {
		return nil
	}
	var look func(here *place, value any, path []any)
	look = func(here *place, value any, path []any) {
		if len(paths) >= most {
			return
		}
		switch v := value.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if below := here.members[name]; below != nil {
					look(below, v[name], append(path, name))
				}
			}
		case []any:
			for i, element := range v[:min(len(v), len(here.elements))] {
				look(here.elements[i], element, append(path, i))
			}
		default:
			if d.isCut(here, value) {
				paths = append(paths, slices.Clone(path))
			}
		}
	}
	look(&d.root, d.Value, nil)
	return paths
}

// isCut reports whether a comment follows a plain value on its line.
func (d *Document) isCut(here *place, value any) bool {
	at := here.at
	text, isText := value.(string)
	if isText {
		at = here.text
	}
	offset, ok := d.source.offset(at)
	if !ok || at == (Position{}) {
		return false
	}
	rest, _, _ := strings.Cut(string(d.source.data[offset:]), "\n")
	switch {
	case isText:
		behind, plain := strings.CutPrefix(rest, text)
		return plain && text != "" && cutBy.MatchString(behind)
	case value == nil && at == here.key:
		return cutBy.MatchString(rest[len(afterName.FindString(rest)):]) && afterName.MatchString(rest)
	}
	return false
}
