// Package document parses and writes blueprint files, YAML or JSON, and records the
// position of each value for error messages.
//
// YAML is limited to data: anchors and aliases are resolved within limits, only
// standard tags are supported, and the result is a plain JSON value as
// blueprint.Decode returns it. Depth and size are checked before parsing.
package document

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Limits of a file, far beyond written or exported ones.
const (
	// MaxSize is the maximum size in bytes.
	MaxSize = 20 << 20
	// MaxValues is the maximum number of values, including objects and arrays.
	MaxValues = 500_000
	// MaxAliased is the maximum number of values that aliases add.
	MaxAliased = 100_000
)

// Document is a parsed file. It is immutable.
type Document struct {
	// Name is the name of the file in messages.
	Name string
	// Value is the plain JSON value.
	Value  any
	root   place
	source source
}

// SyntaxError is returned for a malformed file or one beyond a limit.
type SyntaxError struct {
	Name string
	Position
	Message string
	source  *source // nil if the file is too large
}

// Error returns file:line:column: message.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Column, e.Message)
}

// Parse parses a file: JSON if its name ends in .json or it starts with a brace, else
// YAML. Errors are *SyntaxError.
func Parse(name string, data []byte) (*Document, error) {
	d := &Document{Name: name}
	if err := d.parse(data); err != nil {
		err.Name = name
		if len(data) <= MaxSize {
			err.source = &d.source
		}
		return nil, err
	}
	return d, nil
}

func (d *Document) parse(data []byte) (err *SyntaxError) {
	if len(data) > MaxSize {
		return &SyntaxError{Position: Position{1, 1}, Message: fmt.Sprintf("is larger than %d MiB", MaxSize>>20)}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d.source.data = data
	if offset := invalidUTF8(data); offset >= 0 {
		return &SyntaxError{Position: newLines(data).at(offset), Message: "is not valid UTF-8"}
	}
	if strings.HasSuffix(d.Name, ".json") || bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		d.Value, err = d.parseJSON(data)
	} else {
		// The parser miscounts lines with other line breaks, which are equivalent in YAML.
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
		d.source.data = data
		d.Value, err = d.parseYAML(data)
	}
	return err
}

// invalidUTF8 returns the offset of the first invalid byte, or -1.
func invalidUTF8(data []byte) int {
	if utf8.Valid(data) {
		return -1
	}
	for i := 0; ; {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}

// Point formats an issue as file:line:column: path: message, with the start of SpanOf.
func (d *Document) Point(issue blueprint.Issue) string {
	at := d.SpanOf(issue).Start
	where := blueprint.PathText(issue.Path)
	if where != "" {
		where += ": "
	}
	severity := ""
	if issue.Severity == blueprint.SeverityWarning {
		severity = "warning: "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s%s", d.Name, at.Line, at.Column, severity, where, issue.Message)
}
