// Package file reads and writes blueprint files, YAML or JSON, and remembers
// where in the text each value stands, so that whatever is said about a value
// can point at its line.
//
// YAML here is data only: anchors and aliases are followed within bounds, tags
// other than the plain ones are refused, and the result is the plain JSON
// value that blueprint.Decode would give; numbers keep their digits. How deep
// and how large a file may be is looked at before anything is built of it.
package file

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

// Position is a place in a text; both count from 1, and columns count
// characters. The zero Position is unknown.
type Position struct{ Line, Column int }

// Document is a parsed file. It is never changed.
type Document struct {
	// Name is the file's name as given, for messages.
	Name string
	// Value is the plain JSON value.
	Value any
	root  place
}

// place is where a value stands, and the values in it.
type place struct {
	at       Position
	members  map[string]*place
	elements []*place
}

// member makes the place of an object's member, element that of the next
// element of an array.
func (p *place) member(name string, at Position) *place {
	if p.members == nil {
		p.members = map[string]*place{}
	}
	made := &place{at: at}
	p.members[name] = made
	return made
}

func (p *place) element(at Position) *place {
	made := &place{at: at}
	p.elements = append(p.elements, made)
	return made
}

// SyntaxError says where a file is not YAML or JSON, or more than may be read.
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
	d := &Document{Name: name}
	if err := d.parse(data); err != nil {
		err.Name = name
		return nil, err
	}
	return d, nil
}

func (d *Document) parse(data []byte) (err *SyntaxError) {
	if len(data) > MaxSize {
		return &SyntaxError{Position: Position{1, 1}, Message: fmt.Sprintf("is larger than %d MiB", MaxSize>>20)}
	}
	if offset := invalidUTF8(data); offset >= 0 {
		return &SyntaxError{Position: newLines(data).at(offset), Message: "is not valid UTF-8"}
	}
	if strings.HasSuffix(d.Name, ".json") || bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n\ufeff"), []byte("{")) {
		d.Value, err = d.parseJSON(data)
	} else {
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

// At gives the position of the value at a path, or of the nearest value above
// it that stands in the text.
func (d *Document) At(path []any) Position {
	p := &d.root
	for _, part := range path {
		var below *place
		switch part := part.(type) {
		case string:
			below = p.members[part]
		case int:
			if part >= 0 && part < len(p.elements) {
				below = p.elements[part]
			}
		}
		if below == nil {
			break
		}
		p = below
	}
	return p.at
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
