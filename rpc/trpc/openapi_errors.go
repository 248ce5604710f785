package trpc

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// statuses gives the codes of each HTTP status that is ever answered, by the
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
