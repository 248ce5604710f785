package testsuite

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"blueprintd/foundation/recording"
)

// Mismatch is a difference between an outcome and its expectation.
type Mismatch struct {
	Path     []any // of the expectation in the test file
	What     string
	Expected any
	Got      any
	Missing  bool // there is no value
	Surplus  bool // no value was expected
}

// maxMismatches is the largest number of mismatches of a test.
const maxMismatches = 50

// matching compares an outcome with its expectations.
type matching struct {
	found   []Mismatch
	literal bool // no object is a matcher
}

func (m *matching) differ(d Mismatch) {
	if len(m.found) < maxMismatches {
		d.Path = slices.Clone(d.Path)
		m.found = append(m.found, d)
	}
}

// value compares two values. partial allows objects to have more members, and arrays to
// have more elements, than expected.
func (m *matching) value(path []any, want, got any, partial bool) {
	switch want := want.(type) {
	case map[string]any:
		if name, argument, is := matcherOf(want); is && !m.literal {
			m.matcher(path, name, argument, want, got)
			return
		}
		have, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if value, there := have[name]; there {
				m.value(below(path, name), want[name], value, partial)
			} else {
				m.differ(Mismatch{Path: below(path, name), Expected: want[name], Missing: true})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(have)) {
			if _, there := want[name]; !there && !partial {
				m.differ(Mismatch{Path: below(path, name), Got: have[name], Surplus: true})
			}
		}
		return
	case []any:
		have, ok := got.([]any)
		if !ok {
			break
		}
		for i := range max(len(want), len(have)) {
			switch {
			case i >= len(have):
				m.differ(Mismatch{Path: below(path, i), Expected: want[i], Missing: true})
			case i < len(want):
				m.value(below(path, i), want[i], have[i], partial)
			case !partial:
				m.differ(Mismatch{Path: below(path, i), Got: have[i], Surplus: true})
			}
		}
		return
	default:
		if recording.EqualScalars(want, got) {
			return
		}
	}
	m.differ(Mismatch{Path: path, Expected: want, Got: got})
}

func (m *matching) matcher(path []any, name string, argument any, want, got any) {
	fits := false
	switch name {
	case "$any":
		fits = true
	case "$type":
		fits = typeOf(got) == argument
	case "$match":
		text, isText := got.(string)
		pattern, _ := argument.(string)
		expression, err := regexp.Compile(pattern)
		fits = isText && err == nil && expression.MatchString(text)
	case "$exact":
		literal := m.literal
		m.literal = true
		m.value(below(path, name), argument, got, false)
		m.literal = literal
		return
	case "$partial":
		m.value(below(path, name), argument, got, true)
		return
	}
	if !fits {
		m.differ(Mismatch{Path: path, Expected: want, Got: got})
	}
}

func typeOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// fits reports whether a value is as expected.
func fits(want, got any) bool {
	m := &matching{}
	m.value(nil, want, got, false)
	return len(m.found) == 0
}
