package expression

import (
	"cmp"
	"encoding/json"
	"math/bits"
	"slices"
	"strings"
)

// equal compares two values, numbers by value and everything else by content.
func (e *evaluation) equal(a, b any) bool {
	e.work(1)
	switch x := a.(type) {
	case nil:
		return b == nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y
	case string:
		y, ok := b.(string)
		if !ok || len(x) != len(y) {
			return false
		}
		e.work(len(x) / 64)
		return x == y
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !e.equal(x[i], y[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		return e.equalObjects(x, y)
	default:
		return e.equalNumbers(a, b)
	}
}

// equalObjects compares every member even after the first difference: map order is
// random, and equal evaluations must cost equal steps.
func (e *evaluation) equalObjects(x, y map[string]any) bool {
	same := true
	for key := range x {
		if _, ok := y[key]; !ok {
			same = false
		}
		e.work(4 + len(key)/16)
	}
	if !same {
		return false
	}
	for key, left := range x {
		equal := e.equal(left, y[key])
		same = same && equal
	}
	return same
}

// equalNumbers compares by value, or by text if a number is too large to compute with.
func (e *evaluation) equalNumbers(a, b any) bool {
	if x, ok := a.(json.Number); ok && a == b {
		e.work(len(x) / 64)
		return true
	}
	x, okLeft, failed := e.parse(a)
	if !okLeft || failed != nil {
		return false
	}
	y, okRight, failed := e.parse(b)
	return okRight && failed == nil && compareNumbers(x, y) == 0
}

// compare orders two numbers or two strings.
func (e *evaluation) compare(operator string, a, b any) int {
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok {
			e.work(1 + min(len(x), len(y))/64)
			return strings.Compare(x, y)
		}
	}
	x, okLeft := e.number(a)
	y, okRight := e.number(b)
	if !okLeft || !okRight {
		panic(failf("%s cannot compare %s and %s", operator, KindOf(a), KindOf(b)))
	}
	return compareNumbers(x, y)
}

// sorted returns the items in the order of their keys, which are all numbers or
// all strings. Equal keys keep their order in both directions.
func (e *evaluation) sorted(name string, items, keys []any, direction any) []any {
	descending := direction == "desc"
	if !descending && direction != "asc" {
		panic(failf(`%s takes the order "asc" or "desc"`, name))
	}
	type entry struct {
		position int
		text     string
		number   number
	}
	// Each level of the sort compares every item once or twice, short runs up to a
	// dozen times, and a comparison of texts costs their length.
	size := 0
	entries := make([]entry, 0)
	e.memory(len(keys) * 80)
	entries = slices.Grow(entries, len(keys))
	texts := 0
	for i, key := range keys {
		n, ok := e.number(key)
		text, isText := key.(string)
		if !ok && !isText {
			panic(failf("%s takes numbers or strings, not %s", name, KindOf(key)))
		}
		if isText {
			texts++
		}
		size += 1 + (len(text)+len(n.big))/64
		entries = append(entries, entry{i, text, n})
	}
	if texts != 0 && texts != len(keys) {
		panic(failf("%s cannot sort numbers and strings together", name))
	}
	e.work(size * (12 + 2*bits.Len(uint(len(keys)))) / 4)
	slices.SortFunc(entries, func(a, b entry) int {
		order := 0
		if texts > 0 {
			order = strings.Compare(a.text, b.text)
		} else {
			order = compareNumbers(a.number, b.number)
		}
		if descending {
			order = -order
		}
		return cmp.Or(order, cmp.Compare(a.position, b.position))
	})
	result := e.list(len(entries))
	for i, entry := range entries {
		result[i] = items[entry.position]
	}
	return result
}
