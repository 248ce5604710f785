package expression

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// typeName is type(x), by the names of expr.
func typeName(i *invocation) (any, error) {
	switch i.arguments[0].(type) {
	case nil:
		return "nil", nil
	case bool:
		return "bool", nil
	case string:
		return "string", nil
	case []any:
		return "array", nil
	case map[string]any:
		return "map", nil
	}
	n, ok, err := i.number(i.arguments[0])
	switch {
	case err != nil || !ok:
		return "unknown", err
	case n.whole || n.big != "":
		return "int", nil
	default:
		return "float", nil
	}
}

// numberArgument returns the first argument as a number, read from text if need be.
func (i *invocation) numberArgument() (number, error) {
	value := i.arguments[0]
	if text, ok := value.(string); ok {
		text = strings.TrimPrefix(text, "+")
		if len(text) > maxNumberLength || text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
			return number{}, failf("%s: the text is no number", i.name)
		}
		value = json.Number(text)
	}
	n, ok, err := i.number(value)
	if err == nil && !ok {
		err = failf("%s takes a number or its text, not %s", i.name, kindOf(value))
	}
	return n, err
}

// toInt cuts off the fraction.
func toInt(i *invocation) (any, error) {
	n, err := i.numberArgument()
	switch {
	case err != nil:
		return nil, err
	case n.whole:
		return n.integer, nil
	case n.big != "" || math.Abs(n.float) >= math.MaxInt64:
		return nil, failf("int: the number is beyond 64 bits")
	}
	if _, ok := i.arguments[0].(string); ok {
		return nil, failf("int: the text is no whole number")
	}
	return int64(n.float), nil
}

func toFloat(i *invocation) (any, error) {
	n, err := i.numberArgument()
	if err != nil {
		return nil, err
	}
	if n.whole {
		return n.integer, nil
	}
	return computed(n.float)
}

func abs(i *invocation) (any, error) {
	n, ok, err := i.number(i.arguments[0])
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, failf("abs takes a number, not %s", kindOf(i.arguments[0]))
	}
	if (n.whole && n.integer < 0) || (!n.whole && n.float < 0) {
		return i.arithmetic("-", int64(0), i.arguments[0])
	}
	return i.arguments[0], nil
}

// rounding is ceil, floor and round, halves away from zero.
func rounding(i *invocation) (any, error) {
	n, ok, err := i.number(i.arguments[0])
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, failf("%s takes a number, not %s", i.name, kindOf(i.arguments[0]))
	case n.whole || n.big != "":
		return i.arguments[0], nil
	}
	round := map[string]func(float64) float64{"ceil": math.Ceil, "floor": math.Floor, "round": math.Round}[i.name]
	return computed(round(n.float))
}

// numbers returns all arguments, and what is in those that are arrays at any
// depth, to visit.
func (i *invocation) numbers(visit func(value any, n number) error) error {
	var walk func(value any) error
	walk = func(value any) error {
		if err := i.work(1); err != nil {
			return err
		}
		if items, ok := value.([]any); ok {
			for _, item := range items {
				if err := walk(item); err != nil {
					return err
				}
			}
			return nil
		}
		n, ok, err := i.number(value)
		if err != nil {
			return err
		}
		if !ok {
			return failf("%s takes numbers, not %s", i.name, kindOf(value))
		}
		return visit(value, n)
	}
	for _, argument := range i.arguments {
		if err := walk(argument); err != nil {
			return err
		}
	}
	return nil
}

// extreme is max and min; null without numbers.
func extreme(i *invocation) (any, error) {
	var best any
	var bestNumber number
	sign := 1
	if i.name == "min" {
		sign = -1
	}
	err := i.numbers(func(value any, n number) error {
		if best == nil || sign*compareNumbers(n, bestNumber) > 0 {
			best, bestNumber = value, n
		}
		return nil
	})
	return best, err
}

func mean(i *invocation) (any, error) {
	total, count := 0.0, 0
	err := i.numbers(func(_ any, n number) error {
		total += n.float
		count++
		return nil
	})
	if err != nil || count == 0 {
		return int64(0), err
	}
	return computed(total / float64(count))
}

func median(i *invocation) (any, error) {
	var floats []float64
	err := i.numbers(func(_ any, n number) error {
		floats = append(floats, n.float)
		if err := i.memory(32); err != nil {
			return err
		}
		return i.work(8) // its share of the sort
	})
	if err != nil || len(floats) == 0 {
		return int64(0), err
	}
	slices.Sort(floats)
	middle := len(floats) / 2
	if len(floats)%2 == 1 {
		return computed(floats[middle])
	}
	return computed((floats[middle-1] + floats[middle]) / 2)
}

// bitwise makes the functions over the 64 bits of two whole numbers.
func bitwise(apply func(x, y int64) int64) func(*invocation) (any, error) {
	return func(i *invocation) (any, error) {
		x, err := i.whole(0)
		if err != nil {
			return nil, err
		}
		y, err := i.whole(1)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(i.name, "bits") && y < 0 || i.name == "bitushr" && y < 0 {
			return nil, failf("%s cannot shift by a negative number", i.name)
		}
		return apply(x, y), nil
	}
}

func bitNot(i *invocation) (any, error) {
	x, err := i.whole(0)
	return ^x, err
}

// length is len: characters, items or keys.
func length(i *invocation) (any, error) {
	switch v := i.arguments[0].(type) {
	case string:
		n, err := i.characters(v)
		return int64(n), err
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	default:
		return nil, failf("len takes a string, an array or an object, not %s", kindOf(v))
	}
}
