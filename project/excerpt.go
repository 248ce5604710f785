package project

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/secret"
)

// Excerpt returns the source line of an issue without the secrets of the file: those that
// other issues mark, defaults of secret variables, members with sensitive names, and
// the variables in names.
func Excerpt(d *document.Document, issue blueprint.Issue, others []blueprint.Issue, names ...string) string {
	hidden := secretsIn(nil, nil, d.Value, names)
	shown := d.ExcerptOf(issue, slices.Concat(others, hidden)...)
	for _, each := range slices.Concat(others, hidden) {
		if each.Spot.Secret {
			shown = withoutWords(shown, ValueAt(d.Value, each.Path))
		}
	}
	return shown
}

// ExcerptOf is Excerpt without names.
func ExcerptOf(d *document.Document, issue blueprint.Issue, others []blueprint.Issue) string {
	return Excerpt(d, issue, others)
}

// withoutWords masks the words of a secret, which may span several lines.
func withoutWords(shown string, value any) string {
	text, _ := value.(string)
	for _, word := range strings.Fields(text) {
		if len(word) >= 6 {
			shown = strings.ReplaceAll(shown, word, strings.Repeat("*", utf8.RuneCountInString(word)))
		}
	}
	return shown
}

// ValueAt returns the value at a path of a value, nil if there is none.
func ValueAt(value any, path []any) any {
	for _, part := range path {
		switch at := part.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[at]
		case int:
			list, _ := value.([]any)
			if at < 0 || at >= len(list) {
				return nil
			}
			value = list[at]
		}
	}
	return value
}

// secretsIn appends an issue for each secret of a value at a path.
func secretsIn(found []blueprint.Issue, path []any, value any, names []string) []blueprint.Issue {
	switch v := value.(type) {
	case []any:
		for i, element := range v {
			found = secretsIn(found, append(slices.Clip(path), i), element, names)
		}
	case map[string]any:
		hidden := blueprint.HiddenOfVariable(v)
		for name, element := range v {
			at := append(slices.Clip(path), name)
			text, isText := element.(string)
			_, isObject := element.(map[string]any)
			called, _ := v["name"].(string)
			switch {
			case slices.Contains(hidden, name), name == "value" && secret.SensitiveName(called),
				slices.Contains(names, name) && !isObject, secret.SensitiveName(name) && isText && !strings.Contains(text, "{{"):
				found = append(found, blueprint.Issue{Path: at, Spot: blueprint.Spot{Secret: true}})
			default:
				found = secretsIn(found, at, element, names)
			}
		}
	}
	return found
}

// MayShow reports whether the content of a file may be shown: the file and the target of
// a link must be named like a blueprint. A reference may name any file of the machine.
func MayShow(path string) bool {
	target, err := filepath.EvalSymlinks(path)
	return err == nil && KindOf(path) == KindBlueprint && KindOf(target) == KindBlueprint
}
