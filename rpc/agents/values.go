package agents

import (
	"encoding/json"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// The limits of results and arguments.
const (
	maxValue   = 4 << 10   // bytes of JSON of one input or output of a step
	maxSteps   = 256 << 10 // bytes of JSON of all steps of a run
	maxMap     = 128 << 10 // bytes of JSON of a map that is returned whole
	maxChanges = 200       // changes of one edit
	maxIssues  = 100       // issues in a result
)

func number(n int) json.Number { return json.Number(strconv.Itoa(n)) }

// str returns a member that is a string, "" if it is not.
func str(object map[string]any, name string) string {
	text, _ := object[name].(string)
	return text
}

// obj returns a member that is an object, nil if it is not.
func obj(object map[string]any, name string) map[string]any {
	value, _ := object[name].(map[string]any)
	return value
}

// arr returns a member that is a list, nil if it is not.
func arr(object map[string]any, name string) []any {
	value, _ := object[name].([]any)
	return value
}

// pick returns the members of an object that have a value.
func pick(from map[string]any, names ...string) map[string]any {
	out := map[string]any{}
	for _, name := range names {
		if value := from[name]; value != nil && value != "" {
			out[name] = value
		}
	}
	return out
}

// size returns the size of a value as JSON, in bytes.
func size(value any) int {
	data, err := blueprint.Encode(value)
	if err != nil {
		return 0
	}
	return len(data)
}

// bounded returns a value, or its beginning as text if it is larger than most bytes.
func bounded(value any, most int) any {
	data, err := blueprint.Encode(value)
	if err != nil || len(data) <= most {
		return value
	}
	return map[string]any{"truncated": true, "bytes": number(len(data)), "start": strings.ToValidUTF8(string(data[:most]), "")}
}

// deepCopy returns a copy of a plain JSON value.
func deepCopy(value any) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = deepCopy(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name := range v {
			out[name] = deepCopy(v[name])
		}
		return out
	}
	return value
}

// merge applies a JSON merge patch (RFC 7396): null removes a member, an object changes
// the members that it has, and anything else replaces the value.
func merge(value, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return deepCopy(patch)
	}
	object, ok := value.(map[string]any)
	if !ok {
		object = map[string]any{}
	}
	for name, change := range changes {
		if change == nil {
			delete(object, name)
			continue
		}
		object[name] = merge(object[name], change)
	}
	return object
}

func refuse(hint, format string, args ...any) *blueprint.Error {
	err := blueprint.Errorf(blueprint.CodeBadRequest, format, args...)
	err.Hint = hint
	return err
}

func conflict(hint, format string, args ...any) *blueprint.Error {
	err := blueprint.Errorf(blueprint.CodeConflict, format, args...)
	err.Hint = hint
	return err
}
