package server

import (
	"blueprintd/blueprint"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/server/sandbox"
)

// sandboxPaths describes the routes of the fakes.
func sandboxPaths() apiDoc {
	filter := func(name, description string) apiDoc {
		return apiDoc{"name": name, "in": "query", "description": description, "schema": apiDoc{"type": "string"}}
	}
	const form = "PlainError"
	rules := apiDoc{"rules": []any{apiDoc{"match": apiDoc{"host": "api.example.org"}, "times": 1, "answer": apiDoc{"status": 503}}}}
	expect := apiDoc{"expect": []any{apiDoc{"match": apiDoc{"host": "api.example.org", "method": "POST"}, "times": 1}}}
	return apiDoc{
		"/sandbox": apiDoc{"delete": operation("clearSandbox", "sandbox", "Clear the traffic, the rules and what is expected", keyScope(blueprint.ScopeAdmin),
			answers(apiDoc{"200": answer("all are empty", apiDoc{"type": "object"})}, form, 401, 403, 404, 405, 500, 503))},
		"/sandbox/calls": apiDoc{"get": operation("listSandboxCalls", "sandbox", "List what outbound nodes asked of the fakes", keyScope(blueprint.ScopeRead),
			parameters(filter("executionId", "only of this run"), filter("nodeType", "only of nodes of this type"), filter("host", "only to this host"),
				apiDoc{"name": "limit", "in": "query", "description": "the latest of them", "schema": apiDoc{"type": "integer", "minimum": 1}}),
			answers(apiDoc{"200": answer("the traffic, oldest first", ref("SandboxCalls"))}, form, 400, 401, 403, 404, 405, 500, 503))},
		"/sandbox/rules": apiDoc{
			"get": operation("getSandboxRules", "sandbox", "Get the rules, each with how often it has answered", keyScope(blueprint.ScopeAdmin),
				answers(apiDoc{"200": answer("the rules", ref("SandboxRules"))}, form, 401, 403, 404, 405, 500, 503)),
			"put": operation("putSandboxRules", "sandbox", "Replace the rules by which the fakes answer; the first match answers", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxRules"), rules),
				answers(apiDoc{"200": answer("the rules hold from now on", ref("SandboxRules"))}, form, 400, 401, 403, 404, 405, 413, 500, 503)),
		},
		"/sandbox/expectations": apiDoc{
			"get": operation("getSandboxExpectations", "sandbox", "Get what is expected, each with how often it came", keyScope(blueprint.ScopeAdmin),
				answers(apiDoc{"200": answer("what is expected", ref("SandboxExpectations"))}, form, 401, 403, 404, 405, 500, 503)),
			"put": operation("putSandboxExpectations", "sandbox", "Say what has to be asked before the end", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxExpectations"), expect),
				answers(apiDoc{"200": answer("it is expected from now on", ref("SandboxExpectations"))}, form, 400, 401, 403, 404, 405, 413, 500, 503)),
		},
		"/sandbox/send": apiDoc{"post": operation("sendSandboxWebhook", "sandbox", "Deliver to a webhook or Slack trigger of this server, signed as its sender signs", keyScope(blueprint.ScopeAdmin), takes(true, ref("SandboxSend"),
			apiDoc{"webhook": rpc.ExampleIDs["webhook"], "body": apiDoc{"order": 42}}),
			answers(apiDoc{"200": answer("what was sent, and what came back", ref("SandboxSent"))}, form, 400, 401, 403, 404, 405, 413, 500, 503))},
		"/sandbox/verify": apiDoc{"post": operation("verifySandbox", "sandbox", "Tell whether all came that was expected", keyScope(blueprint.ScopeAdmin),
			answers(apiDoc{"200": answer("what did not", ref("SandboxVerdict"))}, form, 401, 403, 404, 405, 500, 503))},
	}
}

// sandboxSchemas are the shapes of these routes.
func sandboxSchemas() apiDoc {
	word, object, count := apiDoc{"type": "string"}, apiDoc{"type": "object"}, apiDoc{"type": "integer", "minimum": 0}
	list := func(items apiDoc) apiDoc { return apiDoc{"type": "array", "items": items} }
	of := func(words ...string) apiDoc {
		properties := apiDoc{}
		for _, name := range words {
			properties[name] = word
		}
		return shape(properties)
	}
	match := of("procedure", "route", "host", "nodeType", "nodeId", "executionId", "method", "path", "rpc")
	match["properties"].(apiDoc)["query"], match["properties"].(apiDoc)["body"] = apiDoc{"type": "object"}, apiDoc{"description": "what the body holds at least"}
	match["minProperties"], match["description"] = 1, "what it is about; * in a text stands for anything. Of what is said to an MCP server it is about tools/call alone, unless rpc names another method"
	rule := shape(apiDoc{
		"match": match, "times": apiDoc{"type": "integer", "minimum": 1, "description": "how often it answers; for ever when it is left out"}, "answered": count,
		"answer": apiDoc{"type": "object", "minProperties": 1, "properties": apiDoc{
			"status": apiDoc{"type": "integer", "minimum": 200, "maximum": 599}, "headers": object, "body": apiDoc{},
			"delayMs": apiDoc{"type": "integer", "minimum": 0, "maximum": 600000, "description": "in real time"},
			"close":   apiDoc{"type": "boolean", "description": "the connection breaks"},
			"whole":   apiDoc{"type": "boolean", "description": "of a procedure, with a status from 400: it refuses a batch as the rate limit does, before any of its calls is made"}, "error": apiDoc{"type": "string", "description": "there is no connection, for this reason"},
			"text": apiDoc{"type": "string", "description": "what a model says, to nodes of the type ai-prompt"}, "json": apiDoc{"description": "the same as a JSON value"},
			"toolCalls": list(shape(apiDoc{"name": word, "arguments": object}, "name")), "usage": shape(apiDoc{"inputTokens": count, "outputTokens": count}),
			"pause": apiDoc{"type": []any{"string", "object"}, "description": "the run pauses and asks this; the answer is the node's output"},
		}},
	}, "match", "answer")
	expectation := shape(apiDoc{
		"match": match, "came": count, "request": apiDoc{"type": "object", "description": "what the request holds, at least"},
		"times": apiDoc{"type": []any{"integer", "object"}, "description": "a number, or {\"min\", \"max\"}; at least once when it is left out"},
	}, "match")
	call := shape(apiDoc{
		"at": apiDoc{"type": "string", "format": "date-time"}, "executionId": word, "nodeId": word, "nodeType": word, "attempt": count, "error": word,
		"request":  shape(apiDoc{"method": word, "url": word, "headers": object, "body": apiDoc{}, "cut": apiDoc{"type": "boolean"}}, "method", "url"),
		"response": shape(apiDoc{"status": apiDoc{"type": "integer"}, "headers": object, "body": apiDoc{}, "cut": apiDoc{"type": "boolean"}}, "status"),
	}, "at", "request")
	return apiDoc{
		"SandboxCalls":        shape(apiDoc{"calls": list(call), "dropped": count}, "calls", "dropped"),
		"SandboxRules":        shape(apiDoc{"rules": list(rule)}, "rules"),
		"SandboxExpectations": shape(apiDoc{"expect": list(expectation)}, "expect"),
		"SandboxSend": shape(apiDoc{"webhook": apiDoc{"type": "string", "format": "uuid", "description": "the trigger"}, "body": apiDoc{}, "headers": object,
			"preset": apiDoc{"enum": project.Words(sandbox.Senders[1:]), "description": "who signs; that of the trigger when it is left out"}}, "webhook"),
		"SandboxSent": shape(apiDoc{"request": shape(apiDoc{"headers": object, "body": apiDoc{}}), "response": shape(apiDoc{"status": count, "headers": object, "body": apiDoc{}}, "status")}, "request", "response"),
		"SandboxVerdict": shape(apiDoc{"met": apiDoc{"type": "boolean"}, "unmet": list(shape(apiDoc{"expect": apiDoc{}, "came": count, "problem": word, "index": count},
			"expect", "came", "problem", "index"))}, "met", "unmet"),
	}
}
