package expression

import (
	"github.com/expr-lang/expr/ast"
)

// loop is the call of a predicate: body runs for each item of list.
type loop struct {
	name  string
	list  operation
	body  operation
	order operation // the third argument of sortBy, or nil
	level int       // which frame holds the item
	cost  int       // steps of one iteration
	at    int
}

// predicates are the functions that run a body for each item.
var predicates = map[string]func(e *evaluation, l *loop, items []any) any{
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
	"reduce":        nil, // rejected when compiling: its accumulator is bounded only by memory
}

func (c *compiler) predicate(n *ast.BuiltinNode, at int) operation {
	run := predicates[n.Name]
	if run == nil {
		panic(failf("%s does not exist here; use sum, count or map, or a code node", n.Name))
	}
	list := c.compile(n.Arguments[0])
	l := &loop{name: n.Name, list: list, level: c.depth, at: at}
	if c.depth++; c.depth > maxPredicates {
		panic(failf("%s is nested in %d other predicates; the maximum is one", n.Name, c.depth-1))
	}
	before := c.count
	if len(n.Arguments) > 1 {
		l.body = c.compile(n.Arguments[1])
	} else { // count(list) and sum(list)
		l.body = func(e *evaluation) any { return e.frames[l.level].item }
	}
	l.cost = 1 + c.count - before
	c.depth--
	if len(n.Arguments) > 2 {
		l.order = c.compile(n.Arguments[2])
	}
	return func(e *evaluation) any {
		value := l.list(e)
		e.at = at
		items, ok := value.([]any)
		if !ok {
			panic(failf("%s takes an array, not %s", l.name, KindOf(value)))
		}
		return run(e, l, items)
	}
}

// iterate runs the body for one item.
func (l *loop) iterate(e *evaluation, items []any, index int) any {
	e.work(l.cost)
	e.frames[l.level] = frame{items[index], index}
	value := l.body(e)
	e.at = l.at
	return value
}

// test runs the body for one item, as a condition.
func (l *loop) test(e *evaluation, items []any, index int) bool {
	value := l.iterate(e, items, index)
	answer, ok := value.(bool)
	if !ok {
		panic(failf("the condition of %s must be true or false, not %s", l.name, KindOf(value)))
	}
	return answer
}

// every returns all, none or any: the first item with an unexpected condition decides.
func every(expected, found bool) func(*evaluation, *loop, []any) any {
	return func(e *evaluation, l *loop, items []any) any {
		for i := range items {
			if l.test(e, items, i) != expected {
				return found
			}
		}
		return !found
	}
}

func (l *loop) matching(e *evaluation, items []any) (n int64) {
	for i := range items {
		if l.test(e, items, i) {
			n++
		}
	}
	return n
}

func one(e *evaluation, l *loop, items []any) any {
	return l.matching(e, items) == 1
}

func count(e *evaluation, l *loop, items []any) any {
	return l.matching(e, items)
}

func filter(e *evaluation, l *loop, items []any) any {
	e.built = true
	kept := []any{}
	for i := range items {
		if l.test(e, items, i) {
			e.memory(48)
			kept = append(kept, items[i])
		}
	}
	return kept
}

func mapItems(e *evaluation, l *loop, items []any) any {
	result := e.list(len(items))
	for i := range items {
		result[i] = e.keep(l.iterate(e, items, i))
	}
	return result
}

func sum(e *evaluation, l *loop, items []any) any {
	var total any = int64(0)
	e.work(2 * len(items))
	for i := range items {
		total = e.arithmetic("+", total, l.iterate(e, items, i))
	}
	return total
}

// find returns one of the four functions that search for an item.
func find(backwards, position bool) func(*evaluation, *loop, []any) any {
	return func(e *evaluation, l *loop, items []any) any {
		for turn := range items {
			i := turn
			if backwards {
				i = len(items) - 1 - turn
			}
			if !l.test(e, items, i) {
				continue
			}
			if position {
				return int64(i)
			}
			return items[i]
		}
		return nil
	}
}

func groupBy(e *evaluation, l *loop, items []any) any {
	e.built = true
	groups := map[string]any{}
	for i := range items {
		key := e.textOf(l.iterate(e, items, i))
		group, known := groups[key].([]any)
		cost := 48 // appending copies
		if !known {
			cost += objectSize + len(key)
		}
		e.memory(cost)
		groups[key] = append(group, items[i])
	}
	e.work(len(groups))
	return groups
}

func sortBy(e *evaluation, l *loop, items []any) any {
	var direction any = "asc"
	if l.order != nil {
		direction = l.order(e)
	}
	keys := mapItems(e, l, items)
	return e.sorted(l.name, items, keys.([]any), direction)
}
