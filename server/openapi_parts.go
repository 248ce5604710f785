package server

import (
	"maps"
	"net/http"
	"strconv"

	"blueprintd/blueprint"
)

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

// refusals gives the codes of each status.
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
