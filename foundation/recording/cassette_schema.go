package recording

// Schema gives the JSON Schema (2020-12) of a cassette, as a plain JSON value.
func CassetteSchema() map[string]any {
	text := map[string]any{"type": "string"}
	headers := map[string]any{"type": "object", "additionalProperties": text}
	object := func(required []any, properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "required": required, "properties": properties}
	}
	request := object([]any{"method", "url"}, map[string]any{
		"method": map[string]any{"type": "string", "description": "The HTTP method, or MAIL."}, "url": text, "headers": headers, "body": map[string]any{}, "cut": map[string]any{"type": "boolean"},
	})
	response := object([]any{"status"}, map[string]any{
		"status": map[string]any{"type": "integer", "minimum": 100, "maximum": 999}, "headers": headers, "body": map[string]any{}, "cut": map[string]any{"type": "boolean"},
	})
	exchange := object([]any{"request"}, map[string]any{
		"at": text, "executionId": text, "nodeId": map[string]any{"type": "string", "description": "The node's address."}, "nodeType": text,
		"attempt": map[string]any{"type": "integer", "minimum": 1}, "request": request, "response": response, "error": text,
	})
	connection := object([]any{"type", "config"}, map[string]any{"name": text, "type": text, "config": map[string]any{"type": "object"}})
	out := object([]any{"format", "exchanges"}, map[string]any{
		"format": map[string]any{"const": CassetteFormat}, "exchanges": map[string]any{"type": "array", "items": exchange},
		"connections": map[string]any{"type": "object", "additionalProperties": connection},
	})
	out["$schema"], out["title"] = "https://json-schema.org/draft/2020-12/schema", "A cassette of blueprintd"
	return out
}
