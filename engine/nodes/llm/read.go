package llm

import (
	"encoding/json"
	"math"
	"strings"
)

// Answers come from servers that follow the protocols more or less, so they are
// read as plain JSON values: what has another type than expected counts as
// absent.

func object(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

func list(value any) []any {
	l, _ := value.([]any)
	return l
}

func text(value any) string {
	s, _ := value.(string)
	return s
}

// maxTokensTold is the most that one call can be believed to have used.
const maxTokensTold = 1 << 32

// count reads a number of tokens. A server must not be able to pay tokens back.
func count(value any) int64 {
	number, ok := value.(json.Number)
	if !ok {
		return 0
	}
	f, err := number.Float64()
	if err != nil || math.IsNaN(f) || f < 0 {
		return 0
	}
	return int64(min(f, maxTokensTold))
}

// texts joins the text of a content that is a string or a list of parts.
func texts(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	var out strings.Builder
	for _, part := range list(content) {
		if p := object(part); text(p["type"]) == "text" || p["type"] == nil {
			out.WriteString(text(p["text"]))
		}
	}
	return out.String()
}
