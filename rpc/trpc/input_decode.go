package trpc

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// valueDecoder stores a checked JSON value in target, or adds faults to d.
type valueDecoder func(d *decoding, at *step, value any, target reflect.Value)

// compiler turns an input type into decoders.
type compiler struct {
	procedure string
	open      []reflect.Type // the structs being compiled, to detect recursion
}

func (c *compiler) fail(where string, format string, args ...any) {
	panic(fmt.Sprintf("rpc: input of %s: %s: %s", c.procedure, where, fmt.Sprintf(format, args...)))
}

var (
	numberType   = reflect.TypeFor[json.Number]()
	optionalType = reflect.TypeFor[optional]()
)

// compile returns the decoder of a type with its rules. where names the field in a panic
// about a type or rule that is not allowed.
func (c *compiler) compile(t reflect.Type, r rules, where string) valueDecoder {
	kind := t.Kind()
	isText := kind == reflect.String && t != numberType
	isNumber := t == numberType || kind >= reflect.Int && kind <= reflect.Int64 || kind == reflect.Float32 || kind == reflect.Float64
	isHolder := kind == reflect.Pointer || t.Implements(optionalType)
	isCounted := kind == reflect.Slice || kind == reflect.Map
	if !isHolder {
		if err := r.only(t.String(), isText || isNumber || isCounted, isText, isCounted); err != nil {
			c.fail(where, "%v", err)
		}
	}
	switch {
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
		c.fail(where, "%s reads its own JSON, which would skip every check", t)
	case t.Implements(optionalType):
		inner := c.compile(t.Field(0).Type, r, where)
		return func(d *decoding, at *step, value any, target reflect.Value) {
			target.Field(1).SetBool(true)
			inner(d, at, value, target.Field(0))
		}
	case kind == reflect.Pointer:
		inner := c.compile(t.Elem(), r, where)
		return nullable(r, func(d *decoding, at *step, value any, target reflect.Value) {
			target.Set(reflect.New(t.Elem()))
			inner(d, at, value, target.Elem())
		})
	case isText:
		if r.enum == nil {
			r.enum = Words(t)
		}
		return nullable(r, decodeText(r))
	case isNumber:
		return nullable(r, decodeNumber(t, r))
	case kind == reflect.Bool:
		return nullable(r, decodeBool)
	case kind == reflect.Interface && t.NumMethod() == 0:
		return decodeAny
	case kind == reflect.Slice:
		return nullable(r, selfChecked(t, c.list(t, r, where)))
	case kind == reflect.Map && t.Key().Kind() == reflect.String:
		return nullable(r, selfChecked(t, c.object(t, r, where)))
	case kind == reflect.Struct:
		return nullable(r, c.structure(t, where))
	}
	c.fail(where, "a %s cannot be an input", t)
	return nil
}

// checked is an input type with rules beyond tags. Paths of issues start at the value.
type checked interface{ Faults() []blueprint.Issue }

// selfChecked adds the faults of a checked type to those of other fields.
func selfChecked(t reflect.Type, decode valueDecoder) valueDecoder {
	if !t.Implements(reflect.TypeFor[checked]()) {
		return decode
	}
	return func(d *decoding, at *step, value any, target reflect.Value) {
		before := len(d.issues)
		if decode(d, at, value, target); len(d.issues) > before {
			return
		}
		for _, issue := range target.Interface().(checked).Faults() {
			below := at
			for _, element := range issue.Path {
				below = &step{below, element}
			}
			d.fault(below, issue.Message)
		}
	}
}

// nullable returns a decoder that accepts null if the rules do.
func nullable(r rules, decode valueDecoder) valueDecoder {
	if !r.nullable {
		return decode
	}
	return func(d *decoding, at *step, value any, target reflect.Value) {
		if value != nil {
			decode(d, at, value, target)
		}
	}
}

func decodeText(r rules) valueDecoder {
	return func(d *decoding, at *step, value any, target reflect.Value) {
		text, ok := value.(string)
		if !ok {
			d.fault(at, "must be a string")
			return
		}
		text, fault := r.checkText(text)
		if fault != "" {
			d.fault(at, fault)
			return
		}
		target.SetString(text)
	}
}

func decodeBool(d *decoding, at *step, value any, target reflect.Value) {
	truth, ok := value.(bool)
	if !ok {
		d.fault(at, "must be true or false")
		return
	}
	target.SetBool(truth)
}

func decodeAny(d *decoding, at *step, value any, target reflect.Value) {
	if plain := d.plain(at, value); plain != nil {
		target.Set(reflect.ValueOf(plain))
	}
}

// decodeNumber returns the decoder of integers, floats and json.Number.
func decodeNumber(t reflect.Type, r rules) valueDecoder {
	return func(d *decoding, at *step, value any, target reflect.Value) {
		number, ok := value.(json.Number)
		if !ok {
			d.fault(at, "must be a number")
			return
		}
		approximate, err := strconv.ParseFloat(number.String(), 64)
		integer := t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64
		exact, whole := int64(0), true
		if integer {
			exact, whole = parseInteger(number.String())
		}
		switch fault := r.checkNumber(approximate); {
		case !whole:
			d.fault(at, "must be an integer")
		case fault != "":
			d.fault(at, fault)
		case err != nil, integer && math.Abs(approximate) > maxSafeInteger, integer && target.OverflowInt(exact):
			d.fault(at, "is out of range")
		case integer:
			target.SetInt(exact)
		case t == numberType:
			target.SetString(number.String())
		default:
			target.SetFloat(approximate)
		}
	}
}

// list returns the decoder of a slice. An empty list becomes an empty slice, not nil.
func (c *compiler) list(t reflect.Type, r rules, where string) valueDecoder {
	element := c.compile(t.Elem(), r.elements(), where+"[]")
	free := t == reflect.TypeFor[[]any]()
	return func(d *decoding, at *step, value any, target reflect.Value) {
		list, ok := value.([]any)
		if !ok {
			d.fault(at, "must be an array")
			return
		}
		if fault := r.checkCount(len(list), "element"); fault != "" {
			d.fault(at, fault)
			return
		}
		if free {
			target.Set(reflect.ValueOf(d.plain(at, list)))
			return
		}
		target.Set(reflect.MakeSlice(t, len(list), len(list)))
		for i, value := range list {
			below := &step{at, i}
			if _, absent := value.(undefinedElement); absent {
				d.fault(below, "required")
				continue
			}
			element(d, below, value, target.Index(i))
		}
	}
}

// object returns the decoder of a map. It decodes the keys in order, so that the same
// input has the same issues.
func (c *compiler) object(t reflect.Type, r rules, where string) valueDecoder {
	element := c.compile(t.Elem(), r.elements(), where+"{}")
	free := t == reflect.TypeFor[map[string]any]()
	return func(d *decoding, at *step, value any, target reflect.Value) {
		object, ok := value.(map[string]any)
		if !ok {
			d.fault(at, "must be an object")
			return
		}
		if fault := r.checkCount(len(object), "key"); fault != "" {
			d.fault(at, fault)
			return
		}
		if free {
			target.Set(reflect.ValueOf(d.plain(at, object)))
			return
		}
		target.Set(reflect.MakeMapWithSize(t, len(object)))
		for _, key := range slices.Sorted(maps.Keys(object)) {
			stored := reflect.New(t.Elem()).Elem()
			element(d, &step{at, key}, object[key], stored)
			target.SetMapIndex(reflect.ValueOf(key).Convert(t.Key()), stored)
		}
	}
}

// structure returns the decoder of a struct, whose fields are decoded in source order.
func (c *compiler) structure(t reflect.Type, where string) valueDecoder {
	if slices.Contains(c.open, t) {
		c.fail(where, "%s holds itself", t)
	}
	c.open = append(c.open, t)
	fields := c.fields(t, nil, where)
	c.open = c.open[:len(c.open)-1]
	guarded := slices.ContainsFunc(fields, func(f field) bool { return f.guards != nil })
	return func(d *decoding, at *step, value any, target reflect.Value) {
		object, ok := value.(map[string]any)
		if !ok {
			d.fault(at, "must be an object")
			return
		}
		for i := range fields {
			fields[i].decode(d, at, object, target)
		}
		if guarded && len(object) <= maxIssues { // bounds the work
			guard(d, at, fields, object)
		}
	}
}

// maxSafeInteger is JavaScript's Number.MAX_SAFE_INTEGER.
const maxSafeInteger = 1<<53 - 1

// parseInteger parses a JSON number as an exact integer: 1e2 and 100.0 are 100. whole is
// false for a fraction. A number beyond int64 is returned as the nearest int64.
func parseInteger(number string) (value int64, whole bool) {
	if value, err := strconv.ParseInt(number, 10, 64); err == nil {
		return value, true
	}
	mantissa, exponentText, _ := strings.Cut(strings.ToLower(number), "e")
	digits, negative := strings.CutPrefix(mantissa, "-")
	before, after, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(before+after, "0")
	significant := strings.TrimRight(digits, "0")
	if significant == "" {
		return 0, true
	}
	exponent := 0
	if exponentText != "" {
		parsed, err := strconv.Atoi(exponentText)
		if err != nil && strings.HasPrefix(exponentText, "-") {
			return 0, false
		}
		if err != nil {
			parsed = math.MaxInt32
		}
		exponent = min(max(parsed, math.MinInt32), math.MaxInt32)
	}
	zeros := exponent - len(after) + len(digits) - len(significant)
	if zeros < 0 {
		return 0, false
	}
	limit := int64(math.MaxInt64)
	if negative {
		limit = math.MinInt64
	}
	if len(significant)+zeros > 19 {
		return limit, true
	}
	text := significant + strings.Repeat("0", zeros)
	if negative {
		text = "-" + text
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return limit, true
	}
	return value, true
}
