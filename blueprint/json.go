package blueprint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// MaxDepth is the maximum nesting of JSON from outside.
const MaxDepth = 128

// Decode decodes exactly one JSON value. Numbers become json.Number; of a repeated key
// the last wins. Errors are CodeBadRequest.
func Decode(data []byte) (any, error) {
	if Depth(data) > MaxDepth {
		return nil, Errorf(CodeBadRequest, "JSON is nested deeper than %d levels", MaxDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, Errorf(CodeBadRequest, "JSON ends unexpectedly")
		}
		return nil, Errorf(CodeBadRequest, "JSON is malformed: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, Errorf(CodeBadRequest, "JSON is followed by more text")
	}
	return value, nil
}

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
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return rawSeparators(bytes.TrimSuffix(buffer.Bytes(), []byte("\n"))), nil
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
