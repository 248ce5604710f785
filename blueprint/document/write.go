package document

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Member is one member of the object that Marshal writes.
type Member struct {
	Name  string
	Value any // a plain JSON value
}

// Marshal encodes an object with its members in the given order, as YAML or as indented
// JSON. Parse returns an equal value.
func Marshal(members []Member, asJSON bool) ([]byte, error) {
	w := &writer{}
	if asJSON {
		return w.json(members)
	}
	if len(members) == 0 {
		return []byte("{}\n"), nil
	}
	if err := w.members(members, 0); err != nil {
		return nil, err
	}
	return w.out.Bytes(), nil
}

// writer writes YAML in block style: unambiguous strings plain, strings of several lines
// as literal blocks, and other scalars as JSON.
type writer struct{ out bytes.Buffer }

func (w *writer) json(members []Member) ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, member := range members {
		if i > 0 {
			text.WriteByte(',')
		}
		for _, part := range []any{member.Name, member.Value} {
			data, err := blueprint.Encode(part)
			if err != nil {
				return nil, err
			}
			text.Write(data)
			text.WriteByte(':')
		}
		text.Truncate(text.Len() - 1)
	}
	text.WriteByte('}')
	if err := json.Indent(&w.out, text.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	w.out.WriteByte('\n')
	return w.out.Bytes(), nil
}

func (w *writer) members(members []Member, level int) error {
	for i, member := range members {
		if i > 0 || level == 0 {
			w.indent(level)
		}
		if err := w.scalar(member.Name, level, true); err != nil {
			return err
		}
		w.out.WriteByte(':')
		if err := w.value(member.Value, level); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) indent(level int) {
	for range level {
		w.out.WriteString("  ")
	}
}

// first are the members that identify an object; they precede the others.
var first = []string{"id", "name", "type", "triggerType", "title"}

func sorted(object map[string]any) []Member {
	var members []Member
	for _, name := range first {
		if value, ok := object[name]; ok {
			members = append(members, Member{name, value})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(first, name) {
			members = append(members, Member{name, object[name]})
		}
	}
	return members
}

// value writes a value after a colon or a dash, and ends the line.
func (w *writer) value(value any, level int) error {
	switch v := value.(type) {
	case map[string]any:
		if len(v) > 0 {
			w.out.WriteByte('\n')
			w.indent(level + 1)
			return w.members(sorted(v), level+1)
		}
	case []any:
		if len(v) > 0 {
			w.out.WriteByte('\n')
			return w.elements(v, level+1)
		}
	}
	w.out.WriteByte(' ')
	if err := w.scalar(value, level, false); err != nil {
		return err
	}
	w.out.WriteByte('\n')
	return nil
}

func (w *writer) elements(list []any, level int) error {
	for _, element := range list {
		w.indent(level)
		w.out.WriteByte('-')
		object, ok := element.(map[string]any)
		if ok && len(object) > 0 {
			w.out.WriteByte(' ')
			if err := w.members(sorted(object), level+1); err != nil {
				return err
			}
			continue
		}
		if err := w.value(element, level); err != nil {
			return err
		}
	}
	return nil
}

// plain matches texts that are strings to every YAML parser, except words.
var plain = regexp.MustCompile(`^[A-Za-z_/][A-Za-z0-9_./@-]*( [A-Za-z0-9_./@(-][A-Za-z0-9_./@,()-]*)*$`)

// words matches texts that some YAML parsers read as other values.
var words = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|nan|inf)$`)

func (w *writer) scalar(value any, level int, key bool) error {
	if text, ok := value.(string); ok {
		if plain.MatchString(text) && !words.MatchString(text) {
			w.out.WriteString(text)
			return nil
		}
		if !key && literal(text) {
			w.literal(text, level+1)
			return nil
		}
	}
	data, err := blueprint.Encode(value)
	if err != nil {
		return err
	}
	if _, ok := value.(string); ok {
		data = escape(data)
	}
	w.out.Write(data)
	return nil
}

// literal reports whether a literal block preserves a text.
func literal(text string) bool {
	body := strings.TrimSuffix(text, "\n")
	if !strings.Contains(body, "\n") || strings.HasPrefix(body, " ") || strings.HasPrefix(body, "\n") {
		return false
	}
	for _, line := range strings.Split(body, "\n") {
		if bare := strings.TrimSpace(line); bare == "" || bare != strings.TrimLeft(line, " ") {
			return false // parsers differ in empty lines and white space at the ends
		}
	}
	return !strings.ContainsFunc(body, func(r rune) bool {
		return r != '\n' && (!unicode.IsPrint(r) || r == unicode.ReplacementChar || r > 0xffff)
	})
}

func (w *writer) literal(text string, level int) {
	body, ended := strings.CutSuffix(text, "\n")
	w.out.WriteByte('|')
	if !ended {
		w.out.WriteByte('-')
	}
	for _, line := range strings.Split(body, "\n") {
		w.out.WriteByte('\n')
		w.indent(level)
		w.out.WriteString(line)
	}
}

// escape escapes characters that YAML does not allow inside quotes.
func escape(quoted []byte) []byte {
	var out bytes.Buffer
	for _, r := range string(quoted) {
		if r > 0x7e && !unicode.IsPrint(r) && r <= 0xffff {
			const digits = "0123456789abcdef"
			out.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				out.WriteByte(digits[r>>shift&15])
			}
			continue
		}
		out.WriteRune(r)
	}
	return out.Bytes()
}

var escapes = map[byte]rune{
	'0': 0, 'a': '\a', 'b': '\b', 't': '\t', '\t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r', 'e': 0x1b, ' ': ' ', '"': '"', '/': '/', '\\': '\\',
	'N': 0x85, '_': 0xa0, 'L': 0x2028, 'P': 0x2029, '\n': ' ', '\r': ' ',
}

// escaped decodes an escape sequence in double quotes; size is 0 for an invalid one.
func escaped(text []byte) (r rune, size int) {
	if len(text) < 2 {
		return 0, 0
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	if digits == 0 {
		if r, ok := escapes[text[1]]; ok {
			return r, 2
		}
		r, size = utf8.DecodeRune(text[1:])
		return r, 1 + size
	}
	if r, size = hex(text, digits); size > 0 && utf16.IsSurrogate(r) && len(text) > size+1 && text[size] == '\\' && text[size+1] == 'u' {
		if low, more := hex(text[size:], 4); more > 0 {
			return utf16.DecodeRune(r, low), size + more
		}
	}
	return r, size
}

// hex decodes the digits of \x, \u and \U.
func hex(text []byte, digits int) (r rune, size int) {
	if len(text) < 2+digits {
		return 0, 0
	}
	code, err := strconv.ParseUint(string(text[2:2+digits]), 16, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, 0
	}
	return rune(code), 2 + digits
}
