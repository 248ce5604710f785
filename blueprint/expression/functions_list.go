package expression

import (
	"hash/maphash"

	"github.com/expr-lang/expr/ast"
)

// first and last return the item at an end, null for an empty array.
func first(i *invocation) any { return i.end(0) }
func last(i *invocation) any  { return i.end(-1) }

func (i *invocation) end(position int64) any {
	switch v := i.arguments[0].(type) {
	case nil:
		return nil
	case []any, string:
		return i.fetch(v, position)
	default:
		panic(failf("%s takes an array, not %s", i.name, KindOf(v)))
	}
}

// get is value[key], null also for values that have no keys.
func get(i *invocation) (value any) {
	defer func() {
		if reason := recover(); reason != nil {
			if failed, ok := reason.(*failure); !ok || failed.code != CodeExpressionFailed {
				panic(reason)
			}
		}
	}()
	return i.fetch(i.arguments[0], i.arguments[1])
}

func take(i *invocation) any {
	items := i.items(0)
	n := i.whole(1)
	if n < 0 {
		panic(failf("take takes a count of at least 0"))
	}
	n = min(n, int64(len(items)))
	return items[:n:n]
}

func reverse(i *invocation) any {
	items := i.items(0)
	result := i.list(len(items))
	for position, item := range items {
		result[len(items)-1-position] = item
	}
	return result
}

// uniq keeps the first of equal items. Items of equal hash are compared, so a
// collision costs steps, not correctness.
func uniq(i *invocation) any {
	items := i.items(0)
	i.built = true
	kept := []any{}
	seen := map[uint64][]any{}
	for _, item := range items {
		hash := i.hash(item)
		known := false
		for _, other := range seen[hash] {
			known = i.equal(item, other)
			if known {
				break
			}
		}
		if known {
			continue
		}
		i.memory(160)
		seen[hash] = append(seen[hash], item)
		kept = append(kept, item)
	}
	return kept
}

var hashSeed = maphash.MakeSeed()

// hash returns the same number for equal values.
func (e *evaluation) hash(value any) uint64 {
	e.work(2)
	switch v := value.(type) {
	case nil:
		return 1
	case bool:
		if v {
			return 2
		}
		return 3
	case string:
		e.work(len(v) / 64)
		return maphash.String(hashSeed, v)
	case []any:
		total := uint64(4)
		for _, item := range v {
			h := e.hash(item)
			total = total*31 + h
		}
		return total
	case map[string]any:
		total := uint64(5)
		for key, item := range v {
			h := e.hash(item)
			total += maphash.String(hashSeed, key) * (2*h + 1) // independent of map order
			e.work(4 + len(key)/64)
		}
		return total
	default:
		n, _ := e.number(value)
		return maphash.Comparable(hashSeed, n.float)
	}
}

func concat(i *invocation) any {
	size := 0
	for position := range i.arguments {
		items := i.items(position)
		size += len(items)
	}
	result := i.list(size)
	result = result[:0]
	for _, argument := range i.arguments {
		result = append(result, argument.([]any)...)
	}
	return result
}

func flatten(i *invocation) any {
	i.built = true
	return i.flatten([]any{}, i.items(0))
}

func (i *invocation) flatten(flat, items []any) []any {
	for _, item := range items {
		i.work(1)
		if inner, ok := item.([]any); ok {
			flat = i.flatten(flat, inner)
			continue
		}
		i.memory(48)
		flat = append(flat, item)
	}
	return flat
}

// sortList is sort, "asc" or "desc".
func sortList(i *invocation) any {
	items := i.items(0)
	var direction any = "asc"
	if i.has(1) {
		direction = i.arguments[1]
	}
	return i.sorted(i.name, items, items, direction)
}

func keys(i *invocation) any {
	return i.entries(func(_ map[string]any, key string) any { return key })
}

func values(i *invocation) any {
	return i.entries(func(object map[string]any, key string) any { return object[key] })
}

func toPairs(i *invocation) any {
	return i.entries(func(object map[string]any, key string) any {
		pair := i.list(2)
		pair[0], pair[1] = key, object[key]
		return pair
	})
}

// entries returns an array with one item for each key, in sorted order.
func (i *invocation) entries(item func(object map[string]any, key string) any) any {
	object, names := i.objectArgument()
	result := i.list(len(names))
	for position, name := range names {
		result[position] = item(object, name)
	}
	i.memory(16 * len(names))
	return result
}

// fromPairs builds an object of [key, value] pairs; the last of a repeated key wins.
func fromPairs(i *invocation) any {
	items := i.items(0)
	i.memory(len(items) * entrySize)
	result := i.object(len(items))
	for _, item := range items {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			panic(failf("fromPairs takes arrays of a key and a value"))
		}
		key, ok := keyOf(pair[0])
		if !ok {
			panic(failf("fromPairs: a key must be a string, not %s", KindOf(pair[0])))
		}
		result[key] = pair[1]
		i.work(len(key) / 16)
	}
	return result
}

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
