package sandbox

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"blueprintd/blueprint"
)

// Limits of a generated value.
const (
	maxInstance = 24
	maxLength   = 1000
	maxValues   = 10_000 // in all
)

// instanceOf returns a minimal value for a JSON Schema, with required members only. It
// supports types, enum, const, default, lengths, bounds, formats, $ref within the schema
// and simple patterns. problem describes why the value may not match, "" if unknown.
func instanceOf(schema any) (value any, problem string) {
	i := &instance{root: schema}
	value = i.of(schema, 0)
	return value, i.problem
}

type instance struct {
	root    any
	made    int // values
	problem string
}

func (i *instance) of(schema any, depth int) any {
	object, isObject := schema.(map[string]any)
	if i.made++; !isObject || depth > maxInstance || i.made > maxValues {
		if i.made > maxValues {
			i.problem = "it requires more than 10,000 values"
		}
		return nil
	}
	object = i.withRequest(object)
	for _, name := range []string{"const", "default"} {
		if value, given := object[name]; given {
			return value
		}
	}
	for _, name := range []string{"enum", "examples"} {
		if list, _ := object[name].([]any); len(list) > 0 {
			return list[0]
		}
	}
	if ref, ok := object["$ref"].(string); ok {
		return i.of(i.find(ref), depth+1)
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if list, _ := object[name].([]any); len(list) > 0 && object["type"] == nil && object["properties"] == nil {
			return i.of(list[0], depth+1)
		}
	}
	if list, _ := object["allOf"].([]any); len(list) > 0 {
		object = merged(object, list)
	}
	switch kind(object) {
	case "object":
		out := map[string]any{}
		properties, _ := object["properties"].(map[string]any)
		required, _ := object["required"].([]any)
		for _, name := range required {
			if name, ok := name.(string); ok {
				out[name] = i.of(properties[name], depth+1)
			}
		}
		return out
	case "array":
		out := []any{}
		for range min(number(object, "minItems", 0), maxLength) {
			out = append(out, i.of(object["items"], depth+1))
		}
		return out
	case "string":
		return i.text(object)
	case "integer", "number":
		return minimum(object)
	case "boolean":
		return true
	}
	return nil
}

// withRequest adds the keywords that a node has moved to the end of the description because
// the provider does not support them.
func (i *instance) withRequest(object map[string]any) map[string]any {
	description, _ := object["description"].(string)
	_, words, found := strings.Cut(description, "It must also fit ")
	if !found {
		return object
	}
	value, err := blueprint.Decode([]byte(words))
	more, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return object
	}
	out := maps.Clone(more)
	maps.Copy(out, object)
	return out
}

// find follows a reference within the schema.
func (i *instance) find(ref string) any {
	value := i.root
	for _, step := range strings.Split(strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"), "/") {
		if step != "" {
			value = at(value, strings.NewReplacer("~1", "/", "~0", "~").Replace(step))
		}
	}
	return value
}

// merged adds the members of schemas that must all fit.
func merged(object map[string]any, list []any) map[string]any {
	out := maps.Clone(object)
	properties := map[string]any{}
	var required []any
	for _, element := range append([]any{object}, list...) {
		each, _ := element.(map[string]any)
		for name, value := range each {
			if out[name] == nil {
				out[name] = value
			}
		}
		own, _ := each["properties"].(map[string]any)
		maps.Copy(properties, own)
		more, _ := each["required"].([]any)
		required = append(required, more...)
	}
	out["properties"], out["required"] = properties, required
	if len(properties) == 0 {
		delete(out, "properties")
	}
	return out
}

// kind returns the type of a schema; if there are several, the first that is not null.
func kind(object map[string]any) string {
	switch v := object["type"].(type) {
	case string:
		return v
	case []any:
		at := max(0, slices.IndexFunc(v, func(one any) bool { return one != "null" }))
		if at < len(v) {
			name, _ := v[at].(string)
			return name
		}
	}
	switch {
	case object["properties"] != nil, object["required"] != nil:
		return "object"
	case object["items"] != nil:
		return "array"
	case object["minLength"] != nil, object["format"] != nil, object["pattern"] != nil:
		return "string"
	case object["minimum"] != nil, object["maximum"] != nil:
		return "number"
	}
	return ""
}

// forms are examples of common formats.
var forms = map[string]string{
	"date-time": "2000-01-01T00:00:00Z", "date": "2000-01-01", "time": "00:00:00Z", "duration": "P1D", "email": "someone@example.org", "hostname": "example.org",
	"uri": "https://example.org/", "url": "https://example.org/", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uuid": "00000000-0000-4000-8000-000000000000",
}

func (i *instance) text(object map[string]any) string {
	if pattern, ok := object["pattern"].(string); ok {
		made, fits := matching(pattern)
		if !fits || len(made) < number(object, "minLength", 0) || len(made) > number(object, "maxLength", maxLength) {
			i.problem = "no text was found for the pattern " + strconv.Quote(blueprint.Shorten(pattern, maxRepeated))
		}
		return made
	}
	format, _ := object["format"].(string)
	out, known := forms[format]
	if !known {
		out = "text"
	}
	if shortest := number(object, "minLength", 0); len(out) < shortest {
		out += strings.Repeat("x", min(shortest, maxLength)-len(out))
	}
	if longest := number(object, "maxLength", len(out)); len(out) > longest {
		out = out[:max(0, longest)]
	}
	return out
}

func number(object map[string]any, name string, otherwise int) int {
	n, isNumber := object[name].(json.Number)
	value, err := n.Float64()
	if !isNumber || err != nil || value < 0 {
		return otherwise
	}
	return int(min(value, maxLength))
}

// minimum returns the number within the bounds that is nearest to 0, preferably positive.
func minimum(object map[string]any) json.Number {
	bound := func(name string) (float64, bool) {
		n, ok := object[name].(json.Number)
		value, err := n.Float64()
		return value, ok && err == nil
	}
	whole := kind(object) == "integer"
	value, step := 0.0, 1.0
	if of, ok := bound("multipleOf"); ok && of > 0 {
		step = of
	}
	if top, ok := bound("maximum"); ok && top < value {
		value = math.Floor(top/step) * step
	}
	if top, ok := bound("exclusiveMaximum"); ok && top <= value {
		value = math.Ceil(top/step)*step - step
	}
	if bottom, ok := bound("minimum"); ok && bottom > value {
		value = bottom
		if whole || step != 1 {
			value = math.Ceil(bottom/step) * step
		}
	}
	if bottom, ok := bound("exclusiveMinimum"); ok && bottom >= value {
		value = math.Floor(bottom/step)*step + step
	}
	return json.Number(strconv.FormatFloat(value, 'f', -1, 64))
}

// Catalogue returns node types that pause where a rule says so. Those with outbound requests
// get an Answer: the answer to the pause is the node's output. It is for the engine.
func (s *Sandbox) Catalogue(of blueprint.Catalogue) blueprint.Catalogue {
	out := maps.Clone(of)
	for name, kind := range of {
		if kind.Effect != blueprint.EffectPure && kind.Answer == nil && kind.Body == nil {
			out[name] = pausing(kind)
		}
	}
	return out
}

func pausing(kind *blueprint.NodeType) *blueprint.NodeType {
	wrapped := *kind
	wrapped.Run = func(ctx context.Context, task *blueprint.Task) (blueprint.Result, error) {
		h := &pauseSlot{}
		if h.tool, _ = task.Config["tool"].(string); kind.Type != "mcp-tool" {
			h.tool = ""
		}
		result, err := kind.Run(context.WithValue(ctx, pauseKey{}, h), task)
		if await := h.pending(); await != nil {
			return blueprint.Result{Await: await, Calls: result.Calls, Tokens: result.Tokens, MCPServers: result.MCPServers}, nil
		}
		return result, err
	}
	wrapped.Answer = func(_ *blueprint.Task, answer any) (blueprint.Result, error) {
		return blueprint.Result{Output: answer}, nil
	}
	return &wrapped
}

type pauseKey struct{}

// pauseSlot holds the pause that a rule requests during one attempt of a node. Not every node
// returns the error of its request, so the error cannot carry it.
type pauseSlot struct {
	tool  string // of an MCP server that the node is about to call
	mu    sync.Mutex
	await *blueprint.Await
}

func (h *pauseSlot) pending() *blueprint.Await {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.await
}

// pauseNode stores a pause for the node of ctx and returns the error for its request.
func pauseNode(ctx context.Context, await *blueprint.Await) error {
	h, _ := ctx.Value(pauseKey{}).(*pauseSlot)
	if h == nil { // not a node, such as a test of a connection
		return &blueprint.Failure{Code: "paused", Message: "a rule of the sandbox pauses here: " + await.Prompt, NotSent: true}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.await == nil {
		h.await = await
	}
	return &blueprint.Failure{Code: "paused", Message: await.Prompt, Permanent: true, NotSent: true}
}
