package recording

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// Difference is one difference between a run and its recording.
type Difference struct {
	Node      string // its address; "" = the run as a whole
	What      string // such as "output" or "call POST https://... body"
	InPayload bool   // in the headers or the body of a call
	Path      []any  // within What
	Expected  any    // as recorded
	Got       any
	Missing   bool // not in the recording
	Unused    bool // only in the recording
}

// Rules decide what matches a recorded value besides an equal one: "***" in a
// recording matches any text, and a volatile part, such as a time or a generated
// id, matches any other of its kind, alone or inside a text.
type Rules struct {
	Volatile Volatile
}

// Mask replaces a secret in a recording.
const Mask = "***"

func (r Rules) text(recorded, got string) bool {
	if recorded == got || recorded == Mask {
		return true
	}
	recorded, got = r.Volatile.normalize(recorded, got)
	recorded = strings.ReplaceAll(recorded, "%2A%2A%2A", Mask) // in a URL
	if recorded == got {
		return true
	}
	parts := strings.Split(recorded, Mask)
	if len(parts) == 1 || !strings.HasPrefix(got, parts[0]) {
		return false
	}
	rest := got[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(rest, part)
		if at < 0 {
			return false
		}
		rest = rest[at+len(part):]
	}
	return strings.HasSuffix(rest, parts[len(parts)-1])
}

// Compare returns where a value differs from the recorded one, at most maxFound places.
func (r Rules) Compare(node, what string, recorded, got any) []Difference {
	c := &comparison{rules: r, node: node, what: what}
	c.value(nil, recorded, got)
	return c.found
}

type comparison struct {
	rules      Rules
	node, what string
	found      []Difference
}

// maxFound bounds the differences of one value.
const maxFound = 20

func (c *comparison) value(path []any, recorded, got any) {
	if len(c.found) >= maxFound || recorded == Mask {
		return
	}
	switch want := recorded.(type) {
	case map[string]any:
		have, ok := got.(map[string]any)
		if !ok {
			break
		}
		names := maps.Clone(want)
		maps.Copy(names, have)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			w, recorded := want[name]
			h, there := have[name]
			below := append(slices.Clone(path), name)
			switch {
			case recorded && there:
				c.value(below, w, h)
			case recorded:
				c.differ(Difference{Path: below, Expected: w, Unused: true})
			default:
				c.differ(Difference{Path: below, Got: h, Missing: true})
			}
		}
		return
	case []any:
		have, ok := got.([]any)
		if !ok || len(have) != len(want) {
			break
		}
		for i := range want {
			c.value(append(slices.Clone(path), i), want[i], have[i])
		}
		return
	case string:
		if have, ok := got.(string); ok && c.rules.text(want, have) {
			return
		}
	case json.Number:
		if have, ok := got.(json.Number); ok && (EqualScalars(want, have) || whole(have) && c.rules.Volatile.Number(want)) {
			return
		}
	default:
		if EqualScalars(recorded, got) {
			return
		}
	}
	c.differ(Difference{Path: path, Expected: recorded, Got: got})
}

func (c *comparison) differ(d Difference) {
	if len(c.found) < maxFound {
		d.Node, d.What = c.node, c.what
		c.found = append(c.found, d)
	}
}

func whole(n json.Number) bool {
	_, err := n.Int64()
	return err == nil
}

// EqualScalars compares two scalars, numbers by value. Objects and arrays are not equal.
func EqualScalars(a, b any) bool {
	x, isNumber := a.(json.Number)
	y, both := b.(json.Number)
	if !isNumber || !both {
		switch a.(type) {
		case map[string]any, []any:
			return false
		}
		switch b.(type) {
		case map[string]any, []any:
			return false
		}
		return a == b
	}
	return blueprint.EqualNumbers(x, y)
}

// String describes the difference in one line.
func (d Difference) String() string {
	where := d.What
	if d.Node != "" {
		where = fmt.Sprintf("node %q: %s", d.Node, d.What)
	}
	for _, part := range d.Path {
		if name, ok := part.(string); ok {
			where += "." + name
		} else {
			where += fmt.Sprintf("[%v]", part)
		}
	}
	switch {
	case d.Missing && d.Got == nil:
		return where + ": is not in the recording"
	case d.Missing:
		return fmt.Sprintf("%s: is not in the recording: %s", where, short(d.Got))
	case d.Unused && d.Expected == nil:
		return where + ": was recorded, and did not happen"
	case d.Unused:
		return fmt.Sprintf("%s: was recorded as %s, and is missing", where, short(d.Expected))
	}
	return fmt.Sprintf("%s: recorded %s, got %s", where, short(d.Expected), short(d.Got))
}

// ignoredHeaders differ each time, or depend on the program and not on the run.
var ignoredHeaders = map[string]bool{
	"idempotency-key": true, "user-agent": true, "content-length": true, "accept-encoding": true, "date": true, "traceparent": true,
	"mcp-session-id": true, "message-id": true,
}

// request compares a request with the recorded one, whose headers alone count.
func (r Rules) request(node string, recorded, got *blueprint.ExchangeRequest) []Difference {
	what := "call " + recorded.Method + " " + recorded.URL
	var found []Difference
	if recorded.Method != got.Method {
		found = append(found, Difference{Node: node, What: what + " method", Expected: recorded.Method, Got: got.Method})
	}
	if !r.text(recorded.URL, got.URL) {
		found = append(found, Difference{Node: node, What: what + " url", Expected: recorded.URL, Got: got.URL})
	}
	for _, name := range slices.Sorted(maps.Keys(recorded.Headers)) {
		value, sent := got.Headers[name]
		if ignoredHeaders[name] || recorded.Headers[name] == Mask || recorded.Method == Mail && name != "subject" {
			continue
		}
		if sent && r.text(recorded.Headers[name], value) {
			continue
		}
		d := Difference{Node: node, What: what + " header " + name, InPayload: true, Expected: recorded.Headers[name]}
		if sent {
			d.Got = value
		}
		found = append(found, d)
	}
	if recorded.Method == Mail || recorded.Cut {
		return found // the encoding of a mail and truncated bodies cannot be compared
	}
	body := r.Compare(node, what+" body", withoutClientInfo(recorded.Body), withoutClientInfo(got.Body))
	for i := range body {
		body[i].InPayload = true
	}
	return append(found, body...)
}

// withoutClientInfo returns an MCP initialize message without this program's version.
func withoutClientInfo(body any) any {
	message, _ := body.(map[string]any)
	params, _ := message["params"].(map[string]any)
	if message["method"] != "initialize" || params["clientInfo"] == nil {
		return body
	}
	message, params = maps.Clone(message), maps.Clone(params)
	delete(params, "clientInfo")
	message["params"] = params
	return message
}

// short returns at most 200 bytes of a value as JSON.
func short(value any) string {
	data, err := blueprint.Encode(value)
	if err != nil {
		return "?"
	}
	return blueprint.Shorten(string(data), 200)
}
