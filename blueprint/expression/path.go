package expression

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// path is a parsed name(.key | [index] | ["key"])*.
type path struct {
	source   string
	name     string
	segments []segment
}

// segment is one step of a path: a key, or an index when indexed.
type segment struct {
	key     string
	index   int
	indexed bool
}

// displayLength is how many bytes of a path an error shows.
const displayLength = 256

// isName reports whether a text can be a name, or a key after a point.
func isName(text string) bool {
	return text != "" && nameLength(text) == len(text)
}

// nameLength returns the length of the name at the start of text: letters, digits
// and "_", and "-" between them.
func nameLength(text string) (length int) {
	for i, r := range text {
		switch {
		case r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			length = i + utf8.RuneLen(r)
		case r != '-' || i == 0:
			return length
		}
	}
	return length
}

// parsePath parses the path at the start of text and returns its length; on error,
// length is the offset of the mistake.
func parsePath(text string) (p *path, length int, err error) {
	at := nameLength(text)
	if at == 0 {
		return nil, 0, fmt.Errorf("expected a name, found %s", found(text))
	}
	p = &path{name: text[:at]}
	for at < len(text) {
		var part segment
		size := 0
		switch rest := text[at:]; rest[0] {
		case '.':
			if size = nameLength(rest[1:]); size == 0 {
				return nil, at + 1, fmt.Errorf(`expected a key, found %s (a key with other characters than letters, digits, _ and - inside is written ["key"])`, found(rest[1:]))
			}
			part.key = rest[1 : 1+size]
			size++
		case '[':
			if part, size, err = parseBracket(rest); err != nil {
				return nil, at + 1, err
			}
		default:
			p.source = text[:at]
			return p, at, nil
		}
		p.segments = append(p.segments, part)
		at += size
	}
	p.source = text
	return p, at, nil
}

// parseBracket reads [index] or ["key"].
func parseBracket(text string) (part segment, size int, err error) {
	bad := fmt.Errorf(`expected a whole number or a key in double quotes and "]", found %s`, found(text[1:]))
	inside := text[1:]
	if strings.HasPrefix(inside, `"`) {
		end := closingQuote(inside)
		if end < 0 || !strings.HasPrefix(inside[end:], "]") {
			return part, 0, bad
		}
		if json.Unmarshal([]byte(inside[:end]), &part.key) != nil {
			return part, 0, bad
		}
		return part, end + 2, nil
	}
	digits, _, closed := strings.Cut(inside, "]")
	if !closed || digits == "" || len(digits) > 9 || strings.Trim(digits, "0123456789") != "" {
		return part, 0, bad
	}
	part.index, _ = strconv.Atoi(digits)
	part.indexed = true
	return part, len(digits) + 2, nil
}

// closingQuote returns the length of the quoted string at the start of text, or -1.
func closingQuote(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return -1
}

// found describes the start of text for messages.
func found(text string) string {
	if text == "" {
		return "the end"
	}
	r, _ := utf8.DecodeRuneInString(text)
	return strconv.QuoteRune(r)
}

// lookup returns the value at the path.
func (p *path) lookup(scope Scope) (value any, ok bool) {
	value, rest, ok := p.enter(scope)
	for i := 0; ok && i < len(rest); i++ {
		value, ok = rest[i].of(value)
	}
	return value, ok
}

// enter returns the value of the first segments of the path and the remaining
// segments. For a name with parts (see partial) that is one part, else the name.
func (p *path) enter(scope Scope) (value any, rest []segment, ok bool) {
	if len(p.segments) > 0 && !p.segments[0].indexed {
		if parts, has := partsOf(scope, p.name); has {
			value, ok = parts.Part(p.name, p.segments[0].key)
			return value, p.segments[1:], ok
		}
	}
	value, ok = scope.Lookup(p.name)
	return value, p.segments, ok
}

// broken explains why the path does not exist and lists the names known there.
func (p *path) broken(scope Scope) *failure {
	value, rest, ok := p.enter(scope)
	here := p.name
	if parts, has := partsOf(scope, p.name); has && len(rest) < len(p.segments) {
		if here = p.segments[0].key; !ok {
			value, rest, ok, here = any(parts.Nearby(p.name)), p.segments, true, p.name
		}
	}
	if !ok {
		return unknownName(p.source, p.name, scope)
	}
	for _, part := range rest {
		next, ok := part.of(value)
		if !ok {
			return &failure{
				at: unknownPlace, code: CodeUnknownName,
				path: blueprint.Shorten(p.source, displayLength), message: part.missing(value, here),
			}
		}
		value = next
		if here = part.key; part.indexed {
			here = strconv.Itoa(part.index)
		}
	}
	return failf("a value changed while it was read")
}

func (s segment) of(value any) (next any, ok bool) {
	if s.indexed {
		if array, isArray := value.([]any); isArray && s.index < len(array) {
			return array[s.index], true
		}
		return nil, false
	}
	object, _ := value.(map[string]any)
	next, ok = object[s.key]
	return next, ok
}

// missing explains why a value, reached by a name, has no such segment.
func (s segment) missing(value any, name string) string {
	name = strconv.Quote(blueprint.Shorten(name, hintLength))
	key := strconv.Quote(blueprint.Shorten(s.key, hintLength))
	switch v := value.(type) {
	case map[string]any:
		if s.indexed {
			return fmt.Sprintf(`%s is an object; its key is written ["%d"]`, name, s.index)
		}
		return fmt.Sprintf("no such key %s %s", key, knownKeys(s.key, v))
	case []any:
		if s.indexed {
			return fmt.Sprintf("no item %d, %s has %d", s.index, name, len(v))
		}
		return fmt.Sprintf("%s is an array, it has no key %s; its first item is written [0]", name, key)
	default:
		if s.indexed {
			return fmt.Sprintf("%s is %s, it has no items", name, KindOf(value))
		}
		return fmt.Sprintf("%s is %s, it has no key %s", name, KindOf(value), key)
	}
}

func unknownName(path, name string, scope Scope) *failure {
	return &failure{
		at: unknownPlace, code: CodeUnknownName, path: blueprint.Shorten(path, displayLength),
		message: fmt.Sprintf("no such name %q %s", blueprint.Shorten(name, hintLength), known(name, scope.Names())),
	}
}
