package server

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"blueprintd/blueprint"
	"blueprintd/project"
	"blueprintd/rpc"
	"blueprintd/rpc/trpc"
	"blueprintd/server/sandbox"
)

// openAPIVersion is that of the interface. It is raised when something that a
// client may rely on changes; new procedures and fields do not.
const openAPIVersion = "1.0.0"

// OpenAPI gives the description of the whole interface: of the procedures, and
// of the plain routes.
var OpenAPI = sync.OnceValues(func() ([]byte, error) {
	d := trpc.NewOpenAPI(rpc.Procedures(), rpc.RouterWords)
	d.Info = map[string]any{
		"title": "blueprintd", "version": openAPIVersion, "summary": "Workflow automation in one executable",
		"description": openAPIDescription, "license": map[string]any{"name": "Apache-2.0", "identifier": "Apache-2.0"},
	}
	d.Tags = append(d.Tags, openAPITags...)
	maps.Copy(d.Paths, openAPIPaths())
	maps.Copy(d.Components["schemas"].(map[string]any), openAPISchemas())
	maps.Copy(d.Components["responses"].(map[string]any), openAPIResponses())
	return blueprint.EncodeIndented(d)
})

const openAPIDescription = `A server stores blueprints (graphs of nodes), runs them, and starts them by triggers.

Procedures stand under ` + "`/api/trpc/{router}.{procedure}`" + `. A query is a GET whose parameter ` + "`input`" + ` is URL-encoded JSON, a mutation a POST with a JSON body;
either way the parameters are in an object ` + "`json`" + `, and what is answered is at ` + "`result.data.json`" + `:

    curl -H "Authorization: Bearer $KEY" --get "$HOST/api/trpc/blueprint.list" --data-urlencode 'input={"json":{"limit":5}}'
    curl -H "Authorization: Bearer $KEY" "$HOST/api/trpc/blueprint.create" -H 'Content-Type: application/json' -d '{"json":{"title":"Hello"}}'

Clients of tRPC 10 and 11 with the superjson transformer call the same procedures, batches and streams included, which are not described here.
The other routes take and give JSON as it is. Unknown fields of an input are ignored; an answer may get new fields.`

// serveOpenAPI answers GET /openapi.json.
func (s *Server) serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	data, err := OpenAPI()
	if err != nil {
		s.RPC.WritePlainError(w, r, err)
		return
	}
	serveDocument(w, r, "application/json", data)
}

// serveDocument sends a JSON document that is the same until the next version of
// the program. It holds nothing of this server, and needs no key.
func serveDocument(w http.ResponseWriter, r *http.Request, kind string, data []byte) {
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:16]) + `"`
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}

func ref(schema string) apiDoc { return apiDoc{"$ref": "#/components/schemas/" + schema} }

// answer is an answer in JSON.
func answer(description string, schema apiDoc) apiDoc {
	return apiDoc{"description": description, "content": apiDoc{"application/json": apiDoc{"schema": schema}}}
}

func text(description string) apiDoc {
	return apiDoc{"description": description, "content": apiDoc{"text/plain": apiDoc{"schema": apiDoc{"type": "string"}}}}
}

// answers adds refusals of a form, by their statuses, to what is answered else.
func answers(good apiDoc, form string, refusals ...int) apiDoc {
	out := apiDoc{}
	for _, status := range refusals {
		out[strconv.Itoa(status)] = apiDoc{"$ref": "#/components/responses/" + form + strconv.Itoa(status)}
	}
	maps.Copy(out, good)
	return apiDoc{"responses": out}
}

// openAPIResponses are the refusals of the plain routes, in both their forms.
func openAPIResponses() apiDoc {
	out := apiDoc{}
	for status, codes := range refusals() {
		for _, form := range []string{"PlainError", "WebhookError"} {
			if form == "WebhookError" && (status == http.StatusForbidden || status == http.StatusConflict) {
				continue // which no webhook is answered
			}
			example := apiDoc{"error": apiDoc{"code": string(codes[len(codes)-1]), "message": "what is wrong, in words"}}
			if form == "WebhookError" {
				example["success"] = false
			}
			response := apiDoc{"description": http.StatusText(status), "content": apiDoc{"application/json": apiDoc{"schema": ref(form), "example": example}}}
			if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
				response["headers"] = apiDoc{"Retry-After": apiDoc{"description": "when to try again, in seconds", "schema": apiDoc{"type": "integer", "minimum": 0}}}
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

// openAPISchemas are the shapes of the plain routes.
func openAPISchemas() apiDoc {
	var codes []any
	for _, code := range blueprint.Codes() {
		codes = append(codes, string(code))
	}
	word := apiDoc{"type": "string"}
	why := shape(apiDoc{"code": apiDoc{"type": "string", "enum": codes}, "message": word}, "code", "message")
	// That of a run which failed may have any code of its node.
	failed := shape(apiDoc{"code": word, "message": word, "nodeId": word}, "code", "message")
	schemas := apiDoc{
		"Fired":        shape(apiDoc{"success": apiDoc{"const": true}, "executionId": word, "firingId": word}, "success", "executionId", "firingId"),
		"PlainError":   shape(apiDoc{"error": why}, "error"),
		"WebhookError": shape(apiDoc{"success": apiDoc{"const": false}, "executionId": word, "firingId": word, "error": failed}, "success", "error"),
		"Health": shape(apiDoc{"status": apiDoc{"enum": []any{"ok", "ready", "not ready"}}, "checks": apiDoc{"type": "array", "items": shape(apiDoc{
			"name": word, "ok": apiDoc{"type": "boolean"}, "detail": word, "hint": word,
		}, "name", "ok", "detail")}}, "status"),
		"Clock":         shape(apiDoc{"now": apiDoc{"type": "string", "format": "date-time"}, "next": apiDoc{"type": "string", "format": "date-time"}}, "now"),
		"ClockAdvanced": shape(apiDoc{"now": apiDoc{"type": "string", "format": "date-time"}, "fired": apiDoc{"type": "integer", "minimum": 0}}, "now", "fired"),
	}
	maps.Copy(schemas, sandboxSchemas())
	return schemas
}

// shape is the schema of an object.
func shape(properties apiDoc, required ...any) apiDoc {
	schema := apiDoc{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

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
