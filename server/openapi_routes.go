package server

import (
	"maps"

	"blueprintd/blueprint"
	"blueprintd/project"
)

// apiDoc is a JSON object of the description of the interface.
type apiDoc = map[string]any

// openAPITags group the routes beside the procedures.
var openAPITags = []apiDoc{
	{"name": "webhooks", "description": "Where other services deliver; no key, but a signature when the trigger has a secret."},
	{"name": "api trigger", "description": "Starting a run by its trigger's own address."},
	{"name": "files", "description": "What came with mail."},
	{"name": "mcp", "description": "The server as an MCP server for language models."},
	{"name": "clock", "description": "The virtual clock, for tests; 404 when the server runs on real time."},
	{"name": "sandbox", "description": "The fakes that outbound nodes reach, for tests; 404 without `--sandbox`."},
	{"name": "health", "description": "For who watches over the server."},
	{"name": "documents", "description": "Descriptions for machines."},
}

// openAPIPaths describes the routes beside the procedures.
func openAPIPaths() apiDoc {
	noKey := apiDoc{"security": []any{}}
	paths := apiDoc{
		blueprint.KindOf(blueprint.TriggerWebhook).Path: apiDoc{"parameters": pathID("triggerId"), "post": operation("deliverWebhook", "webhooks", "Deliver to a webhook trigger",
			noKey, takes(true, apiDoc{}, apiDoc{"order": 42, "email": "ada@example.org"}), apiDoc{"description": "The body is any JSON value, at most `--max-body` of it, and becomes inputData. " +
				"When the trigger has a secret, one of the signature headers must be there, and every one that is there must be right. With `respond: wait` the answer is that of the run: " +
				"what its respond node says, else its output."},
			parameters(
				headerParameter("X-Webhook-Signature", "hex HMAC-SHA256 of the body with the secret, with or without sha256= before it; X-Signature and X-Hub-Signature-256 are the same"),
				headerParameter("webhook-id", "the delivery's id: the same id starts one run only; X-GitHub-Delivery and Idempotency-Key are such ids too"),
			),
			answers(apiDoc{
				"200": answer("a delivery that came before, one that a filter left out, or with respond: wait what the run gave", apiDoc{}),
				"202": answer("the run is durable", ref("Fired")),
				"500": answer("the server failed, or with respond: wait the run", ref("WebhookError")),
			}, "WebhookError", 400, 401, 404, 405, 408, 413, 415, 429, 503))},
		blueprint.KindOf(blueprint.TriggerSlack).Path: apiDoc{"parameters": pathID("triggerId"), "post": operation("deliverSlackEvent", "webhooks", "Deliver an event of Slack's Events API",
			noKey, takes(true, apiDoc{"type": "object"}, apiDoc{"type": "url_verification", "challenge": "abc"}),
			parameters(headerParameter("X-Slack-Signature", "v0=, and the hex HMAC-SHA256 that Slack makes with the signing secret"), headerParameter("X-Slack-Request-Timestamp", "seconds since 1970, at most five minutes away")),
			answers(apiDoc{"200": answer("received; for url_verification the challenge", apiDoc{})}, "WebhookError", 400, 401, 404, 405, 408, 413, 415, 429, 500, 503))},
		blueprint.KindOf(blueprint.TriggerAPI).Path: apiDoc{"parameters": pathID("triggerId"), "post": operation("fireTrigger", "api trigger", "Start a run by an api trigger",
			keyScope(blueprint.ScopeRun), takes(false, apiDoc{}, apiDoc{"name": "Ada"}), apiDoc{"description": "The body is inputData; it is checked against the trigger's inputSchema."},
			parameters(headerParameter("Idempotency-Key", "the same key with the same body gives the first run's ids again")),
			answers(apiDoc{"200": answer("the run that this Idempotency-Key started before", ref("Fired")), "202": answer("the run is durable", ref("Fired"))},
				"PlainError", 400, 401, 403, 404, 405, 408, 409, 413, 415, 429, 500, 503))},
		"/files/{id}": apiDoc{"parameters": pathID("id"), "get": operation("getFile", "files", "Download a file that came with a mail", apiDoc{"responses": apiDoc{
			"200": apiDoc{"description": "the file", "content": apiDoc{"application/octet-stream": apiDoc{"schema": apiDoc{"type": "string", "contentEncoding": "binary"}}}},
		}}, keyScope(blueprint.ScopeRead), answers(nil, "PlainError", 400, 401, 403, 404, 405, 429, 500, 503))},
		"/mcp": apiDoc{"post": operation("callMCP", "mcp", "Call the server as an MCP server (streamable HTTP, JSON-RPC 2.0)",
			keyScope(blueprint.ScopeRun), takes(true, apiDoc{"type": "object"}, apiDoc{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
			apiDoc{"description": "The caller's own api triggers of published blueprints, and those of others that `mcpTool.enable` enabled, are its tools: `initialize`, `tools/list` and `tools/call`. A notification is answered with 202."},
			answers(apiDoc{"200": answer("the answer, in JSON-RPC", apiDoc{"type": "object"}), "202": apiDoc{"description": "a notification was taken"}}, "PlainError", 400, 401, 403, 405, 413, 415, 429, 500, 503))},
		"/clock/advance": apiDoc{"post": operation("advanceClock", "clock", "Move the virtual clock through every instant at which something is due",
			apiDoc{"description": "It is finished, for ten minutes at most, when the client hangs up: `by` would move the clock twice if it were sent again."},
			keyScope(blueprint.ScopeAdmin), takes(true, apiDoc{"type": "object", "minProperties": 1, "maxProperties": 1, "properties": apiDoc{
				"by": apiDoc{"type": "string", "description": "a duration as Go writes it, or days: 36h, 90m, 7d"}, "to": apiDoc{"type": "string", "format": "date-time"},
			}}, apiDoc{"by": "36h"}),
			answers(apiDoc{"200": answer("how far it came, and how many rows of the ledger were started", ref("ClockAdvanced"))}, "PlainError", 400, 401, 403, 404, 405, 413, 500, 503))},
		"/clock": apiDoc{"get": operation("getClock", "clock", "Tell where the virtual clock stands, and the next instant at which something of its users is due; left out when nothing is",
			keyScope(blueprint.ScopeRead), answers(apiDoc{"200": answer("both", ref("Clock"))}, "PlainError", 401, 403, 404, 405, 500, 503))},
		"/healthz": apiDoc{"get": operation("getHealth", "health", "Tell whether the process is alive", noKey, apiDoc{"responses": apiDoc{"200": answer("it is", ref("Health"))}}, answers(nil, "PlainError"))},
		"/readyz": apiDoc{"get": operation("getReadiness", "health", "Tell whether the server takes work", noKey,
			parameters(apiDoc{"name": "verbose", "in": "query", "allowEmptyValue": true, "description": "details, for who asks on the server's machine", "schema": apiDoc{"type": "string"}}),
			apiDoc{"responses": apiDoc{"200": answer("it does", ref("Health")), "503": answer("not yet, or not any more", ref("Health"))}})},
		"/metrics": apiDoc{"get": operation("getMetrics", "health", "Get figures in the text format of Prometheus", noKey,
			apiDoc{"description": "Answers who asks on the server's machine; `--metrics-addr` opens them to others."},
			apiDoc{"responses": apiDoc{"200": text("the figures"), "403": text("only for this machine")}})},
		"/openapi.json":   apiDoc{"get": operation("getOpenAPI", "documents", "Get this document", noKey, apiDoc{"responses": apiDoc{"200": answer("OpenAPI 3.1", apiDoc{"type": "object"})}})},
		"/schemas/{file}": apiDoc{"parameters": []any{schemaFile()}, "get": operation("getSchema", "documents", "Get a JSON Schema for editors", noKey, answers(apiDoc{"200": apiDoc{"description": "a JSON Schema (2020-12)", "content": apiDoc{"application/schema+json": apiDoc{"schema": apiDoc{"type": "object"}}}}}, "PlainError", 404))},
	}
	maps.Copy(paths, sandboxPaths())
	return paths
}

// keyScope names the scope that a key needs for an operation.
func keyScope(scope blueprint.KeyScope) apiDoc {
	return apiDoc{"security": []any{apiDoc{"key": []any{string(scope)}}}}
}

// operation puts an operation together of its parts.
func operation(id, tag, summary string, parts ...apiDoc) apiDoc {
	out := apiDoc{"operationId": id, "tags": []any{tag}, "summary": summary}
	for _, part := range parts {
		if responses, both := part["responses"].(apiDoc); both && out["responses"] != nil {
			maps.Copy(out["responses"].(apiDoc), responses)
			continue
		}
		maps.Copy(out, part)
	}
	return out
}

func takes(required bool, schema, example apiDoc) apiDoc {
	return apiDoc{"requestBody": apiDoc{"required": required, "content": apiDoc{"application/json": apiDoc{"schema": schema, "example": example}}}}
}

func parameters(list ...any) apiDoc { return apiDoc{"parameters": list} }

func headerParameter(name, description string) apiDoc {
	return apiDoc{"name": name, "in": "header", "description": description, "schema": apiDoc{"type": "string"}}
}

// pathID is the one parameter of a path.
func pathID(name string) []any {
	schema := apiDoc{"type": "string", "format": "uuid"}
	if name == "id" {
		schema = apiDoc{"type": "string"}
	}
	return []any{apiDoc{"name": name, "in": "path", "required": true, "schema": schema}}
}

func schemaFile() apiDoc {
	names := make([]any, len(project.SchemaNames))
	for i, name := range project.SchemaNames {
		names[i] = name + ".json"
	}
	return apiDoc{"name": "file", "in": "path", "required": true, "schema": apiDoc{"type": "string", "enum": names}}
}
