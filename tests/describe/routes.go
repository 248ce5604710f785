package describe

import (
	"maps"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// plainTags group the routes beside the procedures.
var plainTags = []object{
	{"name": "webhooks", "description": "Where other services deliver; no key, but a signature when the trigger has a secret."},
	{"name": "api trigger", "description": "Starting a run by its trigger's own address."},
	{"name": "files", "description": "What came with mail."},
	{"name": "mcp", "description": "The server as an MCP server for language models."},
	{"name": "clock", "description": "The virtual clock, for tests; 404 when the server runs on real time."},
	{"name": "sandbox", "description": "The fakes that outbound nodes reach, for tests; 404 without `--sandbox`."},
	{"name": "health", "description": "For who watches over the server."},
	{"name": "documents", "description": "Descriptions for machines."},
}

// plainPaths describes the routes beside the procedures.
func plainPaths() object {
	noKey := object{"security": []any{}}
	paths := object{
		blueprint.KindOf(blueprint.TriggerWebhook).Path: object{"parameters": pathID("triggerId"), "post": operation("deliverWebhook", "webhooks", "Deliver to a webhook trigger",
			noKey, takes(true, object{}, object{"order": 42, "email": "ada@example.org"}), object{"description": "The body is any JSON value, at most `--max-body` of it, and becomes inputData. " +
				"When the trigger has a secret, one of the signature headers must be there, and every one that is there must be right. With `respond: wait` the answer is that of the run: " +
				"what its respond node says, else its output."},
			parameters(
				headerParameter("X-Webhook-Signature", "hex HMAC-SHA256 of the body with the secret, with or without sha256= before it; X-Signature and X-Hub-Signature-256 are the same"),
				headerParameter("webhook-id", "the delivery's id: the same id starts one run only; X-GitHub-Delivery and Idempotency-Key are such ids too"),
			),
			answers(object{
				"200": answer("a delivery that came before, one that a filter left out, or with respond: wait what the run gave", object{}),
				"202": answer("the run is durable", ref("Fired")),
				"500": answer("the server failed, or with respond: wait the run", ref("WebhookError")),
			}, "WebhookError", 400, 401, 404, 405, 408, 413, 415, 429, 503))},
		blueprint.KindOf(blueprint.TriggerSlack).Path: object{"parameters": pathID("triggerId"), "post": operation("deliverSlackEvent", "webhooks", "Deliver an event of Slack's Events API",
			noKey, takes(true, object{"type": "object"}, object{"type": "url_verification", "challenge": "abc"}),
			parameters(headerParameter("X-Slack-Signature", "v0=, and the hex HMAC-SHA256 that Slack makes with the signing secret"), headerParameter("X-Slack-Request-Timestamp", "seconds since 1970, at most five minutes away")),
			answers(object{"200": answer("received; for url_verification the challenge", object{})}, "WebhookError", 400, 401, 404, 405, 408, 413, 415, 429, 500, 503))},
		blueprint.KindOf(blueprint.TriggerAPI).Path: object{"parameters": pathID("triggerId"), "post": operation("fireTrigger", "api trigger", "Start a run by an api trigger",
			keyScope(blueprint.ScopeRun), takes(false, object{}, object{"name": "Ada"}), object{"description": "The body is inputData; it is checked against the trigger's inputSchema."},
			parameters(headerParameter("Idempotency-Key", "the same key with the same body gives the first run's ids again")),
			answers(object{"200": answer("the run that this Idempotency-Key started before", ref("Fired")), "202": answer("the run is durable", ref("Fired"))},
				"PlainError", 400, 401, 403, 404, 405, 408, 409, 413, 415, 429, 500, 503))},
		"/files/{id}": object{"parameters": pathID("id"), "get": operation("getFile", "files", "Download a file that came with a mail", object{"responses": object{
			"200": object{"description": "the file", "content": object{"application/octet-stream": object{"schema": object{"type": "string", "contentEncoding": "binary"}}}},
		}}, keyScope(blueprint.ScopeRead), answers(nil, "PlainError", 400, 401, 403, 404, 405, 429, 500, 503))},
		"/mcp": object{"post": operation("callMCP", "mcp", "Call the server as an MCP server (streamable HTTP, JSON-RPC 2.0)",
			keyScope(blueprint.ScopeRun), takes(true, object{"type": "object"}, object{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
			object{"description": "The caller's own api triggers of published blueprints, and those of others that `mcpTool.enable` enabled, are its tools: `initialize`, `tools/list` and `tools/call`. A notification is answered with 202."},
			answers(object{"200": answer("the answer, in JSON-RPC", object{"type": "object"}), "202": object{"description": "a notification was taken"}}, "PlainError", 400, 401, 403, 405, 413, 415, 429, 500, 503))},
		"/clock/advance": object{"post": operation("advanceClock", "clock", "Move the virtual clock through every instant at which something is due",
			object{"description": "It is finished, for ten minutes at most, when the client hangs up: `by` would move the clock twice if it were sent again."},
			keyScope(blueprint.ScopeAdmin), takes(true, object{"type": "object", "minProperties": 1, "maxProperties": 1, "properties": object{
				"by": object{"type": "string", "description": "a duration as Go writes it, or days: 36h, 90m, 7d"}, "to": object{"type": "string", "format": "date-time"},
			}}, object{"by": "36h"}),
			answers(object{"200": answer("how far it came, and how many rows of the ledger were started", ref("ClockAdvanced"))}, "PlainError", 400, 401, 403, 404, 405, 413, 500, 503))},
		"/clock": object{"get": operation("getClock", "clock", "Tell where the virtual clock stands, and the next instant at which something of its users is due; left out when nothing is",
			keyScope(blueprint.ScopeRead), answers(object{"200": answer("both", ref("Clock"))}, "PlainError", 401, 403, 404, 405, 500, 503))},
		"/healthz": object{"get": operation("getHealth", "health", "Tell whether the process is alive", noKey, object{"responses": object{"200": answer("it is", ref("Health"))}}, answers(nil, "PlainError"))},
		"/readyz": object{"get": operation("getReadiness", "health", "Tell whether the server takes work", noKey,
			parameters(object{"name": "verbose", "in": "query", "allowEmptyValue": true, "description": "details, for who asks on the server's machine", "schema": object{"type": "string"}}),
			object{"responses": object{"200": answer("it does", ref("Health")), "503": answer("not yet, or not any more", ref("Health"))}})},
		"/metrics": object{"get": operation("getMetrics", "health", "Get figures in the text format of Prometheus", noKey,
			object{"description": "Answers who asks on the server's machine; `--metrics-addr` opens them to others."},
			object{"responses": object{"200": text("the figures"), "403": text("only for this machine")}})},
		"/openapi.json":   object{"get": operation("getOpenAPI", "documents", "Get this document", noKey, object{"responses": object{"200": answer("OpenAPI 3.1", object{"type": "object"})}})},
		"/schemas/{file}": object{"parameters": []any{schemaFile()}, "get": operation("getSchema", "documents", "Get a JSON Schema for editors", noKey, answers(object{"200": object{"description": "a JSON Schema (2020-12)", "content": object{"application/schema+json": object{"schema": object{"type": "object"}}}}}, "PlainError", 404))},
	}
	maps.Copy(paths, sandboxPaths())
	return paths
}

// keyScope names the scope that a key needs for an operation.
func keyScope(scope blueprint.KeyScope) object {
	return object{"security": []any{object{"key": []any{string(scope)}}}}
}

// operation puts an operation together of its parts.
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

func takes(required bool, schema, example object) object {
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
