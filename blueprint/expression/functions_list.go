package expression

import (
	"hash/maphash"
)

// first and last give the item at an end, null for an empty array.
func first(i *invocation) (any, error) { return i.end(0) }
func last(i *invocation) (any, error)  { return i.end(-1) }

func (i *invocation) end(position int64) (any, error) {
	switch v := i.arguments[0].(type) {
	case nil:
		return nil, nil
	case []any, string:
		return i.fetch(v, position)
	default:
		return nil, failf("%s takes an array, not %s", i.name, kindOf(v))
	}
}

// get is value[key], and null where there can be none.
func get(i *invocation) (any, error) {
	value, err := i.fetch(i.arguments[0], i.arguments[1])
	if f, ok := err.(*failure); ok && f.code == CodeExpressionFailed {
		return nil, nil
	}
	return value, err
}

func take(i *invocation) (any, error) {
	items, err := i.items(0)
	if err != nil {
		return nil, err
	}
	n, err := i.whole(1)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, failf("take takes a count from 0")
	}
	n = min(n, int64(len(items)))
	return items[:n:n], nil
}

func reverse(i *invocation) (any, error) {
	items, err := i.items(0)
	if err != nil {
		return nil, err
	}
	result, err := i.list(len(items))
	if err != nil {
		return nil, err
	}
	for position, item := range items {
		result[len(items)-1-position] = item
	}
	return result, nil
}

// uniq keeps the first of equal items. Equal items have equal hashes; the rest
// is found by comparing, so a bad hash costs steps, not correctness.
func uniq(i *invocation) (any, error) {
	items, err := i.items(0)
	if err != nil {
		return nil, err
	}
	i.built = true
	kept := []any{}
	seen := map[uint64][]any{}
	for _, item := range items {
		hash, err := i.hash(item)
		if err != nil {
			return nil, err
		}
		known := false
		for _, other := range seen[hash] {
			if known, err = i.equal(item, other); err != nil {
				return nil, err
			}
			if known {
				break
			}
		}
		if known {
			continue
		}
		if err := i.memory(160); err != nil {
			return nil, err
		}
		seen[hash] = append(seen[hash], item)
		kept = append(kept, item)
	}
	return kept, nil
}

var hashSeed = maphash.MakeSeed()

// hash gives equal values the same number.
func (e *evaluation) hash(value any) (uint64, error) {
	if err := e.work(2); err != nil {
		return 0, err
	}
	switch v := value.(type) {
	case nil:
		return 1, nil
	case bool:
		if v {
			return 2, nil
		}
		return 3, nil
	case string:
		return maphash.String(hashSeed, v), e.work(len(v) / 64)
	case []any:
		total := uint64(4)
		for _, item := range v {
			h, err := e.hash(item)
			if err != nil {
				return 0, err
			}
			total = total*31 + h
		}
		return total, nil
	case map[string]any:
		total := uint64(5)
		for key, item := range v {
			h, err := e.hash(item)
			if err != nil {
				return 0, err
			}
			total += maphash.String(hashSeed, key) * (2*h + 1) // in any order the same
			if err := e.work(4 + len(key)/64); err != nil {
				return 0, err
			}
		}
		return total, nil
	default:
		n, _, err := e.number(value)
		return maphash.Comparable(hashSeed, n.float), err
	}
}

func concat(i *invocation) (any, error) {
	size := 0
	for position := range i.arguments {
		items, err := i.items(position)
		if err != nil {
			return nil, err
		}
		size += len(items)
	}
	result, err := i.list(size)
	if err != nil {
		return nil, err
	}
	result = result[:0]
	for _, argument := range i.arguments {
		result = append(result, argument.([]any)...)
	}
	return result, nil
}

// flatten puts the items of nested arrays, at any depth, into one array.
func flatten(i *invocation) (any, error) {
	items, err := i.items(0)
	if err != nil {
		return nil, err
	}
	i.built = true
	flat := []any{}
	var walk func([]any) error
	walk = func(items []any) error {
		for _, item := range items {
			if err := i.work(1); err != nil {
				return err
			}
			if inner, ok := item.([]any); ok {
				if err := walk(inner); err != nil {
					return err
				}
				continue
			}
			if err := i.memory(48); err != nil {
				return err
			}
			flat = append(flat, item)
		}
		return nil
	}
	err = walk(items)
	return flat, err
}

// sortList is sort, "asc" or "desc".
func sortList(i *invocation) (any, error) {
	items, err := i.items(0)
	if err != nil {
		return nil, err
	}
	var direction any = "asc"
	if i.has(1) {
		direction = i.arguments[1]
	}
	return i.sorted(i.name, items, items, direction)
}

func keys(i *invocation) (any, error) {
	return i.entries(func(_ map[string]any, key string) (any, error) { return key, nil })
}

func values(i *invocation) (any, error) {
	return i.entries(func(object map[string]any, key string) (any, error) { return object[key], nil })
}

func toPairs(i *invocation) (any, error) {
	return i.entries(func(object map[string]any, key string) (any, error) {
		pair, err := i.list(2)
		if err != nil {
			return nil, err
		}
		pair[0], pair[1] = key, object[key]
		return pair, nil
	})
}

// entries makes an array with one item for each key, in their order.
func (i *invocation) entries(item func(object map[string]any, key string) (any, error)) (any, error) {
	object, names, err := i.objectArgument()
	if err != nil {
		return nil, err
	}
	result, err := i.list(len(names))
	if err != nil {
		return nil, err
	}
	for position, name := range names {
		if result[position], err = item(object, name); err != nil {
			return nil, err
		}
	}
	return result, i.memory(16 * len(names))
}

// fromPairs makes an object of [key, value] pairs; of a repeated key the last wins.
func fromPairs(i *invocation) (any, error) {
	items, err := i.items(0)
	if err != nil {
		return nil, err
	}
	if err := i.memory(len(items) * entrySize); err != nil {
		return nil, err
	}
	result, err := i.object(len(items))
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			return nil, failf("fromPairs takes arrays of a key and a value")
		}
		key, ok := keyOf(pair[0])
		if !ok {
			return nil, failf("fromPairs: a key is a string, not %s", kindOf(pair[0]))
		}
		result[key] = pair[1]
		if err := i.work(len(key) / 16); err != nil {
			return nil, err
		}
	}
	return result, nil
}
