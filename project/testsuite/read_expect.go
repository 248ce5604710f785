package testsuite

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"blueprintd/project"
)

// types are the arguments of $type.
var types = []string{"string", "number", "boolean", "object", "array", "null"}

func (r *reader) expect(value any, at []any) map[string]any {
	object := r.object(value, at, "status", "output", "error", "steps", "branches", "calls")
	if object == nil {
		return map[string]any{}
	}
	r.oneOf(object, "status", at, project.RunStatuses, !r.open)
	for _, name := range []string{"output", "error"} {
		if given, there := object[name]; there {
			r.matchers(given, below(at, name))
		}
	}
	if given, there := object["steps"]; there {
		steps := r.object(given, below(at, "steps"))
		for _, address := range slices.Sorted(maps.Keys(steps)) {
			here := below(at, "steps", address)
			step := r.object(steps[address], here, "status", "output", "error")
			r.oneOf(step, "status", here, project.StepStatuses, false)
			for _, name := range []string{"output", "error"} {
				if given, there := step[name]; there {
					r.matchers(given, below(here, name))
				}
			}
		}
	}
	if given, there := object["branches"]; there {
		branches := r.object(given, below(at, "branches"))
		for _, address := range slices.Sorted(maps.Keys(branches)) {
			r.text(branches, address, below(at, "branches"), true)
		}
	}
	if given, there := object["calls"]; there {
		r.calls(given, below(at, "calls"))
	}
	return object
}

// calls checks the expected calls: a list, or an object of lists.
func (r *reader) calls(value any, at []any) {
	if sets, is := value.(map[string]any); is {
		r.object(sets, at, callSets...)
		_, unordered := sets["unordered"]
		_, some := sets["some"]
		switch {
		case unordered && some:
			r.wrong(at, "unordered and some exclude each other")
		case len(sets) == 0:
			r.wrong(at, "must have one of %s, or be a list", strings.Join(callSets, ", "))
		}
		for _, name := range callSets {
			if given, there := sets[name]; there {
				r.callList(given, below(at, name))
			}
		}
		return
	}
	r.callList(value, at)
}

// callSets are the members of an object of calls.
var callSets = []string{"none", "some", "unordered"}

func (r *reader) callList(value any, at []any) {
	list, ok := value.([]any)
	if !ok {
		r.wrong(at, "must be an array")
	}
	for i, element := range list {
		here := below(at, i)
		call := r.object(element, here, "nodeId", "method", "url", "host", "headers", "body")
		r.matchers(any(call), here)
		if headers, there := call["headers"]; there {
			r.object(headers, below(here, "headers"))
		}
	}
}

func (r *reader) oneOf(object map[string]any, name string, at []any, list []string, required bool) {
	given, there := object[name]
	text, _ := given.(string)
	switch {
	case !there && required:
		r.wrong(below(at, name), "required: %s", strings.Join(list, ", "))
	case there && !slices.Contains(list, text):
		r.wrong(below(at, name), "must be one of %s", strings.Join(list, ", "))
	}
}

// matchers checks the matchers in a value.
func (r *reader) matchers(value any, at []any) {
	switch v := value.(type) {
	case []any:
		for i := range v {
			r.matchers(v[i], below(at, i))
		}
	case map[string]any:
		if _, literal := v["$exact"]; literal && len(v) == 1 {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			r.matchers(v[name], below(at, name))
		}
		name, argument, is := matcherOf(v)
		if !is {
			return
		}
		here := below(at, name)
		switch name {
		case "$any":
			if argument != true {
				r.wrong(here, "must be true")
			}
		case "$type":
			if text, _ := argument.(string); !slices.Contains(types, text) {
				r.wrong(here, "must be one of %s", strings.Join(types, ", "))
			}
		case "$match":
			text, ok := argument.(string)
			if !ok {
				r.wrong(here, "must be a regular expression")
			} else if _, err := regexp.Compile(text); err != nil || len(text) > maxPattern {
				r.wrong(here, "must be a regular expression in the syntax of RE2")
			}
		case "$partial":
			switch argument.(type) {
			case map[string]any, []any:
			default:
				r.wrong(here, "must be an object or an array")
			}
		default:
			r.wrong(here, "unknown matcher %s; the matchers are $any, $exact, $match, $partial, $type; write a literal value as {\"$exact\": {%q: ...}}", name, name)
		}
	}
}

// maxPattern is the length of the longest regular expression, in bytes.
const maxPattern = 4096

// matcherOf returns the name and argument of an object that is a matcher: it has one
// member, whose name begins with $. $base64 marks a binary body instead.
func matcherOf(object map[string]any) (name string, argument any, is bool) {
	if len(object) != 1 {
		return "", nil, false
	}
	for name, argument = range object {
	}
	return name, argument, strings.HasPrefix(name, "$") && name != "$base64"
}
