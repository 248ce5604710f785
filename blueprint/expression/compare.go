package expression

import (
	"cmp"
	"encoding/json"
	"math/bits"
	"slices"
	"strings"
)

// equal compares two values, numbers by value and everything else by content.
func (e *evaluation) equal(a, b any) (bool, error) {
	if err := e.work(1); err != nil {
		return false, err
	}
	switch x := a.(type) {
	case nil:
		return b == nil, nil
	case bool:
		y, ok := b.(bool)
		return ok && x == y, nil
	case string:
		y, ok := b.(string)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		return x == y, e.work(len(x) / 64)
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		for i := range x {
			if same, err := e.equal(x[i], y[i]); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false, nil
		}
		return e.equalObjects(x, y)
	default:
		return e.equalNumbers(a, b)
	}
}

// equalObjects compares by key. Go visits keys in a random order, so nothing is
// left out once a difference is found: the same question always costs the same.
func (e *evaluation) equalObjects(x, y map[string]any) (bool, error) {
	same := true
	for key := range x {
		if _, ok := y[key]; !ok {
			same = false
		}
		if err := e.work(4 + len(key)/16); err != nil {
			return false, err
		}
	}
	if !same {
		return false, nil
	}
	for key, left := range x {
		equal, err := e.equal(left, y[key])
		if err != nil {
			return false, err
		}
		same = same && equal
	}
	return same, nil
}

// equalNumbers compares by value; numbers beyond computing are equal when their
// texts are.
func (e *evaluation) equalNumbers(a, b any) (bool, error) {
	if x, ok := a.(json.Number); ok && a == b {
		return true, e.work(len(x) / 64)
	}
	x, okLeft, err := e.number(a)
	if err == nil && okLeft {
		var y number
		var okRight bool
		if y, okRight, err = e.number(b); err == nil && okRight {
			return compareNumbers(x, y) == 0, nil
		}
	}
	if f, ok := err.(*failure); ok && f.code != CodeBudgetExceeded {
		return false, nil
	}
	return false, err
}

// compare orders two numbers or two strings.
func (e *evaluation) compare(operator string, a, b any) (int, error) {
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok {
			return strings.Compare(x, y), e.work(1 + min(len(x), len(y))/64)
		}
	}
	x, okLeft, err := e.number(a)
	if err != nil {
		return 0, err
	}
	y, okRight, err := e.number(b)
	if err != nil {
		return 0, err
	}
	if !okLeft || !okRight {
		return 0, failf("%s cannot compare %s and %s", operator, kindOf(a), kindOf(b))
	}
	return compareNumbers(x, y), nil
}

// sorted returns the items in the order of their keys, which are all numbers or
// all strings. Equal keys keep their order in both directions.
func (e *evaluation) sorted(name string, items, keys []any, direction any) ([]any, error) {
	descending := direction == "desc"
	if !descending && direction != "asc" {
		return nil, failf(`%s orders by "asc" or "desc"`, name)
	}
	type entry struct {
		position int
		text     string
		number   number
	}
	// Comparing texts costs their length. Each level of the sort looks at every
	// item once or twice, short runs at each item up to a dozen times.
	size := 0
	entries := make([]entry, 0)
	if err := e.memory(len(keys) * 80); err != nil {
		return nil, err
	}
	entries = slices.Grow(entries, len(keys))
	texts := 0
	for i, key := range keys {
		n, ok, err := e.number(key)
		if err != nil {
			return nil, err
		}
		text, isText := key.(string)
		if !ok && !isText {
			return nil, failf("%s orders numbers or strings, not %s", name, kindOf(key))
		}
		if isText {
			texts++
		}
		size += 1 + (len(text)+len(n.big))/64
		entries = append(entries, entry{i, text, n})
	}
	if texts != 0 && texts != len(keys) {
		return nil, failf("%s cannot order numbers and strings together", name)
	}
	if err := e.work(size * (12 + 2*bits.Len(uint(len(keys)))) / 4); err != nil {
		return nil, err
	}
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
	result, err := e.list(len(entries))
	if err != nil {
		return nil, err
	}
	for i, entry := range entries {
		result[i] = items[entry.position]
	}
	return result, nil
}
