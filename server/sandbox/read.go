package sandbox

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"blueprintd/blueprint"
)

// reader decodes rules and expectations and collects their issues.
type reader struct {
	known  Known
	issues []blueprint.Issue
}

func (r *reader) wrong(message string, path ...any) {
	if len(r.issues) < blueprint.MaxIssues {
		r.issues = append(r.issues, blueprint.Issue{Path: slices.Clone(path), Message: message})
	}
}

// err returns the issues as an error, nil if there are none.
func (r *reader) err() error {
	if len(r.issues) == 0 {
		return nil
	}
	return blueprint.InvalidInput(r.issues)
}

// object reads an object with these optional members.
func (r *reader) object(value any, path []any, members ...string) map[string]any {
	object, isObject := value.(map[string]any)
	if !isObject {
		r.wrong("must be an object", path...)
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains(members, name) {
			r.wrong("unknown key; the keys are "+strings.Join(members, ", "), append(slices.Clone(path), name)...)
		}
	}
	return object
}

// list reads a list of at most maximum elements.
func (r *reader) list(value any, maximum int, path ...any) []any {
	list, isList := value.([]any)
	switch {
	case !isList:
		r.wrong("must be an array", path...)
		return nil
	case len(list) > maximum:
		r.wrong("has too many elements", path...)
		return nil
	}
	return list
}

// text reads a string that is not empty; "" if absent.
func (r *reader) text(object map[string]any, name string, path []any) string {
	value, given := object[name]
	text, isText := value.(string)
	if given && (!isText || text == "" || len(text) > 2000) {
		r.wrong("must be a string of 1 to 2000 characters", append(slices.Clone(path), name)...)
	}
	return text
}

func (r *reader) flag(object map[string]any, name string, path []any) bool {
	value, given := object[name]
	flag, isFlag := value.(bool)
	if given && !isFlag {
		r.wrong("must be true or false", append(slices.Clone(path), name)...)
	}
	return flag
}

// whole reads an integer; 0 if absent.
func (r *reader) whole(object map[string]any, name string, minimum, maximum int64, words string, path []any) int {
	value, given := object[name]
	if !given {
		return 0
	}
	number, _ := value.(json.Number)
	n, err := number.Int64()
	if err != nil || n < minimum || n > maximum {
		r.wrong(words, append(slices.Clone(path), name)...)
		return 0
	}
	return int(n)
}

const maxExpectations = 1000

const maxTimes = 1_000_000_000

func readExpectations(value any, known Known) ([]*expectation, error) {
	r := &reader{known: known}
	object := r.object(value, nil, "expect")
	var list []*expectation
	for i, element := range r.list(object["expect"], maxExpectations, "expect") {
		path := []any{"expect", i}
		members := r.object(element, path, "match", "times", "request", "came") // came is in the output of Expectations
		if members == nil {
			continue
		}
		one := &expectation{source: maps.Clone(members)}
		delete(one.source, "came")
		one.match = r.match(members, path)
		one.minimum, one.maximum = r.times(members["times"], append(slices.Clone(path), "times"))
		one.request = r.request(members["request"], append(slices.Clone(path), "request"))
		list = append(list, one)
	}
	return list, r.err()
}

// times reads a number, {"min"?, "max"?}, or nil for at least once.
func (r *reader) times(value any, path []any) (minimum, maximum int) {
	const words = "must be a whole number from 0"
	switch v := value.(type) {
	case nil:
		return 1, math.MaxInt
	case json.Number:
		n := r.whole(map[string]any{"times": v}, "times", 0, maxTimes, words, path[:len(path)-1])
		return n, n
	}
	object := r.object(value, path, "min", "max")
	minimum, maximum = r.whole(object, "min", 0, maxTimes, words, path), math.MaxInt
	if object["max"] != nil {
		maximum = r.whole(object, "max", 0, maxTimes, words, path)
	}
	if minimum > maximum {
		r.wrong("min must not be above max", path...)
	}
	return minimum, maximum
}

// request reads the members that a request must have. Header names become lower case.
func (r *reader) request(value any, path []any) map[string]any {
	if value == nil {
		return nil
	}
	object := maps.Clone(r.object(value, path, "method", "url", "headers", "body"))
	r.text(object, "method", path)
	r.text(object, "url", path)
	if headers, given := object["headers"]; given {
		named, isObject := headers.(map[string]any)
		if !isObject {
			r.wrong("must be an object", append(slices.Clone(path), "headers")...)
		}
		small := map[string]any{}
		for name, value := range named {
			small[strings.ToLower(name)] = value
		}
		object["headers"] = small
	}
	return object
}

// CheckExpectations returns the error that SetExpectations would return.
func CheckExpectations(value any, known Known) error {
	_, err := readExpectations(value, known)
	return err
}

const maxDelay = 10 * time.Minute

func readRules(value any, known Known) ([]*rule, error) {
	r := &reader{known: known}
	object := r.object(value, nil, "rules")
	var list []*rule
	for i, element := range r.list(object["rules"], maxRules, "rules") {
		path := []any{"rules", i}
		members := r.object(element, path, "match", "times", "answer", "answered") // answered is in the output of Rules
		if members == nil {
			continue
		}
		made := &rule{source: maps.Clone(members)}
		delete(made.source, "answered")
		made.match = r.match(members, path)
		made.times = r.whole(members, "times", 1, 1_000_000_000, "must be a whole number from 1", path)
		made.answer = r.answer(members, &made.match, path)
		list = append(list, made)
	}
	return list, r.err()
}

// match reads the match of a rule or an expectation.
func (r *reader) match(members map[string]any, path []any) (m match) {
	path = append(slices.Clone(path), "match")
	if members["match"] == nil {
		r.wrong("required", path...)
		return m
	}
	object := r.object(members["match"], path, "procedure", "route", "host", "nodeType", "nodeId", "executionId", "method", "path", "rpc", "query", "body")
	if object == nil {
		return m
	}
	if len(object) == 0 {
		r.wrong(`must not be empty; {"host": "*"} matches all outbound requests`, path...)
	}
	text := func(name string) string { return r.text(object, name, path) }
	m = match{
		procedure: text("procedure"), route: text("route"), host: text("host"), nodeType: text("nodeType"), nodeID: text("nodeId"), executionID: text("executionId"),
		method: text("method"), path: text("path"), rpc: text("rpc"),
	}
	m.body = object["body"]
	if object["query"] != nil {
		query := append(slices.Clone(path), "query")
		m.query = r.object(object["query"], query, keysOf(object["query"])...)
	}
	r.names(&m, path)
	only := func(key string, others ...string) {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if object[key] != nil && name != key && !slices.Contains(others, name) {
				r.wrong("cannot be used together with "+key, append(slices.Clone(path), name)...)
			}
		}
	}
	only("procedure")
	only("route", "method", "path")
	if m.route != "" && !slices.ContainsFunc(Routes, func(name string) bool { return glob(m.route, name) }) {
		r.wrong("must be one of "+strings.Join(Routes, ", "), append(slices.Clone(path), "route")...)
	}
	return m
}

// answer reads the answer of a rule for m.
func (r *reader) answer(members map[string]any, m *match, path []any) (a answer) {
	path = append(slices.Clone(path), "answer")
	if members["answer"] == nil {
		r.wrong("required", path...)
		return a
	}
	object := r.object(members["answer"], path, "status", "headers", "body", "delayMs", "close", "whole", "pause", "error", "text", "json", "toolCalls", "usage")
	if object == nil {
		return a
	}
	at := func(name string) []any { return append(slices.Clone(path), name) }
	incoming := m.procedure != "" || m.route != ""
	a.status = r.whole(object, "status", 200, 599, "must be a status from 200 to 599", path)
	a.delay = time.Duration(r.whole(object, "delayMs", 0, maxDelay.Milliseconds(), "must be from 0 to 600000 milliseconds", path)) * time.Millisecond
	a.cut, a.refuse = r.flag(object, "close", path), r.text(object, "error", path)
	a.whole = r.flag(object, "whole", path)
	a.header = r.headers(object, path)
	a.body = object["body"]
	a.script = r.script(object, m, path)
	if object["pause"] != nil {
		a.pause = r.pause(object["pause"], at("pause"))
	}
	for _, alone := range []string{"pause", "error"} {
		if object[alone] != nil && incoming {
			r.wrong("is only for outbound requests", at(alone)...)
		} else if object[alone] != nil && len(object) > 1 {
			r.wrong("must be the only member", at(alone)...)
		}
	}
	_, hasBody := object["body"]
	switch {
	case len(object) == 0:
		r.wrong("must not be empty", path...)
	case (hasBody || a.header != nil) && a.script == nil && a.status == 0 && object["status"] == nil:
		a.status = http.StatusOK
	}
	if m.mail() && (a.status != 0 && a.status < 400 || a.header != nil) {
		r.wrong("must be from 400 to 599 for a mail, and without headers: 4xx is temporary, 5xx permanent", at("status")...)
	}
	if hasBody && slices.Contains(r.known.Subscriptions, m.procedure) && a.status < 300 {
		r.wrong("cannot be used for a subscription, which responds with a stream; use a status from 400, delayMs or close", at("body")...)
	}
	if m.procedure != "" && a.status > 200 && blueprint.CodeForStatus(a.status) == "" {
		r.wrong("must be a status of procedures: 200 or one of "+answerable(), at("status")...)
	}
	if a.whole && (m.procedure == "" || a.status < 400 || a.cut) {
		r.wrong("requires a procedure and a status from 400, without close: it refuses the whole batch", at("whole")...)
	}
	return a
}

// answerable lists the statuses of errors that procedures answer.
func answerable() string {
	var list []string
	for _, code := range blueprint.Codes() {
		if status := strconv.Itoa(code.HTTPStatus()); !slices.Contains(list, status) {
			list = append(list, status)
		}
	}
	return strings.Join(list, ", ")
}

// pause reads a prompt, or {"prompt", "kind"?}.
func (r *reader) pause(value any, path []any) *blueprint.Await {
	if text, ok := value.(string); ok {
		value = map[string]any{"prompt": text}
	}
	object := r.object(value, path, "prompt", "kind")
	if object == nil {
		return nil
	}
	await := &blueprint.Await{Kind: blueprint.AwaitHuman, Prompt: r.text(object, "prompt", path)}
	if object["prompt"] == nil {
		r.wrong("required", append(slices.Clone(path), "prompt")...)
	}
	switch kind := r.text(object, "kind", path); blueprint.AwaitKind(kind) {
	case "", blueprint.AwaitHuman:
	case blueprint.AwaitApproval:
		await.Kind = blueprint.AwaitApproval
	default:
		r.wrong("must be human or approval", append(slices.Clone(path), "kind")...)
	}
	return await
}

// headers reads the headers of an answer, nil for none.
func (r *reader) headers(object map[string]any, path []any) http.Header {
	if object["headers"] == nil {
		return nil
	}
	path = append(slices.Clone(path), "headers")
	members, isObject := object["headers"].(map[string]any)
	if !isObject {
		r.wrong("must be an object", path...)
		return nil
	}
	out := http.Header{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var text string
		switch value := members[name].(type) {
		case string:
			text = value
		case json.Number:
			text = value.String()
		default:
			r.wrong("must be a string", append(slices.Clone(path), name)...)
			continue
		}
		if !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(text) {
			r.wrong("is not a valid header", append(slices.Clone(path), name)...)
			continue
		}
		out.Set(name, text)
	}
	return out
}
