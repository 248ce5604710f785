// Package file reads and writes blueprint files, YAML or JSON, and remembers
// where in the text each value stands, so that whatever is said about a value
// can point at its line.
//
// YAML here is data only: anchors and aliases are followed within bounds, tags
// other than the plain ones are refused, and the result is the plain JSON
// value that blueprint.Decode would give; numbers keep their digits.
package file

import (
	"fmt"
	"strconv"
	"strings"

	"blueprintd/blueprint"
)

// MaxSize is how many bytes a file may have.
const MaxSize = 20 << 20

// Position is a place in a text; both count from 1. The zero Position is
// unknown.
type Position struct{ Line, Column int }

// Document is a parsed file. It is never changed.
type Document struct {
	// Name is the file's name as given, for messages.
	Name string
	// Value is the plain JSON value.
	Value     any
	positions map[string]Position
}

// SyntaxError says where a file is not YAML or JSON.
type SyntaxError struct {
	Name string
	Position
	Message string
}

// Error gives file:line:column: message.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Column, e.Message)
}

// Parse reads a file: JSON when its name ends in .json or its first character
// is a brace, else YAML. Its errors are *SyntaxError.
func Parse(name string, data []byte) (*Document, error) {
	d := &Document{Name: name, positions: map[string]Position{}}
	if len(data) > MaxSize {
		return nil, &SyntaxError{Name: name, Position: Position{1, 1}, Message: fmt.Sprintf("is larger than %d MiB", MaxSize>>20)}
	}
	var err *SyntaxError
	if strings.HasSuffix(name, ".json") || strings.HasPrefix(strings.TrimLeft(string(data), " \t\r\n\ufeff"), "{") {
		d.Value, err = d.parseJSON(data)
	} else {
		d.Value, err = d.parseYAML(data)
	}
	if err != nil {
		err.Name = name
		return nil, err
	}
	return d, nil
}

// At gives the position of the value at a path, or of the nearest value above
// it that stands in the text.
func (d *Document) At(path []any) Position {
	for n := len(path); n >= 0; n-- {
		if at, ok := d.positions[key(path[:n])]; ok {
			return at
		}
	}
	return Position{1, 1}
}

// Point writes file:line:column: path: message for an issue.
func (d *Document) Point(issue blueprint.Issue) string {
	at := d.At(issue.Path)
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

// key makes a map key of a path; the length before each part keeps different
// paths apart.
func key(path []any) string {
	var text strings.Builder
	for _, part := range path {
		switch p := part.(type) {
		case int:
			text.WriteString("#" + strconv.Itoa(p) + ";")
		case string:
			text.WriteString(strconv.Itoa(len(p)) + ":" + p + ";")
		}
	}
	return text.String()
}

func (d *Document) mark(path []any, at Position) {
	d.positions[key(path)] = at
}
