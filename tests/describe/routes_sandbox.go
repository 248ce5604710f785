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

// answer is an answer in JSON.
func answer(description string, schema object) object {
	return object{"description": description, "content": object{"application/json": object{"schema": schema}}}
}

func text(description string) object {
	return object{"description": description, "content": object{"text/plain": object{"schema": object{"type": "string"}}}}
}

// answers adds refusals of a form, by their statuses, to what is answered else.
func answers(good object, form string, refusals ...int) object {
	out := object{}
	for _, status := range refusals {
		out[strconv.Itoa(status)] = object{"$ref": "#/components/responses/" + form + strconv.Itoa(status)}
	}
	maps.Copy(out, good)
	return object{"responses": out}
}

// plainResponses are the refusals of the plain routes, in both their forms.
func plainResponses() object {
	out := object{}
	for status, codes := range refusals() {
		for _, form := range []string{"PlainError", "WebhookError"} {
			if form == "WebhookError" && (status == http.StatusForbidden || status == http.StatusConflict) {
				continue // which no webhook is answered
			}
			example := object{"error": object{"code": string(codes[len(codes)-1]), "message": "what is wrong, in words"}}
			if form == "WebhookError" {
				example["success"] = false
			}
			response := object{"description": http.StatusText(status), "content": object{"application/json": object{"schema": ref(form), "example": example}}}
			if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
				response["headers"] = object{"Retry-After": object{"description": "when to try again, in seconds", "schema": object{"type": "integer", "minimum": 0}}}
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
	// That of a run which failed may have any code of its node.
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
		"/sandbox": object{"delete": operation("clearSandbox", "sandbox", "Clear the traffic, the rules and what is expected", keyScope(blueprint.ScopeAdmin),
			answers(object{"200": answer("all are empty", object{"type": "object"})}, form, 401, 403, 404, 405, 500, 503))},
		"/sandbox/calls": object{"get": operation("listSandboxCalls", "sandbox", "List what outbound nodes asked of the fakes", keyScope(blueprint.ScopeRead),
			parameters(filter("executionId", "only of this run"), filter("nodeType", "only of nodes of this type"), filter("host", "only to this host"),
				object{"name": "limit", "in": "query", "description": "the latest of them", "schema": object{"type": "integer", "minimum": 1}}),
			answers(object{"200": answer("the traffic, oldest first", ref("SandboxCalls"))}, form, 400, 401, 403, 404, 405, 500, 503))},
		"/sandbox/rules": object{
			"get": operation("getSandboxRules", "sandbox", "Get the rules, each with how often it has answered", keyScope(blueprint.ScopeAdmin),
				answers(object{"200": answer("the rules", ref("SandboxRules"))}, form, 401, 403, 404, 405, 500, 503)),
			"put": operation("putSandboxRules", "sandbox", "Replace the rules by which the fakes answer; the first match answers", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxRules"), rules),
				answers(object{"200": answer("the rules hold from now on", ref("SandboxRules"))}, form, 400, 401, 403, 404, 405, 413, 500, 503)),
		},
		"/sandbox/expectations": object{
			"get": operation("getSandboxExpectations", "sandbox", "Get what is expected, each with how often it came", keyScope(blueprint.ScopeAdmin),
				answers(object{"200": answer("what is expected", ref("SandboxExpectations"))}, form, 401, 403, 404, 405, 500, 503)),
			"put": operation("putSandboxExpectations", "sandbox", "Say what has to be asked before the end", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxExpectations"), expect),
				answers(object{"200": answer("it is expected from now on", ref("SandboxExpectations"))}, form, 400, 401, 403, 404, 405, 413, 500, 503)),
		},
		"/sandbox/send": object{"post": operation("sendSandboxWebhook", "sandbox", "Deliver to a webhook or Slack trigger of this server, signed as its sender signs", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxSend"),
			object{"webhook": ExampleIDs["webhook"], "body": object{"order": 42}}),
			answers(object{"200": answer("what was sent, and what came back", ref("SandboxSent"))}, form, 400, 401, 403, 404, 405, 413, 500, 503))},
		"/sandbox/verify": object{"post": operation("verifySandbox", "sandbox", "Tell whether all came that was expected", keyScope(blueprint.ScopeAdmin),
			answers(object{"200": answer("what did not", ref("SandboxVerdict"))}, form, 401, 403, 404, 405, 500, 503))},
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
	match["properties"].(object)["query"], match["properties"].(object)["body"] = object{"type": "object"}, object{"description": "what the body holds at least"}
	match["minProperties"], match["description"] = 1, "what it is about; * in a text stands for anything. Of what is said to an MCP server it is about tools/call alone, unless rpc names another method"
	rule := shape(object{
		"match": match, "times": object{"type": "integer", "minimum": 1, "description": "how often it answers; for ever when it is left out"}, "answered": count,
		"answer": object{"type": "object", "minProperties": 1, "properties": object{
			"status": object{"type": "integer", "minimum": 200, "maximum": 599}, "headers": anything, "body": object{},
			"delayMs": object{"type": "integer", "minimum": 0, "maximum": 600000, "description": "in real time"},
			"close":   object{"type": "boolean", "description": "the connection breaks"},
			"whole":   object{"type": "boolean", "description": "of a procedure, with a status from 400: it refuses a batch as the rate limit does, before any of its calls is made"}, "error": object{"type": "string", "description": "there is no connection, for this reason"},
			"text": object{"type": "string", "description": "what a model says, to nodes of the type ai-prompt"}, "json": object{"description": "the same as a JSON value"},
			"toolCalls": list(shape(object{"name": word, "arguments": anything}, "name")), "usage": shape(object{"inputTokens": count, "outputTokens": count}),
			"pause": object{"type": []any{"string", "object"}, "description": "the run pauses and asks this; the answer is the node's output"},
		}},
	}, "match", "answer")
	expectation := shape(object{
		"match": match, "came": count, "request": object{"type": "object", "description": "what the request holds, at least"},
		"times": object{"type": []any{"integer", "object"}, "description": "a number, or {\"min\", \"max\"}; at least once when it is left out"},
	}, "match")
	call := shape(object{
		"at": object{"type": "string", "format": "date-time"}, "executionId": word, "nodeId": word, "nodeType": word, "attempt": count, "error": word,
		"request":  shape(object{"method": word, "url": word, "headers": anything, "body": object{}, "cut": object{"type": "boolean"}}, "method", "url"),
		"response": shape(object{"status": object{"type": "integer"}, "headers": anything, "body": object{}, "cut": object{"type": "boolean"}}, "status"),
	}, "at", "request")
	return object{
		"SandboxCalls":        shape(object{"calls": list(call), "dropped": count}, "calls", "dropped"),
		"SandboxRules":        shape(object{"rules": list(rule)}, "rules"),
		"SandboxExpectations": shape(object{"expect": list(expectation)}, "expect"),
		"SandboxSend": shape(object{"webhook": object{"type": "string", "format": "uuid", "description": "the trigger"}, "body": object{}, "headers": anything,
			"preset": object{"enum": project.Words(sandbox.Senders[1:]), "description": "who signs; that of the trigger when it is left out"}}, "webhook"),
		"SandboxSent": shape(object{"request": shape(object{"headers": anything, "body": object{}}), "response": shape(object{"status": count, "headers": anything, "body": object{}}, "status")}, "request", "response"),
		"SandboxVerdict": shape(object{"met": object{"type": "boolean"}, "unmet": list(shape(object{"expect": object{}, "came": count, "problem": word, "index": count},
			"expect", "came", "problem", "index"))}, "met", "unmet"),
	}
}
