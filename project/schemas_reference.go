package project

import (
	"slices"

	"blueprintd/folder"
)

// nameReferences lets references stand where ids do, of those keys that a kind of
// file knows: {"$connection": name}, {"$blueprint": path}.
func nameReferences(value any, keys ...string) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			nameReferences(element, keys...)
		}
	case map[string]any:
		for name, member := range v {
			if nameReferences(member, keys...); name != "properties" {
				continue
			}
			properties := member.(map[string]any)
			for _, each := range []struct{ member, key, doc string }{
				{"connectionId", folder.ConnectionKey, "a connection, by its name"},
				{"mcpConnectionIds", folder.ConnectionKey, "a connection, by its name"},
				{"blueprintId", folder.BlueprintKey, "the blueprint of a file, by its path from this one, such as child.blueprint.yaml"},
			} {
				id := properties[each.member]
				if id == nil || !slices.Contains(keys, each.key) {
					continue
				}
				named := closedObject(each.doc, []any{each.key}, map[string]any{each.key: map[string]any{"type": "string"}})
				if each.member == "mcpConnectionIds" {
					named = listOf("", map[string]any{"anyOf": []any{map[string]any{"type": "string"}, named}})
				}
				properties[each.member] = map[string]any{"anyOf": []any{id, named}}
			}
		}
	}
}
