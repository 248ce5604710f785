package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// NewCassette makes a cassette.
func NewCassette(exchanges []blueprint.Exchange, connections map[string]Connection) *Cassette {
	if exchanges == nil {
		exchanges = []blueprint.Exchange{}
	}
	if connections == nil {
		connections = map[string]Connection{}
	}
	return &Cassette{Format: CassetteFormat, Exchanges: exchanges, Connections: connections}
}

// ReadCassette reads a *.cassette.json file. Errors are CodeBadRequest and say where.
func ReadCassette(data []byte) (*Cassette, error) {
	if len(data) > MaxSize {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the cassette is larger than %d MiB", MaxSize>>20)
	}
	value, err := blueprint.Decode(data)
	if err != nil {
		return nil, blueprint.Errorf(blueprint.CodeBadRequest, "the cassette is not JSON: %s", err)
	}
	return cassetteFrom(value)
}

// ReadCassetteFile reads the cassette of a path.
func ReadCassetteFile(path string) (*Cassette, error) {
	data, err := fileio.Read(path, MaxSize)
	if err != nil {
		return nil, err
	}
	return ReadCassette(data)
}

// cassetteFrom reads a cassette that was decoded already.
func cassetteFrom(value any) (*Cassette, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, wrong("", "must be an object")
	}
	if format, _ := object["format"].(string); format != CassetteFormat {
		return nil, wrong("format", fmt.Sprintf("must be %q", CassetteFormat))
	}
	list, ok := object["exchanges"].([]any)
	switch {
	case !ok:
		return nil, wrong("exchanges", "must be an array")
	case len(list) > MaxExchanges: // before any of them is decoded
		return nil, wrong("exchanges", fmt.Sprintf("must hold at most %d", MaxExchanges))
	}
	c := NewCassette(make([]blueprint.Exchange, 0, len(list)), nil)
	for i, element := range list {
		var x blueprint.Exchange
		if err := convert(element, &x); err != nil {
			return nil, wrong(fmt.Sprintf("exchanges[%d]", i), err.Error())
		}
		c.Exchanges = append(c.Exchanges, x)
	}
	var at checker
	if at.cassette(c); len(at.issues) > 0 {
		return nil, wrong(blueprint.PathText(at.issues[0].Path), at.issues[0].Message)
	}
	if given := object["connections"]; given != nil {
		if err := convert(given, &c.Connections); err != nil {
			return nil, wrong("connections", err.Error())
		}
	}
	return c, nil
}

// convert decodes a plain JSON value into a struct, numbers with their digits.
func convert(value, into any) error {
	data, err := blueprint.Encode(value)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("has another shape: %s", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func wrong(where, message string) error {
	if where != "" {
		where += ": "
	}
	return blueprint.Errorf(blueprint.CodeBadRequest, "the cassette's %s%s", where, message)
}

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
