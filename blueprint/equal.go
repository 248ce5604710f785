package blueprint

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// EqualValues compares plain JSON values, numbers by value.
func EqualValues(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && EqualNumbers(x, y)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, EqualValues)
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, EqualValues)
	default:
		return a == b
	}
}

// EqualNumbers compares decimal numbers exactly, without expanding 1e999999.
func EqualNumbers(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okLeft := parseDecimal(a)
	y, okRight := parseDecimal(b)
	return okLeft && okRight && x == y
}

// decimal is digits times ten to the power of exponent, normalized.
type decimal struct {
	negative bool
	digits   string // without zeros at either end
	exponent int64
}

func parseDecimal(number json.Number) (decimal, bool) {
	var d decimal
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(number.String()), "e")
	if scientific {
		var err error
		if d.exponent, err = strconv.ParseInt(exponent, 10, 64); err != nil || d.exponent > 1<<40 || d.exponent < -1<<40 {
			return d, false
		}
	}
	mantissa, d.negative = strings.CutPrefix(mantissa, "-")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.digits = strings.TrimLeft(whole+fraction, "0")
	d.exponent -= int64(len(fraction))
	if d.digits == "" {
		return decimal{}, true
	}
	trimmed := strings.TrimRight(d.digits, "0")
	d.exponent += int64(len(d.digits) - len(trimmed))
	d.digits = trimmed
	return d, true
}
