package trpc

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// rawInput is the undecoded input of a call: a JSON value that may contain undefinedElement
// and foreign values.
type rawInput struct {
	value   any
	present bool // false: no input, JavaScript's undefined
	marked  bool // value contains undefinedElement or foreign
	bare    bool // there is no input, but an object without the key json
}

// undefinedElement is an element of an array that is undefined. An undefined field is
// removed from its object instead.
type undefinedElement struct{}

// foreign is a value of a JavaScript type that JSON lacks, in its plain form. A typed field
// refuses it; a field of any JSON takes the plain value.
type foreign struct {
	kind  string
	value any
}

// foreignKinds are the annotations known besides "undefined" and the typed-array pair.
var foreignKinds = []string{"Date", "bigint", "Error", "regexp", "set", "map", "number", "URL"}

// readEnvelope decodes {"json": ..., "meta": ...} and applies the annotations. A value
// other than null without the key json counts as absent.
func readEnvelope(envelope any) (rawInput, error) {
	if envelope == nil {
		return rawInput{}, blueprint.Errorf(blueprint.CodeBadRequest, `input: must be an object with the key "json", not null`)
	}
	object, _ := envelope.(map[string]any)
	value, present := object["json"]
	if !present {
		return rawInput{bare: len(object) > 0}, nil
	}
	meta, _ := object["meta"].(map[string]any)
	annotations, annotated := meta["values"]
	if !annotated {
		return rawInput{value: value, present: true}, nil
	}
	reading := &annotationReading{root: value, escaped: escapedPaths(meta["v"])}
	if err := reading.apply(annotations, place{root: &reading.root}); err != nil {
		return rawInput{}, err
	}
	_, gone := reading.root.(undefinedElement)
	if gone {
		return rawInput{}, nil
	}
	return rawInput{value: reading.root, present: true, marked: reading.marked}, nil
}

// escapedPaths reports whether dots and backslashes within the keys of a path
// are escaped, as superjson 2 does and says with version 1.
func escapedPaths(version any) bool {
	number, ok := version.(json.Number)
	if !ok {
		return version != nil
	}
	value, err := number.Float64()
	return err != nil || value >= 1
}

// annotationReading applies a tree of annotations to a value.
type annotationReading struct {
	root    any
	escaped bool
	marked  bool
}

// apply applies a tree of annotations: an object from paths to trees, or [kind] or
// [kind, object]. Paths to nothing are ignored.
func (r *annotationReading) apply(tree any, at place) error {
	switch tree := tree.(type) {
	case map[string]any:
		return r.applyChildren(tree, at)
	case []any:
		if len(tree) > 1 {
			if err := r.apply(tree[1], at); err != nil {
				return err
			}
		}
		if len(tree) == 0 {
			return badAnnotation("an empty annotation")
		}
		return r.mark(tree[0], at)
	case string:
		return badAnnotation("a string where a list is expected")
	}
	return nil
}

func (r *annotationReading) applyChildren(tree map[string]any, at place) error {
	for _, key := range slices.Sorted(maps.Keys(tree)) { // so that the same input has the same error
		below, reached, err := r.follow(at, key)
		if err != nil {
			return err
		}
		if reached {
			if err := r.apply(tree[key], below); err != nil {
				return err
			}
		}
	}
	return nil
}

// bigIntegerForm matches a bigint as JavaScript writes it.
var bigIntegerForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// maxBigInteger is the maximum number of digits of a bigint.
const maxBigInteger = 1000

func (r *annotationReading) mark(kind any, at place) error {
	name, err := annotationKind(kind)
	if err != nil {
		return err
	}
	value, found := at.get()
	if !found {
		return nil
	}
	text, _ := value.(string)
	switch {
	case name == "undefined":
		r.marked = true
		at.remove()
	case name == "number" && text == "-0":
		at.set(json.Number("0"))
	case name == "bigint" && (len(strings.TrimPrefix(text, "-")) > maxBigInteger || !bigIntegerForm.MatchString(text)):
		return badAnnotation("a bigint that is not a string of digits")
	case name == "bigint":
		r.marked = true
		at.set(foreign{name, json.Number(text)})
	default:
		r.marked = true
		at.set(foreign{name, value})
	}
	return nil
}

// annotationKind returns the kind of an annotation: a string, or a pair for typed arrays.
func annotationKind(kind any) (string, error) {
	switch kind := kind.(type) {
	case string:
		if kind == "undefined" || slices.Contains(foreignKinds, kind) {
			return kind, nil
		}
	case []any:
		if len(kind) == 2 && kind[0] == "typed-array" {
			return "typed-array", nil
		}
	}
	return "", badAnnotation("an unknown kind of value")
}

func badAnnotation(what string) error {
	return blueprint.Errorf(blueprint.CodeBadRequest, "input: meta holds %s; send plain JSON, or superjson's own kinds", what)
}

// place is the location of a value: the root, a key of an object, or an element of a list.
// The zero place does not exist.
type place struct {
	root   *any
	object map[string]any
	key    string
	list   []any
	index  int
}

func (p place) get() (any, bool) {
	switch {
	case p.root != nil:
		return *p.root, true
	case p.object != nil:
		value, found := p.object[p.key]
		return value, found
	case p.list != nil:
		return p.list[p.index], true
	}
	return nil, false
}

func (p place) set(value any) {
	switch {
	case p.root != nil:
		*p.root = value
	case p.object != nil:
		p.object[p.key] = value
	default:
		p.list[p.index] = value
	}
}

func (p place) remove() {
	if p.object != nil {
		delete(p.object, p.key)
		return
	}
	p.set(undefinedElement{})
}

// step returns the place of a key or position below p. inside reports whether p is an
// object or a list, even if it lacks the segment.
func (p place) step(segment string) (below place, inside bool) {
	value, _ := p.get()
	for {
		wrapped, ok := value.(foreign)
		if !ok {
			break
		}
		value = wrapped.value
	}
	switch value := value.(type) {
	case map[string]any:
		return place{object: value, key: segment}, true
	case []any:
		index, err := strconv.Atoi(segment)
		if err != nil || index < 0 || index >= len(value) {
			return place{}, true
		}
		return place{list: value, index: index}, true
	}
	return place{}, false
}

// joinedSegments is the maximal number of segments of a path that are tried as one key.
const joinedSegments = 8

// follow returns the place at a path below at, and reports whether the object or list
// that would hold it exists. The work is bounded by the depth of the value.
func (r *annotationReading) follow(at place, path string) (place, bool, error) {
	for {
		segment, rest, more, err := r.cut(path)
		if err != nil {
			return place{}, false, err
		}
		below, inside := at.step(segment)
		_, found := below.get()
		if !found && more && !r.escaped {
			below, rest, more, found = at.stepJoined(path)
			inside = found
		}
		switch {
		case !more:
			return below, inside, nil
		case !found:
			return place{}, false, nil
		}
		at, path = below, rest
	}
}

// cut returns the first key of a path and the rest. superjson 2 escapes only the dot and
// the backslash within a key, as \. and \\; in version 1 only before a dot.
func (r *annotationReading) cut(path string) (segment, rest string, more bool, err error) {
	var plain strings.Builder
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '.':
			segment = plain.String()
			return segment, path[i+1:], true, checkSegment(segment)
		case c == '\\' && i+1 < len(path) && (path[i+1] == '.' || r.escaped && path[i+1] == '\\'):
			i++
			plain.WriteByte(path[i])
		case c == '\\' && r.escaped:
			return "", "", false, badAnnotation("a path with a stray backslash")
		default:
			plain.WriteByte(c)
		}
	}
	segment = plain.String()
	return segment, "", false, checkSegment(segment)
}

// checkSegment refuses the keys that superjson refuses against prototype pollution.
func checkSegment(segment string) error {
	switch segment {
	case "__proto__", "prototype", "constructor":
		return badAnnotation(segment + " in a path")
	}
	return nil
}

// stepJoined is step for a key that contains dots, which superjson 1 does not escape.
func (p place) stepJoined(path string) (below place, rest string, more, found bool) {
	end := strings.IndexByte(path, '.')
	for range joinedSegments {
		dot := strings.IndexByte(path[end+1:], '.')
		key := path
		if dot >= 0 {
			end += 1 + dot
			key = path[:end]
		}
		below, _ = p.step(key)
		if _, found = below.get(); found {
			return below, strings.TrimPrefix(path[len(key):], "."), dot >= 0, true
		}
		if dot < 0 {
			break
		}
	}
	return place{}, "", false, false
}
