package sandbox

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// reader reads what people write and gathers what is wrong with it.
type reader struct {
	known  Known
	issues []blueprint.Issue
}

func (r *reader) wrong(message string, path ...any) {
	if len(r.issues) < blueprint.MaxIssues {
		r.issues = append(r.issues, blueprint.Issue{Path: slices.Clone(path), Message: message})
	}
}

// err is what was wrong; nil for nothing.
func (r *reader) err() error {
	if len(r.issues) == 0 {
		return nil
	}
	parts := make([]string, len(r.issues))
	for i, issue := range r.issues {
		parts[i] = strings.TrimPrefix(blueprint.PathText(issue.Path)+": "+issue.Message, ": ")
	}
	return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: strings.Join(parts, "; "), Issues: r.issues}
}

// object reads an object that may have these members.
func (r *reader) object(value any, path []any, members ...string) map[string]any {
	object, isObject := value.(map[string]any)
	if !isObject {
		r.wrong("must be an object", path...)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(members, name) {
			r.wrong("is unknown; there are "+strings.Join(members, ", "), append(slices.Clone(path), name)...)
		}
	}
	return object
}

// list reads a list of at most so many.
func (r *reader) list(value any, most int, path ...any) []any {
	list, isList := value.([]any)
	switch {
	case !isList:
		r.wrong("must be an array", path...)
		return nil
	case len(list) > most:
		r.wrong("has too many elements", path...)
		return nil
	}
	return list
}

// text reads a text that is not empty; "" when it is not given.
func (r *reader) text(object map[string]any, name string, path []any) string {
	value, given := object[name]
	text, isText := value.(string)
	if given && (!isText || text == "" || len(text) > 2000) {
		r.wrong("must be a text of 1 to 2000 characters", append(slices.Clone(path), name)...)
	}
	return text
}

// flag reads true or false.
func (r *reader) flag(object map[string]any, name string, path []any) bool {
	value, given := object[name]
	flag, isFlag := value.(bool)
	if given && !isFlag {
		r.wrong("must be true or false", append(slices.Clone(path), name)...)
	}
	return flag
}

// whole reads a whole number; 0 when it is not given.
func (r *reader) whole(object map[string]any, name string, least, most int64, words string, path []any) int {
	value, given := object[name]
	if !given {
		return 0
	}
	number, _ := value.(json.Number)
	n, err := number.Int64()
	if err != nil || n < least || n > most {
		r.wrong(words, append(slices.Clone(path), name)...)
		return 0
	}
	return int(n)
}
