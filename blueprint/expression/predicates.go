package expression

import (
	"github.com/expr-lang/expr/ast"
)

// loop is the call of a predicate function: body runs for each item of list.
type loop struct {
	name  string
	list  operation
	body  operation
	order operation // the third argument of sortBy, or nil
	level int       // which frame holds the item
	cost  int       // steps of one turn
	at    int
}

// predicates are the functions that run a body for each item.
var predicates = map[string]func(e *evaluation, l *loop, items []any) (any, error){
	"all":           every(true, false),
	"none":          every(false, false),
	"any":           every(false, true),
	"one":           one,
	"filter":        filter,
	"map":           mapItems,
	"count":         count,
	"sum":           sum,
	"find":          find(false, false),
	"findIndex":     find(false, true),
	"findLast":      find(true, false),
	"findLastIndex": find(true, true),
	"groupBy":       groupBy,
	"sortBy":        sortBy,
	"reduce":        nil, // refused when compiling: what it builds up has no bound but memory
}

func (c *compiler) predicate(n *ast.BuiltinNode, at int) (operation, error) {
	run := predicates[n.Name]
	if run == nil {
		return nil, failf("%s does not exist here; use sum, count or map, or a code node", n.Name)
	}
	list, err := c.compile(n.Arguments[0])
	if err != nil {
		return nil, err
	}
	l := &loop{name: n.Name, list: list, level: c.depth, at: at}
	if c.depth++; c.depth > maxPredicates {
		return nil, failf("%s stands inside %d other predicates; one is the most", n.Name, c.depth-1)
	}
	before := c.count
	if len(n.Arguments) > 1 {
		l.body, err = c.compile(n.Arguments[1])
	} else { // count(list) and sum(list)
		l.body = func(e *evaluation) (any, error) { return e.frames[l.level].item, nil }
	}
	l.cost = 1 + c.count - before
	c.depth--
	if err != nil {
		return nil, err
	}
	if len(n.Arguments) > 2 {
		if l.order, err = c.compile(n.Arguments[2]); err != nil {
			return nil, err
		}
	}
	return func(e *evaluation) (any, error) {
		value, err := l.list(e)
		if err != nil {
			return nil, err
		}
		items, ok := value.([]any)
		if !ok {
			return nil, located(at, failf("%s goes through an array, not %s", l.name, kindOf(value)))
		}
		result, err := run(e, l, items)
		return result, located(at, err)
	}, nil
}

// turn runs the body for one item.
func (l *loop) turn(e *evaluation, items []any, index int) (any, error) {
	if err := e.work(l.cost); err != nil {
		return nil, err
	}
	e.frames[l.level] = frame{items[index], index}
	return l.body(e)
}

// test runs the body for one item, as a condition.
func (l *loop) test(e *evaluation, items []any, index int) (bool, error) {
	value, err := l.turn(e, items, index)
	if err != nil {
		return false, err
	}
	answer, ok := value.(bool)
	if !ok {
		return false, failf("the condition of %s must be true or false, not %s", l.name, kindOf(value))
	}
	return answer, nil
}

// every makes all, none and any: as soon as an item's condition is not what all
// should have, the result is known.
func every(expected, found bool) func(*evaluation, *loop, []any) (any, error) {
	return func(e *evaluation, l *loop, items []any) (any, error) {
		for i := range items {
			answer, err := l.test(e, items, i)
			if err != nil {
				return nil, err
			}
			if answer != expected {
				return found, nil
			}
		}
		return !found, nil
	}
}

// matching counts the items that meet the condition.
func (l *loop) matching(e *evaluation, items []any) (n int64, err error) {
	for i := range items {
		answer, err := l.test(e, items, i)
		if err != nil {
			return 0, err
		}
		if answer {
			n++
		}
	}
	return n, nil
}

func one(e *evaluation, l *loop, items []any) (any, error) {
	n, err := l.matching(e, items)
	return n == 1, err
}

func count(e *evaluation, l *loop, items []any) (any, error) {
	n, err := l.matching(e, items)
	return n, err
}

func filter(e *evaluation, l *loop, items []any) (any, error) {
	e.built = true
	kept := []any{}
	for i := range items {
		answer, err := l.test(e, items, i)
		if err != nil {
			return nil, err
		}
		if answer {
			if err := e.memory(48); err != nil { // appending copies
				return nil, err
			}
			kept = append(kept, items[i])
		}
	}
	return kept, nil
}

func mapItems(e *evaluation, l *loop, items []any) (any, error) {
	result, err := e.list(len(items))
	if err != nil {
		return nil, err
	}
	for i := range items {
		value, err := l.turn(e, items, i)
		if err != nil {
			return nil, err
		}
		if result[i], err = e.keep(value); err != nil {
			return nil, err
		}
	}
	return result, nil
}

func sum(e *evaluation, l *loop, items []any) (any, error) {
	var total any = int64(0)
	if err := e.work(2 * len(items)); err != nil { // adding is dearer than most
		return nil, err
	}
	for i := range items {
		value, err := l.turn(e, items, i)
		if err != nil {
			return nil, err
		}
		if total, err = e.arithmetic("+", total, value); err != nil {
			return nil, err
		}
	}
	return total, nil
}

// find makes the four functions that look for one item.
func find(backwards, position bool) func(*evaluation, *loop, []any) (any, error) {
	return func(e *evaluation, l *loop, items []any) (any, error) {
		for turn := range items {
			i := turn
			if backwards {
				i = len(items) - 1 - turn
			}
			answer, err := l.test(e, items, i)
			switch {
			case err != nil:
				return nil, err
			case answer && position:
				return int64(i), nil
			case answer:
				return items[i], nil
			}
		}
		return nil, nil
	}
}

func groupBy(e *evaluation, l *loop, items []any) (any, error) {
	e.built = true
	groups := map[string]any{}
	for i := range items {
		value, err := l.turn(e, items, i)
		if err != nil {
			return nil, err
		}
		key, err := e.textOf(value)
		if err != nil {
			return nil, err
		}
		group, known := groups[key].([]any)
		cost := 48 // appending copies
		if !known {
			cost += objectSize + len(key)
		}
		if err := e.memory(cost); err != nil {
			return nil, err
		}
		groups[key] = append(group, items[i])
	}
	return groups, e.work(len(groups))
}

func sortBy(e *evaluation, l *loop, items []any) (any, error) {
	var direction any = "asc"
	if l.order != nil {
		var err error
		if direction, err = l.order(e); err != nil {
			return nil, err
		}
	}
	keys, err := mapItems(e, l, items)
	if err != nil {
		return nil, err
	}
	return e.sorted(l.name, items, keys.([]any), direction)
}
