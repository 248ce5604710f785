package jsonschema

import (
	"maps"
	"slices"
)

// Member is a property of the objects that a schema describes.
type Member struct {
	Name     string
	Schema   map[string]any // nil for true and false
	Required bool
}

// Members returns the properties that a schema lists, in the order in which a form asks for
// them: those in its keyword x-order, then the required ones, then the others by name.
func Members(schema any) (members []Member) {
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	required := texts(object["required"])
	seen := map[string]bool{}
	for _, name := range slices.Concat(texts(object["x-order"]), required, slices.Sorted(maps.Keys(properties))) {
		property, listed := properties[name]
		if !listed || seen[name] {
			continue
		}
		seen[name] = true
		of, _ := property.(map[string]any)
		members = append(members, Member{name, of, slices.Contains(required, name)})
	}
	return members
}

// texts returns the strings of a list.
func texts(list any) (out []string) {
	values, _ := list.([]any)
	for _, value := range values {
		if text, ok := value.(string); ok {
			out = append(out, text)
		}
	}
	return out
}
