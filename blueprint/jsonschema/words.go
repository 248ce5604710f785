package jsonschema

import (
	"slices"
	"strings"
)

// article names each type as a sentence does.
var article = map[string]string{
	"null": "null", "boolean": "true or false", "number": "a number", "integer": "a whole number",
	"string": "a string", "array": "an array", "object": "an object",
}

func typeWords(types []string) string {
	var words []string
	for _, name := range types {
		if word := article[name]; !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return alternatives(words)
}

func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// formatExample says by an example what a format asks for.
var formatExample = map[string]string{
	"date":      "a date such as 2026-01-31",
	"date-time": "a date and time such as 2026-01-31T12:00:00Z",
	"time":      "a time such as 12:00:00Z",
	"duration":  "a duration such as P1DT12H",
	"email":     "an email address",
	"hostname":  "a host name",
	"ipv4":      "an IPv4 address",
	"ipv6":      "an IPv6 address",
	"uri":       "an absolute URL",
	"iri":       "an absolute URL",
	"uuid":      "a UUID",
}

func formatWords(format string) string {
	if words, ok := formatExample[format]; ok {
		return words
	}
	return "a valid " + format
}
