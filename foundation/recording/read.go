package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"blueprintd/blueprint"
)

// MaxSize is how large a file may be, in bytes. MaxExchanges and MaxSteps bound
// what it lists.
const (
	MaxSize      = 64 << 20
	MaxExchanges = 100_000
	MaxSteps     = 200_000
	// maxDepth is more than what is exported nests: a value of the deepest output,
	// and what stands around it.
	maxDepth = 2*blueprint.MaxDepth + 16
)

// Parse reads a *.run.json file. Errors: CodeBadRequest with issues that say where.
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
		return blueprint.Errorf(blueprint.CodeBadRequest, "line %d, column %d: no JSON: %s", line, column, syntax)
	case errors.As(err, &known):
		return known
	}
	return blueprint.Errorf(blueprint.CodeBadRequest, "no JSON: %s", strings.TrimPrefix(err.Error(), "json: "))
}

func pathOf(field string) (path []any) {
	for name := range strings.SplitSeq(field, ".") {
		if name != "ExecutionStatus" { // which stands in Run by its members
			path = append(path, name)
		}
	}
	return path
}

// place returns the line and the column of an offset, both from 1.
func place(data []byte, offset int) (line, column int) {
	before := data[:max(0, min(offset-1, len(data)))]
	return 1 + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}
