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

// InvalidInput is the CodeBadRequest error for these issues; its message names
// each by its path.
func InvalidInput(issues []Issue) *Error {
	parts := make([]string, len(issues))
	for i, issue := range issues {
		parts[i] = issue.Message
		if path := PathText(issue.Path); path != "" {
			parts[i] = path + ": " + issue.Message
		}
	}
	return &Error{Code: CodeBadRequest, Message: strings.Join(parts, "; "), Issues: issues}
}
