package describe

import (
	"encoding/json"
	"fmt"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/triggers"
)

// Kinds generates the TypeScript tables from which the dashboard takes the texts of the
// trigger kinds and the connection types.
func Kinds() string {
	var text strings.Builder
	text.WriteString("// Made from the trigger kinds and the connection types (make goldens); not to be edited.\n")
	text.WriteString("\n/** The types of triggers, with the sources of their firings and the keys of their configs. */\nexport const triggerKinds = {\n")
	for _, kind := range triggers.Kinds() {
		fmt.Fprintf(&text, "  %s: {\n", literal(kind.Type))
		fmt.Fprintf(&text, "    title: %s,\n    text: %s,\n    gives: %s,\n", literal(kind.Title), literal(kind.Description), literal(kind.Input))
		fmt.Fprintf(&text, "    source: %s,\n    keys: %s,\n  },\n", literal(kind.Source), literal(append([]string{}, kind.Keys...)))
	}
	text.WriteString("}\n\n/** The titles of the types of connections. */\nexport const connectionTitles: Record<string, string> = {\n")
	for _, form := range blueprint.ConnectionForms() {
		fmt.Fprintf(&text, "  %s: %s,\n", literal(form.Type), literal(form.Title))
	}
	text.WriteString("}\n")
	return text.String()
}

// literal returns a value that always encodes, as JSON.
func literal(value any) string {
	data, _ := json.Marshal(value)
	return string(data)
}
