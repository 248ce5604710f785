package trpc

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// maxIssues bounds the answer to an input that is wrong in very many places.
const maxIssues = 1000

// Optional is a field of an input that tells absent from given. With the rule
// nullable, null is given and leaves Value empty.
type Optional[T any] struct {
	Value T
	Set   bool
}

func (Optional[T]) isOptional() {}

// optional is how the decoder knows an Optional of any type.
type optional interface{ isOptional() }

// inputPlan is the compiled decoder of one input type.
type inputPlan struct {
	decodeValue valueDecoder
	isStruct    bool
}

// compileInput prepares the decoder of an input type. A type or tag that
// cannot work panics, naming the procedure; so it never gets past a start.
func compileInput(procedure string, input reflect.Type) inputPlan {
	compiler := compiler{procedure: procedure}
	return inputPlan{compiler.compile(input, rules{}, input.String()), input.Kind() == reflect.Struct}
}

// decode fills target, of the plan's type. No input at all is an empty object
// to a struct, so that the answer names the fields that are missing.
func (p inputPlan) decode(raw rawInput, target reflect.Value) error {
	value := raw.value
	if !raw.present {
		if !p.isStruct {
			return nil
		}
		value = map[string]any{}
	}
	work := &decoding{marked: raw.marked}
	p.decodeValue(work, nil, value, target)
	if len(work.issues) > 0 {
		return InvalidInput(work.issues...)
	}
	return nil
}

// InvalidInput is the answer to an input with these faults.
func InvalidInput(issues ...blueprint.Issue) *blueprint.Error {
	return &blueprint.Error{Code: blueprint.CodeBadRequest, Message: issuesText(issues), Issues: issues}
}

// IssueAt is one fault of an input, for checks that span fields. path leads
// to it through keys (string) and positions (int).
func IssueAt(message string, path ...any) blueprint.Issue {
	return blueprint.Issue{Path: path, Message: message}
}

// issuesText says what is wrong in one line: title: required; tags[1]: ...
func issuesText(issues []blueprint.Issue) string {
	var text strings.Builder
	for i, issue := range issues {
		if i > 0 {
			text.WriteString("; ")
		}
		text.WriteString(pathText(issue.Path))
		text.WriteString(": ")
		text.WriteString(issue.Message)
	}
	return text.String()
}

// pathText writes a path as people do: blueprint_map.nodes[0].type, with keys
// that are no plain names as ["key"]. The input as a whole is called input.
func pathText(path []any) string {
	if len(path) == 0 {
		return "input"
	}
	var text strings.Builder
	for i, element := range path {
		switch element := element.(type) {
		case string:
			switch {
			case !isPlainName(element):
				fmt.Fprintf(&text, "[%s]", strconv.Quote(element))
			case i > 0:
				text.WriteString("." + element)
			default:
				text.WriteString(element)
			}
		default:
			fmt.Fprintf(&text, "[%v]", element)
		}
	}
	return text.String()
}

func isPlainName(key string) bool {
	for _, r := range key {
		if r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return key != ""
}

// decoding is the state of filling one input.
type decoding struct {
	issues []blueprint.Issue
	marked bool
}

// step is one key or position of the path to a value.
type step struct {
	above   *step
	element any
}

// fault notes what is wrong at a place.
func (d *decoding) fault(at *step, message string) {
	if len(d.issues) >= maxIssues {
		return
	}
	path := []any{}
	for ; at != nil; at = at.above {
		path = append(path, at.element)
	}
	slices.Reverse(path)
	d.issues = append(d.issues, blueprint.Issue{Path: path, Message: message})
}

// plain gives a value as JSON, with the marks of superjson gone: an undefined
// element is null, as JavaScript itself writes it.
func (d *decoding) plain(at *step, value any) any {
	if !d.marked {
		return value
	}
	switch value := value.(type) {
	case undefinedElement:
		return nil
	case foreign:
		if value.kind == "number" {
			d.fault(at, "must be a finite number")
		}
		return d.plain(at, value.value)
	case []any:
		for i, element := range value {
			value[i] = d.plain(&step{at, i}, element)
		}
	case map[string]any:
		for _, key := range sortedKeys(value) {
			value[key] = d.plain(&step{at, key}, value[key])
		}
	}
	return value
}

func sortedKeys[V any](object map[string]V) []string {
	keys := make([]string, 0, len(object))
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
