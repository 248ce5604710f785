package expression

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// typeName is type(x), by the names of expr.
func typeName(i *invocation) any {
	switch i.arguments[0].(type) {
	case nil:
		return "nil"
	case bool:
		return "bool"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "map"
	}
	n, ok := i.number(i.arguments[0])
	switch {
	case !ok:
		return "unknown"
	case n.whole || n.big != "":
		return "int"
	default:
		return "float"
	}
}

// numberArgument returns the first argument, a number or its text.
func (i *invocation) numberArgument() number {
	value := i.arguments[0]
	if text, ok := value.(string); ok {
		text = strings.TrimPrefix(text, "+")
		if len(text) > maxNumberLength || text == "" || strings.Trim(text, "0123456789+-.eE") != "" {
			panic(failf("%s: the text is not a number", i.name))
		}
		value = json.Number(text)
	}
	n, ok := i.number(value)
	if !ok {
		panic(failf("%s takes a number or its text, not %s", i.name, KindOf(value)))
	}
	return n
}

func toInt(i *invocation) any {
	n := i.numberArgument()
	switch {
	case n.whole:
		return n.integer
	case n.big != "" || math.Abs(n.float) >= math.MaxInt64:
		panic(failf("int: the number is beyond 64 bits"))
	}
	if _, ok := i.arguments[0].(string); ok {
		panic(failf("int: the text is not a whole number"))
	}
	return int64(n.float)
}

func toFloat(i *invocation) any {
	n := i.numberArgument()
	if n.whole {
		return n.integer
	}
	return computed(n.float)
}

func abs(i *invocation) any {
	n, ok := i.number(i.arguments[0])
	if !ok {
		panic(failf("abs takes a number, not %s", KindOf(i.arguments[0])))
	}
	if (n.whole && n.integer < 0) || (!n.whole && n.float < 0) {
		return i.arithmetic("-", int64(0), i.arguments[0])
	}
	return i.arguments[0]
}

// rounding is ceil, floor and round, halves away from zero.
func rounding(i *invocation) any {
	n, ok := i.number(i.arguments[0])
	switch {
	case !ok:
		panic(failf("%s takes a number, not %s", i.name, KindOf(i.arguments[0])))
	case n.whole || n.big != "":
		return i.arguments[0]
	}
	round := map[string]func(float64) float64{"ceil": math.Ceil, "floor": math.Floor, "round": math.Round}[i.name]
	return computed(round(n.float))
}

// numbers calls visit for each argument. It descends into arrays.
func (i *invocation) numbers(visit func(value any, n number)) {
	for _, argument := range i.arguments {
		i.numbersIn(argument, visit)
	}
}

func (i *invocation) numbersIn(value any, visit func(value any, n number)) {
	i.work(1)
	if items, ok := value.([]any); ok {
		for _, item := range items {
			i.numbersIn(item, visit)
		}
		return
	}
	n, ok := i.number(value)
	if !ok {
		panic(failf("%s takes numbers, not %s", i.name, KindOf(value)))
	}
	visit(value, n)
}

// extreme is max and min; null without numbers.
func extreme(i *invocation) any {
	var best any
	var bestNumber number
	sign := 1
	if i.name == "min" {
		sign = -1
	}
	i.numbers(func(value any, n number) {
		if best == nil || sign*compareNumbers(n, bestNumber) > 0 {
			best, bestNumber = value, n
		}
	})
	return best
}

func mean(i *invocation) any {
	total, count := 0.0, 0
	i.numbers(func(_ any, n number) {
		total += n.float
		count++
	})
	if count == 0 {
		return int64(0)
	}
	return computed(total / float64(count))
}

func median(i *invocation) any {
	var floats []float64
	i.numbers(func(_ any, n number) {
		floats = append(floats, n.float)
		i.memory(32)
		i.work(8) // its share of the sort
	})
	if len(floats) == 0 {
		return int64(0)
	}
	slices.Sort(floats)
	middle := len(floats) / 2
	if len(floats)%2 == 1 {
		return computed(floats[middle])
	}
	return computed((floats[middle-1] + floats[middle]) / 2)
}

// bitwise returns a function of two whole numbers.
func bitwise(apply func(x, y int64) int64) func(*invocation) any {
	return func(i *invocation) any {
		x := i.whole(0)
		y := i.whole(1)
		if strings.HasPrefix(i.name, "bits") && y < 0 || i.name == "bitushr" && y < 0 {
			panic(failf("%s cannot shift by a negative number", i.name))
		}
		return apply(x, y)
	}
}

func bitNot(i *invocation) any {
	x := i.whole(0)
	return ^x
}

// length is len: characters, items or keys.
func length(i *invocation) any {
	switch v := i.arguments[0].(type) {
	case string:
		n := i.characters(v)
		return int64(n)
	case []any:
		return int64(len(v))
	case map[string]any:
		return int64(len(v))
	default:
		panic(failf("len takes a string, an array or an object, not %s", KindOf(v)))
	}
}
