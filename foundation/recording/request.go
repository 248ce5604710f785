package recording

import (
	"maps"
	"slices"

	"blueprintd/blueprint"
)

// passing are headers that are another one each time, or tell of the program
// and not of the run.
var passing = map[string]bool{
	"idempotency-key": true, "user-agent": true, "content-length": true, "accept-encoding": true, "date": true, "traceparent": true,
	"mcp-session-id": true, "message-id": true,
}

// request compares what was asked with what was recorded. Of the headers those
// count that the recording has.
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
		if passing[name] || recorded.Headers[name] == Mask || recorded.Method == Mail && name != "subject" {
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
		return found // how it is packed, and what is beyond the end, tells nothing
	}
	body := r.Compare(node, what+" body", nameless(recorded.Body), nameless(got.Body))
	for i := range body {
		body[i].InPayload = true
	}
	return append(found, body...)
}

// nameless returns the message that begins a session with an MCP server without which
// release of this program sends it.
func nameless(body any) any {
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

// short writes a value in at most about 200 characters.
func short(value any) string {
	data, err := blueprint.Encode(value)
	if err != nil {
		return "?"
	}
	const most = 200
	return blueprint.Shorten(string(data), most)
}
