package sandbox

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// maxDelay bounds the delay of an answer.
const maxDelay = 10 * time.Minute

func readRules(value any, known Known) ([]*rule, error) {
	r := &reader{known: known}
	object := r.object(value, nil, "rules")
	var list []*rule
	for i, element := range r.list(object["rules"], MaxRules, "rules") {
		path := []any{"rules", i}
		members := r.object(element, path, "match", "times", "answer", "answered") // the last as Rules gives it
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

// match reads what a rule or an expectation is about.
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
		r.wrong(`must say what it is about, as {"host": "*"} does`, path...)
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
				r.wrong("does not go together with "+key, append(slices.Clone(path), name)...)
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

// answer reads what is answered to what fits m.
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
			r.wrong("is only for what goes out", at(alone)...)
		} else if object[alone] != nil && len(object) > 1 {
			r.wrong("stands alone", at(alone)...)
		}
	}
	_, hasBody := object["body"]
	switch {
	case len(object) == 0:
		r.wrong("says nothing", path...)
	case (hasBody || a.header != nil) && a.script == nil && a.status == 0 && object["status"] == nil:
		a.status = http.StatusOK
	}
	if m.mail() && (a.status != 0 && a.status < 400 || a.header != nil) {
		r.wrong("must be from 400 to 599 for a mail, and without headers: 4xx to try again, 5xx for good", at("status")...)
	}
	if hasBody && slices.Contains(r.known.Subscriptions, m.procedure) && a.status < 300 {
		r.wrong("is not for a subscription, which answers a stream; break it by a status from 400, delayMs or close", at("body")...)
	}
	if m.procedure != "" && a.status > 200 && blueprint.CodeWith(a.status) == "" {
		r.wrong("must be one that procedures answer: 200 or one of "+answerable(), at("status")...)
	}
	if a.whole && (m.procedure == "" || a.status < 400 || a.cut) {
		r.wrong("is for a procedure, with a status from 400 and without close: what it refuses is the batch", at("whole")...)
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

// pause reads a question: a text, or {"prompt", "kind"?}.
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

// headers reads the headers of an answer; nil when there are none.
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
			r.wrong("must be a text", append(slices.Clone(path), name)...)
			continue
		}
		if !isToken(name) || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
			r.wrong("is no header that could be sent", append(slices.Clone(path), name)...)
			continue
		}
		out.Set(name, text)
	}
	return out
}

// isToken tells whether a text can be the name of a header (RFC 9110, 5.6.2).
func isToken(text string) bool {
	return text != "" && strings.Trim(text, "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == ""
}
