package trpc

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// OpenAPI is a description of the interface in OpenAPI 3.1, as JSON.
type OpenAPI struct {
	Version    string   `json:"openapi"`
	Info       object   `json:"info"`
	Servers    []object `json:"servers"`
	Security   []object `json:"security"`
	Tags       []object `json:"tags"`
	Paths      object   `json:"paths"`
	Components object   `json:"components"`
}

// NewOpenAPI describes a table of procedures for people who call them by plain
// HTTP; routers say what the procedures of a router are about. Whoever has other
// routes adds their paths, tags and components. It depends on the table alone, so a
// golden file of it shows every change.
func NewOpenAPI(procedures []Procedure, routers map[string]string) *OpenAPI {
	s := &schemas{components: object{}, names: map[reflect.Type]string{}}
	d := &OpenAPI{
		Version: "3.1.0", Servers: []object{{"url": "/", "description": "the server that this document is from"}},
		Security: []object{{"key": []any{}}}, Paths: object{},
	}
	seen := map[string]bool{}
	for _, p := range byName(procedures) {
		router, _, _ := strings.Cut(p.Name, ".")
		if !seen[router] {
			seen[router] = true
			d.Tags = append(d.Tags, object{"name": router, "description": routers[router]})
		}
		d.Paths["/api/trpc/"+p.Name] = object{strings.ToLower(p.Kind.method()): s.operation(p, router)}
	}
	s.components["Error"] = errorSchema()
	d.Components = object{
		"securitySchemes": object{"key": object{
			"type": "http", "scheme": "bearer",
			"description": "An API key: `Authorization: Bearer bpd_...`. The first start of a server shows one; `blueprintd key create` and `apiKey.create` make others. " +
				"Each operation names the scope that the key needs: `read`, `run` and `write` (which include `read`), or `admin` (which includes all).",
		}},
		"schemas": s.components, "responses": errorResponses(),
	}
	return d
}

// operation describes the call of one procedure.
func (s *schemas) operation(p Procedure, router string) object {
	o := object{
		"operationId": p.Name, "summary": p.Summary, "tags": []any{router},
		"responses": s.responses(p),
	}
	if o["security"] = []any{object{"key": []any{string(p.Scope)}}}; p.Public {
		o["security"] = []any{}
	}
	input := s.input(p.Input, rules{}, nil)
	if properties, _ := input["properties"].(object); len(properties) == 0 && p.Input.Kind() == reflect.Struct {
		return o // it takes nothing
	}
	required := input["required"] != nil
	content := object{"schema": objectOf(object{"json": input}, []any{"json"})}
	if example, given := p.ExampleInput(); given {
		content["example"] = object{"json": example}
	}
	media := object{"application/json": content}
	if p.Kind == KindMutation {
		o["requestBody"] = object{"required": required, "content": media}
	} else {
		o["parameters"] = []any{object{
			"name": "input", "in": "query", "required": required, "content": media,
			"description": "JSON, URL-encoded: the object json holds the parameters",
		}}
	}
	return o
}

// responses describes what a procedure answers, and how it refuses.
func (s *schemas) responses(p Procedure) object {
	done := object{"description": "done", "content": object{"application/json": object{
		"schema": objectOf(object{"result": objectOf(object{"data": objectOf(object{"json": s.answer(p.Output)}, []any{"json"})}, []any{"data"})}, []any{"result"}),
	}}}
	if p.Kind == KindSubscription {
		done = object{
			"description": "server-sent events: one with data {\"json\": value} for each value, from the first to the last one",
			"content":     object{"text/event-stream": object{"schema": object{"type": "string"}}},
		}
		s.answer(p.Output)
	}
	out := object{"200": done}
	for status := range statuses() {
		switch {
		case status == "401" && p.Public, status == methodRefused, status == "415" && p.Kind != KindMutation:
		default:
			out[status] = object{"$ref": "#/components/responses/Error" + status}
		}
	}
	return out
}

// ExampleInput returns Example as a JSON value; false when the procedure has none.
func (p *Procedure) ExampleInput() (input any, given bool) {
	if p.Example == "" {
		return nil, false
	}
	value, err := blueprint.Decode([]byte(p.Example))
	if err != nil {
		panic("trpc: an example is no JSON: " + p.Example)
	}
	return value, true
}

// statuses returns the codes of each HTTP status that is ever answered, by the
// status as text.
func statuses() map[string][]blueprint.Code {
	of := map[string][]blueprint.Code{}
	for _, code := range blueprint.Codes() {
		if code != blueprint.CodeClientClosed { // nobody is there to be answered
			status := strconv.Itoa(code.HTTPStatus())
			of[status] = append(of[status], code)
		}
	}
	return of
}

// methodRefused is what no call is answered that is made as described.
const methodRefused = "405"

// errorSchema describes an error of the procedures.
func errorSchema() object {
	var codes, numbers, status []any
	for _, code := range blueprint.Codes() {
		codes = append(codes, string(code))
		if !slices.Contains(numbers, any(code.Number())) {
			numbers = append(numbers, code.Number())
		}
		if !slices.Contains(status, any(code.HTTPStatus())) {
			status = append(status, code.HTTPStatus())
		}
	}
	issue := objectOf(object{
		"path":    object{"type": "array", "items": object{"type": []any{"string", "integer"}}, "description": "leads to the value: keys and positions"},
		"message": object{"type": "string"}, "nodeId": object{"type": "string"}, "severity": object{"type": "string"},
	}, []any{"path", "message"})
	data := objectOf(object{
		"code": object{"type": "string", "enum": codes}, "httpStatus": object{"type": "integer", "enum": status},
		"path":   object{"type": "string", "description": "the procedure"},
		"issues": object{"type": "array", "items": issue, "description": "each field that is wrong, for programs"},
	}, []any{"code", "httpStatus"})
	inner := objectOf(object{
		"message": object{"type": "string", "description": "what is wrong, for people"},
		"code":    object{"type": "integer", "enum": numbers}, "data": data,
	}, []any{"message", "code", "data"})
	return objectOf(object{"error": objectOf(object{"json": inner}, []any{"json"})}, []any{"error"})
}

// errorResponses describes one answer for each status of an error.
func errorResponses() object {
	out := object{}
	for status, codes := range statuses() {
		if status == methodRefused {
			continue
		}
		number, _ := strconv.Atoi(status)
		lines := make([]string, len(codes))
		for i, code := range codes {
			lines[i] = fmt.Sprintf("%s (%d)", code, code.Number())
		}
		last := codes[len(codes)-1]
		response := object{
			"description": http.StatusText(number) + ": " + strings.Join(lines, ", "),
			"content": object{"application/json": object{
				"schema": object{"$ref": "#/components/schemas/Error"},
				"example": object{"error": object{"json": object{
					"message": "what is wrong, in words", "code": last.Number(), "data": object{"code": string(last), "httpStatus": number, "path": "blueprint.get"},
				}}},
			}},
		}
		if number == http.StatusTooManyRequests || number == http.StatusServiceUnavailable {
			response["headers"] = object{"Retry-After": object{"description": "when to try again, in seconds", "schema": object{"type": "integer", "minimum": 0}}}
		}
		out["Error"+status] = response
	}
	return out
}
