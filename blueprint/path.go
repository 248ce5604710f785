package blueprint

import (
	"fmt"
	"strings"
)

// PathText writes a path as people do: blueprint_map.nodes[2].config.
func PathText(path []any) string {
	var text strings.Builder
	for _, part := range path {
		switch p := part.(type) {
		case int:
			fmt.Fprintf(&text, "[%d]", p)
		default:
			if text.Len() > 0 {
				text.WriteByte('.')
			}
			fmt.Fprint(&text, p)
		}
	}
	return text.String()
}
