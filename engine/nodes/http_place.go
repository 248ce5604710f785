package nodes

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// place is a way into a JSON value: keys (strings) and indexes (ints, counted
// from the end when negative).
type place []any

// The most that the text of a place and its steps may be.
const (
	maxPlace = 1 << 10
	maxSteps = 32
)

// parsePlace reads name(.key | [index] | ["key"])*. Names and keys may hold
// anything but points, brackets, quotes and blanks.
func parsePlace(source string) (place, bool) {
	if len(source) > maxPlace {
		return nil, false
	}
	const ends = ".[]\"\\ \t\r\n"
	var p place
	for rest := "." + strings.TrimSpace(source); rest != ""; {
		if len(p) == maxSteps {
			return nil, false
		}
		if rest[0] == '.' {
			key := rest[1:]
			if end := strings.IndexAny(key, ends); end >= 0 {
				key = key[:end]
			}
			if key == "" {
				return nil, false
			}
			p, rest = append(p, key), rest[1+len(key):]
			continue
		}
		inside, after, ok := bracketed(rest)
		if !ok {
			return nil, false
		}
		p, rest = append(p, inside), after
	}
	return p, true
}

// bracketed reads the [index] or ["key"] in front of text.
func bracketed(text string) (step any, rest string, ok bool) {
	if !strings.HasPrefix(text, "[") {
		return nil, "", false
	}
	if !strings.HasPrefix(text, `["`) {
		digits, after, closed := strings.Cut(text[1:], "]")
		index, err := strconv.ParseInt(digits, 10, 32)
		return int(index), after, closed && err == nil
	}
	decoder := json.NewDecoder(strings.NewReader(text[1:]))
	var key string
	if decoder.Decode(&key) != nil {
		return nil, "", false
	}
	after, closed := strings.CutPrefix(text[1+decoder.InputOffset():], "]")
	return key, after, closed
}

// in gives what stands at the place in a value, nil when nothing does.
func (p place) in(value any) any {
	for _, step := range p {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step < 0 {
				step += len(list)
			}
			if step < 0 || step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

// keysOnly tells whether a place leads through objects alone.
func (p place) keysOnly() bool {
	return !slices.ContainsFunc(p, func(step any) bool { _, isIndex := step.(int); return isIndex })
}

// put gives a copy of an object with a value at a place of keys; objects on the
// way are made where there are none.
func (p place) put(object map[string]any, value any) map[string]any {
	copied := make(map[string]any, len(object)+1)
	for key, member := range object {
		copied[key] = member
	}
	key := p[0].(string)
	if len(p) == 1 {
		copied[key] = value
	} else {
		inner, _ := copied[key].(map[string]any)
		copied[key] = p[1:].put(inner, value)
	}
	return copied
}
