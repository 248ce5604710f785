package nodes

import (
	"encoding/json"
	"strconv"
	"strings"
)

// same reports whether two JSON values are the same: numbers by what they are
// worth, objects without regard to order, all else as it stands.
func same(a, b any) bool {
	switch x := a.(type) {
	case json.Number:
		y, ok := b.(json.Number)
		return ok && sameNumber(x, y)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !same(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for key, value := range x {
			if other, ok := y[key]; !ok || !same(value, other) {
				return false
			}
		}
		return true
	default:
		return a == b
	}
}

// sameNumber compares decimal numbers exactly, without computing them: 1e999999
// is a number too.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	x, okLeft := takeApart(a)
	y, okRight := takeApart(b)
	return okLeft && okRight && x == y
}

// decimal is digits times ten to the power of exponent, in its one shortest
// form.
type decimal struct {
	negative bool
	digits   string // without zeros at either end
	exponent int64
}

func takeApart(number json.Number) (decimal, bool) {
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
