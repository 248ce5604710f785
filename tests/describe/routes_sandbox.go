package describe

import (
	"maps"
	"net/http"
	"strconv"

	"blueprintd/blueprint"
	"blueprintd/project"
	"blueprintd/server/sandbox"
)

func ref(schema string) object { return object{"$ref": "#/components/schemas/" + schema} }

// answer describes a JSON response.
func answer(description string, schema object) object {
	return object{"description": description, "content": object{"application/json": object{"schema": schema}}}
}

func text(description string) object {
	return object{"description": description, "content": object{"text/plain": object{"schema": object{"type": "string"}}}}
}

// answers adds the error responses of a form, by status, to the other responses.
func answers(good object, form string, refusals ...int) object {
	out := object{}
	for _, status := range refusals {
		out[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + form + strconv.Itoa(status)}
	}
	maps.Copy(out, good)
	return object{"responses": out}
}

// plainResponses are the error responses of the plain routes, in both forms.
func plainResponses() object {
	out := object{}
	for status, codes := range refusals() {
		for _, form := range []string{"PlainError", "WebhookError"} {
			if form == "WebhookError" && (status == http.StatusForbidden || status == http.StatusConflict) {
				continue // not a response of a webhook
			}
			example := object{"error": object{"code": string(codes[len(codes)-1]), "message": "what is wrong"}}
			if form == "WebhookError" {
				example["success"] = false
			}
			response := object{"description": http.StatusText(status), "content": object{"application/json": object{"schema": ref(form), "example": example}}}
			if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
				response["headers"] = object{"Retry-After": object{"description": "seconds until the next attempt", "schema": object{"type": "integer", "minimum": 0}}}
			}
			out[form+strconv.Itoa(status)] = response
		}
	}
	return out
}

// refusals returns the codes of each status.
func refusals() map[int][]blueprint.Code {
	out := map[int][]blueprint.Code{}
	for _, code := range blueprint.Codes() {
		if code != blueprint.CodeClientClosed && code != blueprint.CodeParse {
			out[code.HTTPStatus()] = append(out[code.HTTPStatus()], code)
		}
	}
	return out
}

// plainSchemas are the shapes of the plain routes.
func plainSchemas() object {
	var codes []any
	for _, code := range blueprint.Codes() {
		codes = append(codes, string(code))
	}
	word := object{"type": "string"}
	why := shape(object{"code": object{"type": "string", "enum": codes}, "message": word}, "code", "message")
	// A failed run reports the code of its node, which can be any.
	failed := shape(object{"code": word, "message": word, "nodeId": word}, "code", "message")
	schemas := object{
		"Fired":        shape(object{"success": object{"const": true}, "executionId": word, "firingId": word}, "success", "executionId", "firingId"),
		"PlainError":   shape(object{"error": why}, "error"),
		"WebhookError": shape(object{"success": object{"const": false}, "executionId": word, "firingId": word, "error": failed}, "success", "error"),
		"Health": shape(object{"status": object{"enum": []any{"ok", "ready", "not ready"}}, "checks": object{"type": "array", "items": shape(object{
			"name": word, "ok": object{"type": "boolean"}, "detail": word, "hint": word,
		}, "name", "ok", "detail")}}, "status"),
		"Clock":         shape(object{"now": object{"type": "string", "format": "date-time"}, "next": object{"type": "string", "format": "date-time"}}, "now"),
		"ClockAdvanced": shape(object{"now": object{"type": "string", "format": "date-time"}, "fired": object{"type": "integer", "minimum": 0}}, "now", "fired"),
	}
	maps.Copy(schemas, sandboxSchemas())
	return schemas
}

// shape is the schema of an object.
func shape(properties object, required ...any) object {
	schema := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// sandboxPaths describes the routes of the fakes.
func sandboxPaths() object {
	filter := func(name, description string) object {
		return object{"name": name, "in": "query", "description": description, "schema": object{"type": "string"}}
	}
	const form = "PlainError"
	rules := object{"rules": []any{object{"match": object{"host": "api.example.org"}, "times": 1, "answer": object{"status": 503}}}}
	expect := object{"expect": []any{object{"match": object{"host": "api.example.org", "method": "POST"}, "times": 1}}}
	return object{
		"/sandbox": object{"delete": operation("clearSandbox", "sandbox", "Clear the calls, the rules and the expectations", keyScope(blueprint.ScopeAdmin),
			answers(object{"200": answer("cleared", object{"type": "object"})}, form, 401, 403, 404, 405, 500, 503))},
		"/sandbox/calls": object{"get": operation("listSandboxCalls", "sandbox", "List the requests that outbound nodes sent to the fakes", keyScope(blueprint.ScopeRead),
			parameters(filter("executionId", "only requests of this execution"), filter("nodeType", "only requests of nodes of this type"), filter("host", "only requests to this host"),
				object{"name": "limit", "in": "query", "description": "only the latest ones", "schema": object{"type": "integer", "minimum": 1}}),
			answers(object{"200": answer("the calls, oldest first", ref("SandboxCalls"))}, form, 400, 401, 403, 404, 405, 500, 503))},
		"/sandbox/rules": object{
			"get": operation("getSandboxRules", "sandbox", "Get the rules and how often each has answered", keyScope(blueprint.ScopeAdmin),
				answers(object{"200": answer("the rules", ref("SandboxRules"))}, form, 401, 403, 404, 405, 500, 503)),
			"put": operation("putSandboxRules", "sandbox", "Replace the rules of the fakes; the first match answers", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxRules"), rules),
				answers(object{"200": answer("the rules now in effect", ref("SandboxRules"))}, form, 400, 401, 403, 404, 405, 413, 500, 503)),
		},
		"/sandbox/expectations": object{
			"get": operation("getSandboxExpectations", "sandbox", "Get the expectations and how often each was met", keyScope(blueprint.ScopeAdmin),
				answers(object{"200": answer("the expectations", ref("SandboxExpectations"))}, form, 401, 403, 404, 405, 500, 503)),
			"put": operation("putSandboxExpectations", "sandbox", "Replace the expectations: the requests that must be sent before the end", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxExpectations"), expect),
				answers(object{"200": answer("the expectations now in effect", ref("SandboxExpectations"))}, form, 400, 401, 403, 404, 405, 413, 500, 503)),
		},
		"/sandbox/send": object{"post": operation("sendSandboxWebhook", "sandbox", "Send a signed delivery to a webhook or Slack trigger of this server", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxSend"),
			object{"webhook": ExampleIDs["webhook"], "body": object{"order": 42}}),
			answers(object{"200": answer("the request sent, and its response", ref("SandboxSent"))}, form, 400, 401, 403, 404, 405, 413, 500, 503))},
		"/sandbox/verify": object{"post": operation("verifySandbox", "sandbox", "Report whether all expectations are met", keyScope(blueprint.ScopeAdmin),
			answers(object{"200": answer("the expectations that are not met", ref("SandboxVerdict"))}, form, 401, 403, 404, 405, 500, 503))},
	}
}

// sandboxSchemas are the shapes of these routes.
func sandboxSchemas() object {
	word, anything, count := object{"type": "string"}, object{"type": "object"}, object{"type": "integer", "minimum": 0}
	list := func(items object) object { return object{"type": "array", "items": items} }
	of := func(words ...string) object {
		properties := object{}
		for _, name := range words {
			properties[name] = word
		}
		return shape(properties)
	}
	match := of("procedure", "route", "host", "nodeType", "nodeId", "executionId", "method", "path", "rpc")
	match["properties"].(object)["query"], match["properties"].(object)["body"] = object{"type": "object"}, object{"description": "members that the body must have"}
	match["minProperties"], match["description"] = 1, "selects requests; * in a text matches anything. Of the requests to an MCP server only tools/call matches, unless rpc names another method"
	rule := shape(object{
		"match": match, "times": object{"type": "integer", "minimum": 1, "description": "how often the response is used; default: no limit"}, "answered": count,
		"answer": object{"type": "object", "minProperties": 1, "properties": object{
			"status": object{"type": "integer", "minimum": 200, "maximum": 599}, "headers": anything, "body": object{},
			"delayMs": object{"type": "integer", "minimum": 0, "maximum": 600000, "description": "delay in milliseconds of real time"},
			"close":   object{"type": "boolean", "description": "close the connection without a response"},
			"whole":   object{"type": "boolean", "description": "for a procedure, with a status from 400: refuse the whole batch before any call is made, as the rate limit does"}, "error": object{"type": "string", "description": "fail to connect, with this reason"},
			"text": object{"type": "string", "description": "the text of the model, for nodes of type ai-prompt"}, "json": object{"description": "the text of the model, as a JSON value"},
			"toolCalls": list(shape(object{"name": word, "arguments": anything}, "name")), "usage": shape(object{"inputTokens": count, "outputTokens": count}),
			"pause": object{"type": []any{"string", "object"}, "description": "pause the run with this prompt; the input it is resumed with is the node's output"},
		}},
	}, "match", "answer")
	expectation := shape(object{
		"match": match, "came": count, "request": object{"type": "object", "description": "members that the request must have"},
		"times": object{"type": []any{"integer", "object"}, "description": "a number, or {\"min\", \"max\"}; at least once if absent"},
	}, "match")
	call := shape(object{
		"approvalLinks": object{"type": "array", "items": word, "description": "the approval links in the request, where they are masked; only for the server's owner, with the scope admin"},
		"at":            object{"type": "string", "format": "date-time"}, "executionId": word, "nodeId": word, "nodeType": word, "attempt": count, "error": word,
		"request": shape(object{"method": word, "url": word, "headers": anything, "body": object{}, "cut": object{"type": "boolean"}}, "method", "url", "headers", "body"),
		"response": object{"description": "null if there was none; error is the reason", "anyOf": []any{
			shape(object{"status": object{"type": "integer"}, "headers": anything, "body": object{}, "cut": object{"type": "boolean"}}, "status", "headers", "body"), object{"type": "null"}}},
	}, "at", "request", "response")
	return object{
		"SandboxCalls":        shape(object{"calls": list(call), "dropped": count}, "calls", "dropped"),
		"SandboxRules":        shape(object{"rules": list(rule)}, "rules"),
		"SandboxExpectations": shape(object{"expect": list(expectation)}, "expect"),
		"SandboxSend": shape(object{"webhook": object{"type": "string", "format": "uuid", "description": "the trigger"}, "body": object{}, "headers": anything,
			"preset": object{"enum": project.Words(sandbox.Senders[1:]), "description": "the signature scheme; the trigger's own if absent"}}, "webhook"),
		"SandboxSent": shape(object{"request": shape(object{"headers": anything, "body": object{}}), "response": shape(object{"status": count, "headers": anything, "body": object{}}, "status")}, "request", "response"),
		"SandboxVerdict": shape(object{"met": object{"type": "boolean"}, "unmet": list(shape(object{"expect": object{}, "came": count, "problem": word, "index": count},
			"expect", "came", "problem", "index"))}, "met", "unmet"),
	}
}
