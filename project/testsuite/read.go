package testsuite

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/blueprint/document"
	"blueprintd/blueprint/expression"
	"blueprintd/foundation/recording"
	"blueprintd/project"
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
	sortIssues(doc, r.issues)
	return r.file, r.issues, nil
}

// sortIssues sorts issues by their positions in a document.
func sortIssues(d *document.Document, issues []blueprint.Issue) {
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
	object := r.object(value, nil, "$schema", "blueprint", "blueprints", "connections", "tests")
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
	if given, there := object["connections"]; there {
		r.file.Connections = r.connections(given, []any{"connections"})
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
		t.Connections = r.connections(given, t.path("connections"))
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

func (r *reader) connections(value any, path []any) map[string]recording.Connection {
	connections := map[string]recording.Connection{}
	list := r.object(value, path)
	for _, id := range slices.Sorted(maps.Keys(list)) {
		at := below(path, id)
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
		connections[id] = c
	}
	return connections
}

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
			} else if _, problem := expression.CompilePattern(text); problem != "" {
				r.wrong(here, "must be a regular expression in the syntax of RE2: %s", problem)
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

// stub reads a stub: an answer, or a list of answers.
func (r *reader) stub(key string, value any, at []any) *Stub {
	s := &Stub{Key: key}
	list, several := value.([]any)
	if !several {
		s.Answers = []Answer{r.answer(value, at)}
		return s
	}
	if len(list) == 0 {
		r.wrong(at, "must hold at least one answer")
	}
	for i, element := range list {
		a := r.answer(element, below(at, i))
		if a.Times == 0 && i < len(list)-1 {
			a.Times = 1
		}
		s.Answers = append(s.Answers, a)
	}
	return s
}

func (r *reader) answer(value any, at []any) (a Answer) {
	if r.stubs++; r.stubs > MaxStubs {
		r.wrong(at, "the file has more than %d stubs", MaxStubs)
		return a
	}
	object := r.object(value, at, "output", "handle", "status", "headers", "body", "error", "times", "delayMs")
	if object == nil {
		return a
	}
	a.Output, a.HasOutput = object["output"]
	a.Handle = r.text(object, "handle", at, false)
	a.Error = r.text(object, "error", at, false)
	a.Status = r.whole(object, "status", at, 100, 999)
	a.Times = r.whole(object, "times", at, 1, 1_000_000)
	a.DelayMs = r.whole(object, "delayMs", at, 0, project.MaxDelayMs)
	a.Body = object["body"]
	if given, there := object["headers"]; there {
		headers := r.object(given, below(at, "headers"))
		a.Headers = map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(headers)) {
			switch text := headers[name].(type) {
			case string:
				if !headerName.MatchString(name) || strings.ContainsAny(text, "\r\n\x00") {
					r.wrong(below(at, "headers", name), "is not a valid header")
				}
				a.Headers[strings.ToLower(name)] = text
			case nil, map[string]any, []any:
				r.wrong(below(at, "headers", name), "must be a string")
			default:
				a.Headers[strings.ToLower(name)] = fmt.Sprint(text)
			}
		}
	}
	_, hasError := object["error"]
	_, hasStatus := object["status"]
	kinds := 0
	for _, given := range []bool{a.ofNode(), hasStatus, hasError} {
		if given {
			kinds++
		}
	}
	_, hasBody := object["body"]
	switch {
	case kinds != 1:
		r.wrong(at, "must have either output (or handle), or status, or error")
	case !hasStatus && (hasBody || a.Headers != nil):
		r.wrong(at, "body and headers require status")
	case hasError && a.Error == "":
		a.Error = "the service cannot be reached"
	}
	return a
}

var headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

// Check returns the issues of stubs and expectations with unknown nodes, and of stubs
// whose answers do not fit their key. nodes are those of NodesOf.
func (t *Test) Check(nodes []string) []blueprint.Issue {
	r := &reader{}
	for _, s := range t.Stubs {
		at := t.path("stubs", s.Key)
		node := slices.Contains(nodes, everyItem(s.Key))
		if !node && !hostForm.MatchString(s.Key) {
			r.misnamed(at, "is neither a node nor a host: %q%s", s.Key, known(nodes))
			continue
		}
		for i := range s.Answers {
			if !node && s.Answers[i].ofNode() {
				r.wrong(at, "output and handle are for nodes, and %q is a host; write status and body", s.Key)
				break
			}
		}
	}
	for _, part := range []string{"steps", "branches"} {
		list, _ := t.Expect[part].(map[string]any)
		for _, address := range slices.Sorted(maps.Keys(list)) {
			switch {
			case strings.Contains(address, "[*]"):
				r.misnamed(t.path("expect", part, address), "[*] is only allowed in stubs; name one item, as in %s", strings.ReplaceAll(address, "[*]", "[0]"))
			case !slices.Contains(nodes, everyItem(address)):
				r.misnamed(t.path("expect", part, address), "there is no node %q%s", address, known(nodes))
			}
		}
	}
	return r.issues
}

func known(nodes []string) string {
	if len(nodes) == 0 || len(nodes) > 12 {
		return ""
	}
	return "; the nodes are " + strings.Join(nodes, ", ")
}

var itemNumber = regexp.MustCompile(`\[[0-9]+\]/`)

func everyItem(address string) string { return itemNumber.ReplaceAllLiteralString(address, "[*]/") }

var hostForm = regexp.MustCompile(`^(\*\.)?([0-9A-Za-z_-]+(\.[0-9A-Za-z_-]+)+|localhost|\[[0-9a-fA-F:.]+\])(:[0-9]{1,5})?$|^[0-9A-Za-z_-]+:[0-9]{1,5}$`)
