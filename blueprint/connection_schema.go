package blueprint

import "encoding/json"

// ConnectionForm describes the form of a connection type.
type ConnectionForm struct {
	Type        ConnectionType
	Title       string
	Description string
	// Schema is the JSON Schema of the config, as a plain JSON value. Its x-order
	// is the order of the keys; each has a title, a description and an x-kind:
	// text, secret, url, host, hosts, list, number, duration-ms, choice, email,
	// connection or auth. The types of auth are alternatives of a oneOf.
	Schema map[string]any
}

// ConnectionForms returns the form of every type in the order of the documentation.
func ConnectionForms() []ConnectionForm {
	out := make([]ConnectionForm, len(connectionKinds))
	for i, kind := range connectionKinds {
		out[i] = ConnectionForm{kind.of, kind.title, kind.doc, formSchema(kind.fields)}
	}
	return out
}

func formSchema(fields []configField) map[string]any {
	properties, order, required := map[string]any{}, []any{}, []any{}
	for _, field := range fields {
		properties[field.name] = field.schema()
		order = append(order, field.name)
		if field.required {
			required = append(required, field.name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "x-order": order, "required": required, "additionalProperties": false}
}

func (f configField) schema() map[string]any {
	schema := map[string]any{"type": "string"}
	switch f.kind {
	case "choice":
		choices := make([]any, len(f.choices))
		for i, choice := range f.choices {
			choices[i] = choice
		}
		schema["enum"] = choices
	case "number", "duration-ms":
		schema = map[string]any{"type": "integer", "minimum": json.Number("1")}
	case "list", "hosts":
		schema = map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": json.Number("100")}
	case "connection":
		schema["x-connection-types"] = []any{string(ConnectionOAuth2)}
	case "auth":
		schema = authSchema()
	}
	schema["title"], schema["description"], schema["x-kind"] = f.title, f.doc, f.kind
	if f.secret {
		schema["writeOnly"] = true
	}
	if f.standard != nil {
		schema["default"] = f.standard
	}
	return schema
}

func authSchema() map[string]any {
	alternatives := []any{}
	for _, kind := range authKinds {
		one := formSchema(kind.fields)
		one["title"] = kind.title
		one["properties"].(map[string]any)["type"] = map[string]any{"const": kind.name}
		one["required"] = append(one["required"].([]any), "type")
		alternatives = append(alternatives, one)
	}
	return map[string]any{"type": "object", "oneOf": alternatives}
}
