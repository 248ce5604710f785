package blueprint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth is the maximum nesting of JSON from outside.
const MaxDepth = 128

// Decode decodes exactly one JSON value. Numbers become json.Number; of a repeated key
// the last wins. Errors are CodeBadRequest.
func Decode(data []byte) (any, error) {
	if Depth(data) > MaxDepth {
		return nil, Errorf(CodeBadRequest, "JSON is nested deeper than %d levels", MaxDepth)
	}
	var value any
	switch err := DecodeInto(data, &value); {
	case err == nil:
		return value, nil
	case errors.Is(err, errMoreText):
		return nil, Errorf(CodeBadRequest, "JSON is followed by more text")
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return nil, Errorf(CodeBadRequest, "JSON ends unexpectedly")
	default:
		return nil, Errorf(CodeBadRequest, "JSON is malformed: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
}

// DecodeInto decodes exactly one JSON value, of any depth, into the value that into points to.
// A number that is decoded into an interface becomes a json.Number. DecodeInto returns the errors
// of encoding/json, and one if more text follows the value.
func DecodeInto(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return errMoreText
	}
	return nil
}

var errMoreText = errors.New("JSON is followed by more text")

// Depth returns the nesting of brackets outside strings, which is exact for well-formed
// JSON.
func Depth(data []byte) int {
	level, deepest, inString := 0, 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			level++
			deepest = max(deepest, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return deepest
}

// EncodeIndented is Encode with an indentation of two spaces and a final newline.
func EncodeIndented(value any) ([]byte, error) {
	data, err := Encode(value)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, data, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// Encode returns compact JSON without HTML escaping and newline. Keys are sorted, so
// equal values have equal encodings.
func Encode(value any) ([]byte, error) {
	return AppendJSON(nil, value)
}

// AppendJSON appends what Encode returns. Plain values, as Decode returns them, and
// headers are encoded without reflection.
func AppendJSON(to []byte, value any) ([]byte, error) {
	return appendJSON(to, value, 0)
}

// deepest is the nesting up to which values are encoded here. Deeper ones are left to
// encoding/json, which detects cycles.
const deepest = 1000

func appendJSON(to []byte, value any, depth int) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(to, "null"...), nil
	case bool:
		return strconv.AppendBool(to, v), nil
	case string:
		return AppendJSONString(to, v), nil
	case json.Number:
		if isNumber(string(v)) {
			return append(to, v...), nil
		}
	case []any:
		if depth < deepest {
			return appendArray(to, v, depth+1)
		}
	case map[string]any:
		if depth < deepest {
			return appendObject(to, v, depth+1)
		}
	case []string:
		if v != nil {
			return appendStrings(to, v), nil
		}
	case map[string][]string: // headers
		if v != nil {
			to = append(to, '{')
			for i, name := range slices.Sorted(maps.Keys(v)) {
				if i > 0 {
					to = append(to, ',')
				}
				to = append(AppendJSONString(to, name), ':')
				if v[name] == nil {
					to = append(to, "null"...)
					continue
				}
				to = appendStrings(to, v[name])
			}
			return append(to, '}'), nil
		}
	}
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return append(to, rawSeparators(bytes.TrimSuffix(buffer.Bytes(), []byte("\n")))...), nil
}

// isNumber reports whether a text is a number of RFC 8259, section 6.
func isNumber(text string) bool {
	digits := func() bool {
		rest := strings.TrimLeft(text, "0123456789")
		some := len(rest) < len(text)
		text = rest
		return some
	}
	text = strings.TrimPrefix(text, "-")
	if zero, found := strings.CutPrefix(text, "0"); found {
		text = zero
	} else if !digits() {
		return false
	}
	if fraction, found := strings.CutPrefix(text, "."); found {
		if text = fraction; !digits() {
			return false
		}
	}
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		text = text[1:]
		if text != "" && (text[0] == '+' || text[0] == '-') {
			text = text[1:]
		}
		if !digits() {
			return false
		}
	}
	return text == ""
}

func appendStrings(to []byte, list []string) []byte {
	to = append(to, '[')
	for i, text := range list {
		if i > 0 {
			to = append(to, ',')
		}
		to = AppendJSONString(to, text)
	}
	return append(to, ']')
}

func appendArray(to []byte, list []any, depth int) ([]byte, error) {
	if list == nil {
		return append(to, "null"...), nil
	}
	to = append(to, '[')
	for i, element := range list {
		if i > 0 {
			to = append(to, ',')
		}
		var err error
		if to, err = appendJSON(to, element, depth); err != nil {
			return nil, err
		}
	}
	return append(to, ']'), nil
}

func appendObject(to []byte, object map[string]any, depth int) ([]byte, error) {
	if object == nil {
		return append(to, "null"...), nil
	}
	var few [8]string // on the stack
	keys := few[:0]
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	to = append(to, '{')
	for i, key := range keys {
		if i > 0 {
			to = append(to, ',')
		}
		to = append(AppendJSONString(to, key), ':')
		var err error
		if to, err = appendJSON(to, object[key], depth); err != nil {
			return nil, err
		}
	}
	return append(to, '}'), nil
}

// AppendJSONString appends a JSON string. Bytes that are not UTF-8 become U+FFFD.
func AppendJSONString(to []byte, text string) []byte {
	const digits = "0123456789abcdef"
	to = append(to, '"')
	done := 0 // bytes of text that have been appended
	for i := 0; i < len(text); {
		c := text[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(text[i:])
			if r == utf8.RuneError && size == 1 {
				to = append(append(to, text[done:i]...), `\ufffd`...)
				done = i + 1
			}
			i += size
			continue
		}
		i++
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		to = append(to, text[done:i-1]...)
		done = i
		switch c {
		case '"', '\\':
			to = append(to, '\\', c)
		case '\b':
			to = append(to, `\b`...)
		case '\f':
			to = append(to, `\f`...)
		case '\n':
			to = append(to, `\n`...)
		case '\r':
			to = append(to, `\r`...)
		case '\t':
			to = append(to, `\t`...)
		default:
			to = append(to, '\\', 'u', '0', '0', digits[c>>4], digits[c&0xf])
		}
	}
	return append(append(to, text[done:]...), '"')
}

// rawSeparators unescapes U+2028 and U+2029, which encoding/json escapes and other
// servers do not.
func rawSeparators(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\u202`)) {
		return data
	}
	out := make([]byte, 0, len(data))
	for i := 0; i < len(data); i++ {
		if data[i] != '\\' {
			out = append(out, data[i])
			continue
		}
		switch rest := data[i:]; {
		case bytes.HasPrefix(rest, []byte(`\u2028`)):
			out = append(out, "\u2028"...)
			i += 5
		case bytes.HasPrefix(rest, []byte(`\u2029`)):
			out = append(out, "\u2029"...)
			i += 5
		default: // an escape of two characters, or the start of a longer one
			out = append(out, data[i], data[i+1])
			i++
		}
	}
	return out
}

// Plain converts a Go value to the plain JSON value that Decode returns.
func Plain(value any) (any, error) {
	data, err := Encode(value)
	if err != nil {
		return nil, err
	}
	return Decode(data)
}

// Equal reports whether two plain JSON values are equal, numbers by their text.
func Equal(a, b any) bool {
	left, errLeft := Encode(a)
	right, errRight := Encode(b)
	return errLeft == nil && errRight == nil && bytes.Equal(left, right)
}

// WholeNumber returns the value of an integral JSON number in any notation.
func WholeNumber(value any) (int64, bool) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, false
	}
	if whole, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
		return whole, true
	}
	f, err := number.Float64()
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return 0, false
	}
	return int64(f), true
}
