package nodes

import (
	"maps"
	"slices"
	"strings"
)

// checkHeaders finds what is wrong with the headers of a config. closed tells
// which names may not be set. With several, a value may be a list.
func checkHeaders(headers map[string]any, r *report, several bool, closed func(lower string) bool) {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		lower := strings.ToLower(name)
		switch {
		case !validHeaderName(name):
			r.issue("is no name for a header", "headers", name)
		case closed(lower):
			r.issue("is a header that the service sets itself, or that may not be set", "headers", name)
		case seen[lower]:
			r.issue("is given twice", "headers", name)
		}
		seen[lower] = true
		list, isList := headers[name].([]any)
		if !isList || !several {
			list = []any{headers[name]}
		}
		for _, value := range list {
			if !isScalar(value) {
				r.issue("must be a string, a number or true or false", "headers", name)
			} else if !r.open(value) && !validHeaderValue(render(value)) {
				r.issue("must be one line without control characters", "headers", name)
			}
		}
	}
}

// validHeaderName reports whether a name consists of the characters that a
// header may have.
func validHeaderName(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}

// validHeaderValue reports whether a value is one line that cannot end the
// header.
func validHeaderValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// isScalar reports whether a value is one that a header or a query can hold as
// it stands; null is "not given".
func isScalar(value any) bool {
	switch value.(type) {
	case []any, map[string]any:
		return false
	default:
		return true
	}
}
