package testsuite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/foundation/recording"
)

// Read reads a test file, which must not be used if there are issues. open allows tests
// without expectations. The error is a *document.SyntaxError.
func Read(name string, data []byte, open bool) (*File, []blueprint.Issue, error) {
	doc, err := document.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	r := &reader{file: &File{Document: doc}, open: open}
	r.read(doc.Value)
	InOrder(doc, r.issues)
	return r.file, r.issues, nil
}

// InOrder sorts issues by their positions in a document.
func InOrder(d *document.Document, issues []blueprint.Issue) {
	slices.SortStableFunc(issues, func(a, b blueprint.Issue) int {
		x, y := d.SpanOf(a).Start, d.SpanOf(b).Start
		return cmp.Or(cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
}

type reader struct {
	file   *File
	open   bool
	issues []blueprint.Issue
	stubs  int
}

func (r *reader) wrong(path []any, format string, args ...any) {
	if len(r.issues) < blueprint.MaxIssues {
		r.issues = append(r.issues, blueprint.Issue{Path: slices.Clone(path), Message: fmt.Sprintf(format, args...), Severity: blueprint.SeverityError})
	}
}

// misnamed is wrong for the key of a member.
func (r *reader) misnamed(path []any, format string, args ...any) {
	before := len(r.issues)
	if r.wrong(path, format, args...); len(r.issues) > before {
		r.issues[before].Spot.OnKey = true
	}
}

// object returns a value that must be an object with only known members; nil for any.
func (r *reader) object(value any, path []any, known ...string) map[string]any {
	object, ok := value.(map[string]any)
	if !ok {
		r.wrong(path, "must be an object")
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if known != nil && !slices.Contains(known, name) {
			r.misnamed(below(path, name), "unknown field%s; the fields are %s", blueprint.DidYouMean(name, known), strings.Join(known, ", "))
		}
	}
	return object
}

func below(path []any, parts ...any) []any { return append(slices.Clone(path), parts...) }

// text returns a member that must be a string, "" if it is missing.
func (r *reader) text(object map[string]any, name string, path []any, required bool) string {
	value, given := object[name]
	text, ok := value.(string)
	switch {
	case !given && required, ok && required && text == "":
		r.wrong(below(path, name), "required")
	case given && !ok:
		r.wrong(below(path, name), "must be a string")
	}
	return text
}

// path returns a member that must be a path relative to the test file. Absolute paths
// differ between machines.
func (r *reader) path(object map[string]any, name string, path []any, required bool) string {
	text := r.text(object, name, path, required)
	if filepath.IsAbs(text) || strings.HasPrefix(text, "/") || strings.HasPrefix(text, `\\`) {
		r.wrong(below(path, name), "must be a path relative to this file")
	}
	return text
}

// whole returns a member that must be a whole number, 0 if it is missing.
func (r *reader) whole(object map[string]any, name string, path []any, least, most int) int {
	value, given := object[name]
	if !given {
		return 0
	}
	number, _ := value.(json.Number)
	n, err := strconv.Atoi(string(number))
	if err != nil || n < least || n > most {
		r.wrong(below(path, name), "must be a whole number from %d to %d", least, most)
		return 0
	}
	return n
}

func (r *reader) read(value any) {
	object := r.object(value, nil, "$schema", "blueprint", "blueprints", "tests")
	if object == nil {
		return
	}
	r.text(object, "$schema", nil, false)
	r.file.Blueprint = r.path(object, "blueprint", nil, true)
	if given, there := object["blueprints"]; there {
		r.file.Blueprints = map[string]string{}
		list := r.object(given, []any{"blueprints"})
		for _, id := range slices.Sorted(maps.Keys(list)) {
			if !blueprint.IsUUID(id) {
				r.misnamed([]any{"blueprints", id}, "must be the id in a node, a UUID")
			}
			r.file.Blueprints[id] = r.path(list, id, []any{"blueprints"}, true)
		}
	}
	list, ok := object["tests"].([]any)
	switch {
	case !ok:
		r.wrong([]any{"tests"}, "must be an array of tests")
	case len(list) == 0:
		r.wrong([]any{"tests"}, "must hold at least one test")
	case len(list) > MaxTests:
		r.wrong([]any{"tests"}, "must hold at most %d tests", MaxTests)
		return
	}
	names := map[string]bool{}
	for i, element := range list {
		t := &Test{File: r.file, Index: i, Clock: defaultClock}
		r.test(t, element)
		if names[t.Name] && t.Name != "" {
			r.wrong(t.path("name"), "another test has this name")
		}
		names[t.Name] = true
		r.file.Tests = append(r.file.Tests, t)
	}
}

func (r *reader) test(t *Test, value any) {
	at := t.path()
	object := r.object(value, at, "name", "variables", "inputData", "clock", "cassette", "connections", "stubs", "expect")
	if object == nil {
		return
	}
	t.Name = r.text(object, "name", at, true)
	t.Cassette = r.path(object, "cassette", at, false)
	if given, there := object["variables"]; there {
		t.Variables = r.object(given, t.path("variables"))
	}
	t.InputData = map[string]any{}
	if given, there := object["inputData"]; there {
		t.InputData = given
	}
	if text := r.text(object, "clock", at, false); text != "" {
		start, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || start.Year() < 1970 || start.Year() > 9000 {
			r.wrong(t.path("clock"), "must be an instant such as 2030-01-31T09:00:00Z")
		} else {
			t.Clock, t.ClockGiven = start.UTC(), true
		}
	}
	if given, there := object["connections"]; there {
		r.connections(t, given)
	}
	if given, there := object["stubs"]; there {
		list := r.object(given, t.path("stubs"))
		for _, key := range slices.Sorted(maps.Keys(list)) {
			t.Stubs = append(t.Stubs, r.stub(key, list[key], t.path("stubs", key)))
		}
	}
	given := object["expect"]
	if empty, is := given.(map[string]any); given != nil && !(is && len(empty) == 0) {
		t.Expect = r.expect(given, t.path("expect"))
	} else if !r.open {
		r.wrong(t.path("expect"), "required; run blueprintd test --update to write it")
	}
}

func (r *reader) connections(t *Test, value any) {
	t.Connections = map[string]recording.Connection{}
	list := r.object(value, t.path("connections"))
	for _, id := range slices.Sorted(maps.Keys(list)) {
		at := t.path("connections", id)
		object := r.object(list[id], at, "name", "type", "config")
		if object == nil {
			continue
		}
		c := recording.Connection{Name: r.text(object, "name", at, false), Type: blueprint.ConnectionType(r.text(object, "type", at, true)), Config: map[string]any{}}
		if c.Type != "" && !slices.Contains(blueprint.ConnectionTypes, c.Type) {
			r.wrong(below(at, "type"), "there is no connection type %q", c.Type)
		}
		if config, there := object["config"]; there {
			c.Config = r.object(config, below(at, "config"))
		}
		t.Connections[id] = c
	}
}
