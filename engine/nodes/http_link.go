package nodes

import "strings"

// nextLink gives the target of the first link to the next page in the values of
// the header Link (RFC 8288), "" when there is none. Links from another page
// than this one (with anchor) do not count.
func nextLink(values []string) string {
	rest := strings.Join(values, ", ")
	for {
		start := strings.IndexByte(rest, '<')
		if start < 0 {
			return ""
		}
		target, after, closed := strings.Cut(rest[start+1:], ">")
		if !closed {
			return ""
		}
		var isNext, elsewhere, ruled bool
		for {
			var name, value string
			name, value, after = linkParameter(after)
			if name == "" {
				break
			}
			switch {
			case name == "anchor":
				elsewhere = true
			case name == "rel" && !ruled: // the first one counts
				ruled = true
				for _, relation := range strings.Fields(value) {
					isNext = isNext || strings.EqualFold(relation, "next")
				}
			}
		}
		if isNext && !elsewhere {
			return strings.TrimSpace(target)
		}
		rest = after
	}
}

// linkParameter reads one ;name=value or ;name="value" in front of text. The
// name comes in small letters, and as "" when there is no parameter.
func linkParameter(text string) (name, value, rest string) {
	trimmed := strings.TrimLeft(text, " \t;")
	end := strings.IndexAny(trimmed, "=;,<")
	if end < 0 {
		return strings.ToLower(strings.TrimSpace(trimmed)), "", ""
	}
	name = strings.ToLower(strings.TrimSpace(trimmed[:end]))
	if trimmed[end] != '=' {
		return name, "", trimmed[end:]
	}
	rest = strings.TrimLeft(trimmed[end+1:], " \t")
	if !strings.HasPrefix(rest, `"`) {
		if end = strings.IndexAny(rest, ";,"); end < 0 {
			end = len(rest)
		}
		return name, strings.TrimSpace(rest[:end]), rest[end:]
	}
	var out strings.Builder
	for i := 1; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == '"':
			return name, out.String(), rest[i+1:]
		case c == '\\' && i+1 < len(rest):
			i++
			out.WriteByte(rest[i])
		default:
			out.WriteByte(c)
		}
	}
	return name, out.String(), ""
}
