package expression

import (
	"hash/maphash"
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
