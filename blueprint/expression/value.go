package expression

import (
	"encoding/json"
	"fmt"
	"strconv"

	"blueprintd/blueprint"
)

// unknownPlace is the place of a failure that belongs to no operation yet.
const unknownPlace = -1

// failure is what goes wrong inside an evaluation, before it is known in which
// source: at counts characters from its start.
type failure struct {
	at            int
	path          string
	code, message string
}

func (f *failure) Error() string { return f.message }

func failf(format string, args ...any) error {
	return &failure{at: unknownPlace, code: CodeExpressionFailed, message: fmt.Sprintf(format, args...)}
}

// in turns a failure of an evaluation into the Error of a source.
func (f *failure) in(source string) *Error {
	e := &Error{Source: source, Path: f.path, Message: f.message, Code: f.code}
	if f.at >= 0 {
		e.Line, e.Column = place(source, byteOffset(source, f.at))
	}
	return e
}

// kindOf names the kind of a value for messages.
func kindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number, int, int64, float64:
		return "a number"
	case []any:
		return "an array"
	case map[string]any:
		return "an object"
	default:
		return fmt.Sprintf("a Go %T", value)
	}
}

// textOf writes a value as it stands inside other text. Scalars cost nothing
// here; the JSON of objects and arrays is paid for before it is made.
func (b *budget) textOf(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "null", nil
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case json.Number:
		return v.String(), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return formatFloat(v), nil
	default:
		return b.jsonOf(value)
	}
}

// jsonOf writes a value as compact JSON.
func (b *budget) jsonOf(value any) (string, error) {
	// The encoder's buffer grows by doubling, is copied twice at the end, and each
	// object's keys are sorted in a list of their own.
	err := measure(plain(value), func(n int) error {
		if err := b.memory(8 * n); err != nil {
			return err
		}
		return b.work(1 + n/4)
	})
	if err != nil {
		return "", err
	}
	data, err := blueprint.Encode(plain(value))
	if err != nil {
		return "", failf("the value cannot be written as JSON")
	}
	return string(data), nil
}

// plain turns a computed number into the form that numbers have in JSON
// values. Only numbers on their way between two operations have another.
func plain(value any) any {
	switch v := value.(type) {
	case int:
		return json.Number(strconv.Itoa(v))
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case float64:
		return json.Number(formatFloat(v))
	default:
		return value
	}
}

// keyOf returns the object key that a value stands for: itself for a string, the
// digits of a number.
func keyOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case int, int64, float64:
		return string(plain(v).(json.Number)), true
	default:
		return "", false
	}
}
