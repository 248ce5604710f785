package jsonschema

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"blueprintd/blueprint"
)

// maxQuoted bounds a quoted text of the schema, in bytes.
const maxQuoted = 60

// MaxIssues bounds the issues of a validation.
const MaxIssues = 50

// issuesOf converts an error of the library to issues.
func issuesOf(failed *jsonschema.ValidationError, value any) []blueprint.Issue {
	w := &issueWriter{value: value}
	w.add(failed)
	slices.SortStableFunc(w.issues, func(a, b blueprint.Issue) int {
		return cmp.Or(comparePaths(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	w.issues = slices.CompactFunc(w.issues, func(a, b blueprint.Issue) bool {
		return a.Message == b.Message && comparePaths(a.Path, b.Path) == 0
	})
	return w.issues[:min(len(w.issues), MaxIssues)]
}

// count returns at least how many issues an error becomes.
func count(err error) int {
	failed, ok := err.(*jsonschema.ValidationError)
	if !ok || len(failed.Causes) == 0 {
		return 1
	}
	switch failed.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Contains, *kind.MinContains, *kind.PropertyNames:
		return 1
	}
	sum := 0
	for _, cause := range failed.Causes {
		sum += count(cause)
	}
	return sum
}

type issueWriter struct {
	value  any
	issues []blueprint.Issue
	brief  bool // without reasons, because it is part of one
}

func (w *issueWriter) issue(at []string, message string) {
	w.issues = append(w.issues, blueprint.Issue{Path: w.path(at), Message: message})
}

// path converts a location of the library to a path, with numbers as indexes of arrays.
func (w *issueWriter) path(at []string) []any {
	path := make([]any, 0, len(at))
	value := w.value
	for _, token := range at {
		switch v := value.(type) {
		case []any:
			if i, err := strconv.Atoi(token); err == nil && i < len(v) {
				path, value = append(path, i), v[i]
				continue
			}
		case map[string]any:
			value = v[token]
		}
		path = append(path, token)
	}
	return path
}

func (w *issueWriter) add(e *jsonschema.ValidationError) {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.AllOf, *kind.Reference:
		for _, cause := range e.Causes {
			w.add(cause)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			w.issue(append(slices.Clone(at), name), "required")
		}
	case *kind.DependentRequired:
		w.dependent(at, k.Prop, k.Missing)
	case *kind.Dependency:
		w.dependent(at, k.Prop, k.Missing)
	case *kind.AnyOf:
		w.issue(at, w.noneOf(e.Causes))
	case *kind.OneOf:
		if len(k.Subschemas) > 1 {
			w.issue(at, "fits more than one of the allowed schemas")
		} else {
			w.issue(at, w.noneOf(e.Causes))
		}
	case *kind.PropertyNames:
		w.issue(append(slices.Clone(at), k.Property), "is not an allowed name"+w.reason(e.Causes))
	default:
		w.issue(at, message(e.ErrorKind))
	}
}

func (w *issueWriter) dependent(at []string, given string, missing []string) {
	for _, name := range missing {
		w.issue(append(slices.Clone(at), name), fmt.Sprintf("required when %q is given", blueprint.Shorten(given, maxQuoted)))
	}
}

// noneOf returns the message for a value that fits none of several schemas: the allowed
// types if each schema fails by its type, else the reason of the nearest schema.
func (w *issueWriter) noneOf(causes []*jsonschema.ValidationError) string {
	var types []string
	for _, cause := range causes {
		k, ok := unwrapped(cause).ErrorKind.(*kind.Type)
		if !ok || len(cause.InstanceLocation) != len(causes[0].InstanceLocation) {
			return "fits none of the allowed schemas" + w.reason(causes)
		}
		types = append(types, k.Want...)
	}
	return message(&kind.Type{Want: types})
}

// unwrapped returns the cause of errors that are only references.
func unwrapped(e *jsonschema.ValidationError) *jsonschema.ValidationError {
	for len(e.Causes) == 1 {
		if _, ok := e.ErrorKind.(*kind.Reference); !ok {
			break
		}
		e = e.Causes[0]
	}
	return e
}

// reason returns an issue of the nearest schema in parentheses: the one whose issues are
// deepest, then the one with the fewest.
func (w *issueWriter) reason(causes []*jsonschema.ValidationError) string {
	if w.brief {
		return ""
	}
	var nearest []blueprint.Issue
	for _, cause := range causes {
		inner := &issueWriter{value: w.value, brief: true}
		inner.add(cause)
		if nearest == nil || nearer(inner.issues, nearest) {
			nearest = inner.issues
		}
	}
	if len(nearest) == 0 {
		return ""
	}
	first := slices.MinFunc(nearest, func(a, b blueprint.Issue) int {
		return cmp.Or(comparePaths(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	place := ""
	if len(first.Path) > 0 {
		place = blueprint.PathText(first.Path) + ": "
	}
	return fmt.Sprintf(" (%s%s)", place, first.Message)
}

func nearer(a, b []blueprint.Issue) bool {
	depth := func(issues []blueprint.Issue) int {
		least := len(issues[0].Path)
		for _, issue := range issues {
			least = min(least, len(issue.Path))
		}
		return least
	}
	return cmp.Or(cmp.Compare(depth(b), depth(a)), cmp.Compare(len(a), len(b))) < 0
}

func comparePaths(a, b []any) int {
	return slices.CompareFunc(a, b, func(x, y any) int {
		i, leftIndex := x.(int)
		j, rightIndex := y.(int)
		if leftIndex && rightIndex {
			return cmp.Compare(i, j)
		}
		return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y))
	})
}

// message returns the message for a violated keyword.
func message(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return "must be " + typeWords(k.Want)
	case *kind.Enum:
		return "must be one of " + listed(k.Want)
	case *kind.Const:
		return "must be " + listed([]any{k.Want})
	case *kind.Format:
		if why, ok := k.Err.(patternError); ok {
			return "must be a regular expression (RE2): " + string(why)
		}
		return "must be " + formatWords(k.Want)
	case *kind.MinProperties:
		return atLeast(k.Want, "property", "properties")
	case *kind.MaxProperties:
		return atMost(k.Want, "property", "properties")
	case *kind.MinItems:
		return atLeast(k.Want, "item", "items")
	case *kind.MaxItems:
		return atMost(k.Want, "item", "items")
	case *kind.MinLength:
		if k.Want == 1 {
			return "must not be empty"
		}
		return atLeast(k.Want, "character", "characters")
	case *kind.MaxLength:
		return atMost(k.Want, "character", "characters")
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d must differ", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "must contain an item that fits the schema of contains"
	case *kind.MinContains:
		return fmt.Sprintf("must contain at least %d items that fit the schema of contains", k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("must contain at most %d items that fit the schema of contains", k.Want)
	case *kind.Pattern:
		return fmt.Sprintf("must match the pattern %s", blueprint.Shorten(k.Want, maxQuoted))
	case *kind.Minimum:
		return "must be at least " + number(k.Want)
	case *kind.Maximum:
		return "must be at most " + number(k.Want)
	case *kind.ExclusiveMinimum:
		return "must be more than " + number(k.Want)
	case *kind.ExclusiveMaximum:
		return "must be less than " + number(k.Want)
	case *kind.MultipleOf:
		return "must be a multiple of " + number(k.Want)
	case *kind.Not:
		return "must not fit the schema of not"
	case *kind.FalseSchema, *kind.AdditionalProperties, *kind.AdditionalItems:
		return "is not allowed"
	default:
		return "does not fit the schema"
	}
}

func atLeast(n int, one, many string) string { return "must have at least " + counted(n, one, many) }
func atMost(n int, one, many string) string  { return "must have at most " + counted(n, one, many) }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// number formats a limit with as many digits as necessary.
func number(r *big.Rat) string {
	if r.IsInt() {
		return blueprint.Shorten(r.Num().String(), maxQuoted)
	}
	digits, exact := r.FloatPrec()
	if !exact {
		digits = 10
	}
	return blueprint.Shorten(r.FloatString(digits), maxQuoted)
}

// listed formats at most ten values of the schema as JSON.
func listed(values []any) string {
	var texts []string
	for i, value := range values {
		if i == 10 {
			texts = append(texts, "...")
			break
		}
		data, err := blueprint.Encode(value)
		if err != nil {
			data = []byte("?")
		}
		texts = append(texts, blueprint.Shorten(string(data), maxQuoted))
	}
	return strings.Join(texts, ", ")
}
