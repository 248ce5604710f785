package describe

import (
	"maps"
	"strconv"

	"blueprintd/blueprint"
	"blueprintd/project"
	"blueprintd/triggers"
)

// plainTags group the routes beside the procedures.
var plainTags = []object{
	{"name": "webhooks", "description": "Endpoints for deliveries of other services. They take no API key; a trigger with a secret verifies a signature."},
	{"name": "api trigger", "description": "Start a run through the URL of a trigger."},
	{"name": "files", "description": "Attachments of received mail."},
	{"name": "mcp", "description": "The server as an MCP server for language models."},
	{"name": "clock", "description": "The virtual clock, for tests; 404 unless the server runs with `--clock virtual`."},
	{"name": "sandbox", "description": "The fakes that outbound nodes reach, for tests; 404 without `--sandbox`."},
	{"name": "health", "description": "For monitoring."},
	{"name": "documents", "description": "Machine-readable descriptions of the API."},
}

// plainPaths describes the routes beside the procedures.
func plainPaths() object {
	noKey := object{"security": []any{}}
	paths := object{
		"/files/{id}": object{"parameters": pathID("id"), "get": operation("getFile", "files", "Download an attachment of a received mail", object{"responses": object{
			"200": object{"description": "the file", "content": object{"application/octet-stream": object{"schema": object{"type": "string", "contentEncoding": "binary"}}}},
		}}, keyScope(blueprint.ScopeRead), answers(nil, "PlainError", 400, 401, 403, 404, 405, 429, 500, 503))},
		"/mcp": object{"post": operation("callMCP", "mcp", "Call the server as an MCP server (streamable HTTP, JSON-RPC 2.0)",
			keyScope(blueprint.ScopeRun, blueprint.ScopeWrite), takes(true, object{"type": "object"}, object{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
			object{"description": "The caller's own api triggers of published blueprints, and those of others that `mcpTool.enable` enabled, are its tools: `initialize`, `tools/list` and `tools/call`. A key with the scope `write` also has the tools of [Agents](agents.md), named `build_*`; one without the scope `run` has only those. `resources/list` and `resources/read` return the documentation and the JSON Schemas. The response to a notification is 202."},
			answers(object{"200": answer("the JSON-RPC response", object{"type": "object"}), "202": object{"description": "the notification was accepted"}}, "PlainError", 400, 401, 403, 405, 413, 415, 429, 500, 503))},
		"/clock/advance": object{"post": operation("advanceClock", "clock", "Move the virtual clock through every instant at which something is due",
			object{"description": "The move continues for up to ten minutes if the client disconnects. Do not repeat a request with `by`: it would move the clock twice."},
			keyScope(blueprint.ScopeAdmin), takes(true, object{"type": "object", "minProperties": 1, "maxProperties": 1, "properties": object{
				"by": object{"type": "string", "description": "a Go duration or days, such as 36h, 90m or 7d"}, "to": object{"type": "string", "format": "date-time"},
			}}, object{"by": "36h"}),
			answers(object{"200": answer("the time reached, and the number of firings started", ref("ClockAdvanced"))}, "PlainError", 400, 401, 403, 404, 405, 413, 500, 503))},
		"/clock": object{"get": operation("getClock", "clock", "Get the virtual time and the next instant at which something is due; `next` is absent when nothing is",
			keyScope(blueprint.ScopeRead), answers(object{"200": answer("the virtual time", ref("Clock"))}, "PlainError", 401, 403, 404, 405, 500, 503))},
		"/healthz": object{"get": operation("getHealth", "health", "Report whether the process is alive", noKey, object{"responses": object{"200": answer("the process is alive", ref("Health"))}}, answers(nil, "PlainError"))},
		"/readyz": object{"get": operation("getReadiness", "health", "Report whether the server accepts work", noKey,
			parameters(object{"name": "verbose", "in": "query", "allowEmptyValue": true, "description": "adds the details of each check, on requests from the server's machine", "schema": object{"type": "string"}}),
			object{"responses": object{"200": answer("the server accepts work", ref("Health")), "503": answer("the server is starting, stopping or failing a check", ref("Health"))}})},
		"/metrics": object{"get": operation("getMetrics", "health", "Get the metrics in the Prometheus text format", noKey,
			object{"description": "Only for requests from the server's machine; `--metrics-addr` serves the metrics to others."},
			object{"responses": object{"200": text("the metrics"), "403": text("the request is from another machine")}})},
		"/openapi.json":   object{"get": operation("getOpenAPI", "documents", "Get this document", noKey, object{"responses": object{"200": answer("OpenAPI 3.1", object{"type": "object"})}})},
		"/schemas/{file}": object{"parameters": []any{schemaFile()}, "get": operation("getSchema", "documents", "Get a JSON Schema for editors", noKey, answers(object{"200": object{"description": "a JSON Schema (2020-12)", "content": object{"application/schema+json": object{"schema": object{"type": "object"}}}}}, "PlainError", 404))},
	}
	maps.Copy(paths, sandboxPaths())
	for _, kind := range triggers.Kinds() {
		if kind.Endpoint != nil {
			paths[kind.Path] = object{"parameters": pathID("triggerId"), "post": triggerOperation(kind.Endpoint)}
		}
	}
	return paths
}

// triggerOperation describes the endpoint of a trigger kind.
func triggerOperation(e *triggers.Endpoint) object {
	o, security, errors := &e.Operation, object{"security": []any{}}, "WebhookError"
	if e.Scope != "" {
		security, errors = keyScope(e.Scope), "PlainError"
	}
	schema, responses := object{}, object{}
	maps.Copy(schema, o.Schema)
	for _, r := range o.Responses {
		body := object{}
		if r.Schema != "" {
			body = ref(r.Schema)
		}
		responses[strconv.Itoa(r.Status)] = answer(r.Description, body)
	}
	var headers []any
	for _, h := range o.Headers {
		headers = append(headers, headerParameter(h.Name, h.Description))
	}
	doc := operation(o.ID, o.Tag, o.Summary, security, takes(!o.OptionalBody, schema, o.Example), answers(responses, errors, o.Refusals...))
	if headers != nil {
		doc["parameters"] = headers
	}
	if o.Description != "" {
		doc["description"] = o.Description
	}
	return doc
}

// keyScope names the scope that a key needs for an operation.
func keyScope(alternatives ...blueprint.KeyScope) object {
	var security []any
	for _, scope := range alternatives {
		security = append(security, object{"key": []any{string(scope)}})
	}
	return object{"security": security}
}

// operation assembles an operation from its parts.
func operation(id, tag, summary string, parts ...object) object {
	out := object{"operationId": id, "tags": []any{tag}, "summary": summary}
	for _, part := range parts {
		if responses, both := part["responses"].(object); both && out["responses"] != nil {
			maps.Copy(out["responses"].(object), responses)
			continue
		}
		maps.Copy(out, part)
	}
	return out
}

func takes(required bool, schema object, example any) object {
	return object{"requestBody": object{"required": required, "content": object{"application/json": object{"schema": schema, "example": example}}}}
}

func parameters(list ...any) object { return object{"parameters": list} }

func headerParameter(name, description string) object {
	return object{"name": name, "in": "header", "description": description, "schema": object{"type": "string"}}
}

// pathID is the one parameter of a path.
func pathID(name string) []any {
	schema := object{"type": "string", "format": "uuid"}
	if name == "id" {
		schema = object{"type": "string"}
	}
	return []any{object{"name": name, "in": "path", "required": true, "schema": schema}}
}

func schemaFile() object {
	names := make([]any, len(project.SchemaNames))
	for i, name := range project.SchemaNames {
		names[i] = name + ".json"
	}
	return object{"name": "file", "in": "path", "required": true, "schema": object{"type": "string", "enum": names}}
}
