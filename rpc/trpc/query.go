package trpc

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// parameter finds a query parameter by its exact name; the first one wins.
// net/url is too strict here: browsers' own URL parsing, which every tRPC
// client counts on, keeps a raw semicolon and a broken escape as they are.
func parameter(rawQuery, name string) (value string, present bool) {
	for pair := range strings.SplitSeq(rawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if pair != "" && unescapeQuery(key) == name {
			return unescapeQuery(value), true
		}
	}
	return "", false
}

// unescapeQuery reads a plus as a space and keeps what is no valid escape.
func unescapeQuery(text string) string {
	if !strings.ContainsAny(text, "%+") {
		return text
	}
	var plain strings.Builder
	plain.Grow(len(text))
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '+':
			plain.WriteByte(' ')
		case c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]):
			plain.WriteByte(hexValue(text[i+1])<<4 | hexValue(text[i+2]))
			i += 2
		default:
			plain.WriteByte(c)
		}
	}
	return plain.String()
}

// procedurePath takes the procedure names out of the request's path. Slashes
// are trimmed as tRPC's own server does it: one before, up to two behind.
func procedurePath(r *http.Request, root string) (string, error) {
	escaped := strings.TrimPrefix(r.URL.EscapedPath(), root)
	escaped = strings.TrimPrefix(escaped, "/")
	escaped = strings.TrimSuffix(strings.TrimSuffix(escaped, "/"), "/")
	path, ok := unescapePath(escaped)
	if !ok {
		return "", blueprint.Errorf(blueprint.CodeBadRequest, `Invalid URL-encoding in path "%s"`, strings.ToValidUTF8(escaped, "\uFFFD"))
	}
	return path, nil
}

// unescapePath decodes strictly: a broken escape or text that is not UTF-8
// fails.
func unescapePath(text string) (string, bool) {
	if !strings.Contains(text, "%") {
		return text, utf8.ValidString(text)
	}
	var plain strings.Builder
	plain.Grow(len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			plain.WriteByte(text[i])
			continue
		}
		if i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2]) {
			return "", false
		}
		plain.WriteByte(hexValue(text[i+1])<<4 | hexValue(text[i+2]))
		i += 2
	}
	return plain.String(), utf8.ValidString(plain.String())
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func hexValue(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c <= 'F':
		return c - 'A' + 10
	}
	return c - 'a' + 10
}
