package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
)

// NewCassette returns a cassette whose lists are not null.
func NewCassette(exchanges []blueprint.Exchange, connections map[string]Connection) *Cassette {
	if exchanges == nil {
		exchanges = []blueprint.Exchange{}
	}
	if connections == nil {
		connections = map[string]Connection{}
	}
	return &Cassette{Format: CassetteFormat, Exchanges: exchanges, Connections: connections}
}

// ReadCassette reads a *.cassette.json file. Errors are CodeBadRequest
// with the path.
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

// ReadCassetteFile reads a cassette from a file or a pipe.
func ReadCassetteFile(path string) (*Cassette, error) {
	data, err := fileio.Read(path, MaxSize)
	if err != nil {
		return nil, err
	}
	return ReadCassette(data)
}

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

// convert decodes a plain JSON value into a struct; numbers keep their digits.
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

// CassetteSchema returns the JSON Schema (2020-12) of a cassette as a plain JSON
// value.
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

// Limits of a file: its bytes, its exchanges and the steps of its run.
const (
	MaxSize      = 64 << 20
	MaxExchanges = 100_000
	MaxSteps     = 200_000
	// maxDepth allows for an output of the greatest depth and its envelope.
	maxDepth = 2*blueprint.MaxDepth + 16
)

// Parse reads a *.run.json file. Errors are CodeBadRequest with issues, or
// CodePayloadTooLarge.
func Parse(data []byte) (*File, error) {
	f := &File{}
	if err := decode(data, f); err != nil {
		return nil, err
	}
	if issues := f.issues(); len(issues) > 0 {
		return nil, blueprint.InvalidInput(issues)
	}
	return f, nil
}

// decode reads exactly one JSON value whose numbers keep their digits.
func decode(data []byte, into any) error {
	if len(data) > MaxSize {
		return blueprint.Errorf(blueprint.CodePayloadTooLarge, "the file is larger than %d MiB", MaxSize>>20)
	}
	if blueprint.Depth(data) > maxDepth {
		return blueprint.Errorf(blueprint.CodeBadRequest, "the file is nested deeper than %d levels", maxDepth)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	err := decoder.Decode(into)
	if err == nil {
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return blueprint.Errorf(blueprint.CodeBadRequest, "the file is followed by more text")
		}
		return nil
	}
	var wrongType *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	var known *blueprint.Error
	switch {
	case errors.As(err, &wrongType):
		return blueprint.InvalidInput([]blueprint.Issue{{Path: pathOf(wrongType.Field), Message: "must not be a JSON " + wrongType.Value}})
	case errors.As(err, &syntax):
		line, column := place(data, int(syntax.Offset))
		return blueprint.Errorf(blueprint.CodeBadRequest, "line %d, column %d: not JSON: %s", line, column, syntax)
	case errors.As(err, &known):
		return known
	}
	return blueprint.Errorf(blueprint.CodeBadRequest, "not JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func pathOf(field string) (path []any) {
	for name := range strings.SplitSeq(field, ".") {
		if name != "ExecutionStatus" { // embedded in Run
			path = append(path, name)
		}
	}
	return path
}

// place returns the line and column of an offset, both from 1.
func place(data []byte, offset int) (line, column int) {
	before := data[:max(0, min(offset-1, len(data)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
