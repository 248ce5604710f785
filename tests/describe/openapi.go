package describe

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
)

// version is the version of the API. It is increased when something changes on which a
// client may rely; new procedures and fields do not change it.
const version = "1.0.0"

const description = `A server stores blueprints (graphs of nodes), runs them, and starts them by triggers.

Procedures are under ` + "`/api/trpc/{router}.{procedure}`" + `. A query is a GET whose parameter ` + "`input`" + ` is URL-encoded JSON, a mutation a POST with a JSON body;
either way the parameters are in an object ` + "`json`" + `, and the result is at ` + "`result.data.json`" + `:

    curl -H "Authorization: Bearer $KEY" --get "$HOST/api/trpc/blueprint.list" --data-urlencode 'input={"json":{"limit":5}}'
    curl -H "Authorization: Bearer $KEY" "$HOST/api/trpc/blueprint.create" -H 'Content-Type: application/json' -d '{"json":{"title":"Hello"}}'

Clients of tRPC 10 and 11 with the superjson transformer call the same procedures, including batches and streams, which are not described here.
The other routes take and return plain JSON. Unknown fields of an input are ignored; responses may get new fields.`

// document is an OpenAPI document, with its members in the order of the output.
type document struct {
	Version    string   `json:"openapi"`
	Info       object   `json:"info"`
	Servers    []object `json:"servers"`
	Security   []object `json:"security"`
	Tags       []object `json:"tags"`
	Paths      object   `json:"paths"`
	Components object   `json:"components"`
}

// OpenAPI describes the procedures and the other routes in OpenAPI 3.1, as JSON.
func OpenAPI() ([]byte, error) {
	s := &schemas{components: object{}, names: map[reflect.Type]string{}}
	d := &document{
		Version: "3.1.0", Servers: []object{{"url": "/", "description": "the server that this document is from"}},
		Security: []object{{"key": []any{}}}, Paths: plainPaths(),
		Info: object{
			"title": "blueprintd", "version": version, "summary": "Workflow automation in one executable",
			"description": description, "license": object{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
	}
	for _, p := range byName(rpc.Procedures()) {
		router, _, _ := strings.Cut(p.Name, ".")
		if !slices.ContainsFunc(d.Tags, func(tag object) bool { return tag["name"] == router }) {
			d.Tags = append(d.Tags, object{"name": router, "description": routerWords[router]})
		}
		method := http.MethodGet
		if p.Kind == trpc.KindMutation {
			method = http.MethodPost
		}
		d.Paths["/api/trpc/"+p.Name] = object{strings.ToLower(method): s.operation(p, router)}
	}
	d.Tags = append(d.Tags, plainTags...)
	s.components["Error"] = errorSchema()
	maps.Copy(s.components, plainSchemas())
	responses := errorResponses()
	maps.Copy(responses, plainResponses())
	d.Components = object{
		"securitySchemes": object{"key": object{
			"type": "http", "scheme": "bearer",
			"description": "An API key: `Authorization: Bearer bpd_...`. The first start of a server prints one; `blueprintd key create` and `apiKey.create` make others. " +
				"Each operation names the scope that the key needs: `read`, `run` and `write` (which include `read`), or `admin` (which includes all).",
		}},
		"schemas": s.components, "responses": responses,
	}
	return blueprint.EncodeIndented(d)
}

// operation describes the call of one procedure.
func (s *schemas) operation(p trpc.Procedure, router string) object {
	o := object{
		"operationId": p.Name, "summary": procedureWords[p.Name].summary, "tags": []any{router},
		"responses": s.responses(p),
	}
	if o["security"] = []any{object{"key": []any{string(p.Scope)}}}; p.Public {
		o["security"] = []any{}
	}
	input := s.input(p.Input, "", "", nil)
	if properties, _ := input["properties"].(object); len(properties) == 0 && p.Input.Kind() == reflect.Struct {
		return o // no input
	}
	required := input["required"] != nil
	content := object{"schema": objectOf(object{"json": input}, []any{"json"})}
	if example, given := Example(p.Name); given {
		content["example"] = object{"json": example}
	}
	media := object{"application/json": content}
	if p.Kind == trpc.KindMutation {
		o["requestBody"] = object{"required": required, "content": media}
	} else {
		o["parameters"] = []any{object{
			"name": "input", "in": "query", "required": required, "content": media,
			"description": "URL-encoded JSON; the object json holds the parameters",
		}}
	}
	return o
}

// responses describes the responses of a procedure, including errors.
func (s *schemas) responses(p trpc.Procedure) object {
	done := object{"description": "success", "content": object{"application/json": object{
		"schema": objectOf(object{"result": objectOf(object{"data": objectOf(object{"json": s.answer(p.Output)}, []any{"json"})}, []any{"data"})}, []any{"result"}),
	}}}
	if p.Kind == trpc.KindSubscription {
		done = object{
			"description": "server-sent events, one for each value, with data {\"json\": value}",
			"content":     object{"text/event-stream": object{"schema": object{"type": "string"}}},
		}
		s.answer(p.Output)
	}
	out := object{"200": done}
	for status := range statuses() {
		switch {
		case status == "401" && p.Public, status == methodRefused, status == "415" && p.Kind != trpc.KindMutation:
		default:
			out[status] = object{"$ref": "#/components/responses/Error" + status}
		}
	}
	return out
}

// Example returns a valid input of a procedure; false if the procedure has no input.
func Example(procedure string) (input any, given bool) {
	text := procedureWords[procedure].example
	if text == "" {
		return nil, false
	}
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		panic("an example is not JSON: " + text)
	}
	return value, true
}

// statuses returns the codes of each HTTP status that a response can have, by the status
// as text.
func statuses() map[string][]blueprint.Code {
	of := map[string][]blueprint.Code{}
	for _, code := range blueprint.Codes() {
		if code != blueprint.CodeClientClosed { // there is no client to respond to
			status := strconv.Itoa(code.HTTPStatus())
			of[status] = append(of[status], code)
		}
	}
	return of
}

// methodRefused is the status of calls with a wrong method, which the document excludes.
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
		"path":    object{"type": "array", "items": object{"type": []any{"string", "integer"}}, "description": "path to the value: keys and indexes"},
		"message": object{"type": "string"}, "nodeId": object{"type": "string"}, "severity": object{"type": "string"},
	}, []any{"path", "message"})
	data := objectOf(object{
		"code": object{"type": "string", "enum": codes}, "httpStatus": object{"type": "integer", "enum": status},
		"path":   object{"type": "string", "description": "the procedure"},
		"issues": object{"type": "array", "items": issue, "description": "the invalid fields, for programs"},
	}, []any{"code", "httpStatus"})
	inner := objectOf(object{
		"message": object{"type": "string", "description": "what is wrong, for display"},
		"code":    object{"type": "integer", "enum": numbers}, "data": data,
	}, []any{"message", "code", "data"})
	return objectOf(object{"error": objectOf(object{"json": inner}, []any{"json"})}, []any{"error"})
}

// errorResponses describes one response for each status of an error.
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
					"message": "what is wrong", "code": last.Number(), "data": object{"code": string(last), "httpStatus": number, "path": "blueprint.get"},
				}}},
			}},
		}
		if number == http.StatusTooManyRequests || number == http.StatusServiceUnavailable {
			response["headers"] = object{"Retry-After": object{"description": "seconds until the next attempt", "schema": object{"type": "integer", "minimum": 0}}}
		}
		out["Error"+status] = response
	}
	return out
}
