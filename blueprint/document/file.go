// Package document reads and writes blueprint files, YAML or JSON, and remembers
// where in the text each value stands, so that whatever is said about a value
// can point at its line.
//
// YAML here is data only: anchors and aliases are followed within bounds, tags
// other than the plain ones are refused, and the result is the plain JSON
// value that blueprint.Decode would give; numbers keep their digits. How deep
// and how large a file may be is looked at before anything is built of it.
package document

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// The bounds of a file. Nobody writes such files by hand or exports them; they
// keep a hostile one from costing memory and time.
const (
	// MaxSize is how many bytes a file may have.
	MaxSize = 20 << 20
	// MaxValues is how many values a file may hold: objects, arrays and what
	// stands in them.
	MaxValues = 500_000
	// MaxAliased is how many values the aliases of a YAML file may add.
	MaxAliased = 100_000
)

// Document is a parsed file. It is never changed.
type Document struct {
	// Name is the file's name as given, for messages.
	Name string
	// Value is the plain JSON value.
	Value  any
	root   place
	source source
}

// SyntaxError says where a file is not YAML or JSON, or more than may be read.
type SyntaxError struct {
	Name string
	Position
	Message string
	source  *source // nil when the file is too large to be shown
}

// Error returns file:line:column: message.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", e.Name, e.Line, e.Column, e.Message)
}

// Parse reads a file: JSON when its name ends in .json or its first character
// is a brace, else YAML. Its errors are *SyntaxError.
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
		// All line breaks are the same to YAML. The parser loses count of others.
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
		d.source.data = data
		d.Value, err = d.parseYAML(data)
	}
	return err
}

// invalidUTF8 finds the first byte that belongs to no character, or gives -1.
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

// Point writes file:line:column: path: message for an issue. The place is that
// of SpanOf.
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
