package nodes

import "blueprintd/blueprint"

// palette is the order in which people are shown the types, by what they are for:
// within each, what is used most comes first.
var palette = []struct {
	category string
	types    []string
}{
	{"flow", []string{"conditional", "switch", "for-each", "merge", "blueprint", "wait", "respond", "stop"}},
	{"data", []string{"set", "template", "transform", "code", "log"}},
	{"people", []string{"human", "approval-gate"}},
	{"services", []string{"http-request", "ai-prompt", "mcp-tool", "send-email", "send-slack"}},
	{"events", []string{"emit-event"}},
}

// arrange says where a type stands in the palette.
func arrange(kind *blueprint.NodeType) {
	order := 0
	for _, part := range palette {
		for _, name := range part.types {
			if order++; name == kind.Type {
				kind.Category, kind.Order = part.category, order
			}
		}
	}
}
