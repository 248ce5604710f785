package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// parseJSON records positions from the tokens of a JSON text. The value is that of
// blueprint.Decode, so that files and requests have the same rules.
func (d *Document) parseJSON(data []byte) (any, *SyntaxError) {
	w := &jsonWalk{decoder: json.NewDecoder(bytes.NewReader(data)), lines: newLines(data), data: data}
	w.decoder.UseNumber()
	d.root.at = w.lines.at(w.next())
	if err := w.value(&d.root, 0); err != nil {
		return nil, w.broken(err)
	}
	if offset := loneSurrogate(data); offset >= 0 {
		return nil, &SyntaxError{Position: newLines(data).at(offset), Message: "this escape is half of a surrogate pair; write both halves"}
	}
	value, err := blueprint.Decode(data)
	if err != nil {
		return nil, &SyntaxError{Position: w.lines.at(int(w.decoder.InputOffset())), Message: err.Error()}
	}
	return value, nil
}

type jsonWalk struct {
	decoder *json.Decoder
	lines   *lines
	data    []byte
	count   int
}

// broken converts an error of the walk.
func (w *jsonWalk) broken(err error) *SyntaxError {
	if refused, ok := errors.AsType[*SyntaxError](err); ok {
		return refused
	}
	offset, message := int(w.decoder.InputOffset()), strings.TrimPrefix(err.Error(), "json: ")
	// Unmarshal reports a more exact offset than a token decoder.
	var syntax *json.SyntaxError
	if errors.As(json.Unmarshal(w.data, new(any)), &syntax) {
		offset, message = max(0, int(syntax.Offset)-1), syntax.Error()
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		offset, message = len(w.data), "the file ends unexpectedly"
	}
	return &SyntaxError{Position: w.lines.at(offset), Message: message}
}

// next returns the offset of the next value or name.
func (w *jsonWalk) next() int {
	offset := int(w.decoder.InputOffset())
	for offset < len(w.data) && strings.IndexByte(" \t\r\n,:", w.data[offset]) >= 0 {
		offset++
	}
	return offset
}

// value walks a value. level is the number of enclosing objects and arrays.
func (w *jsonWalk) value(here *place, level int) error {
	if w.count++; w.count > MaxValues {
		return &SyntaxError{Position: here.at, Message: fmt.Sprintf("the file has more than %d values", MaxValues)}
	}
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	delimiter, _ := token.(json.Delim)
	if delimiter == 0 {
		here.text = here.at
	}
	if delimiter != 0 && level >= blueprint.MaxDepth {
		return &SyntaxError{Position: here.at, Message: fmt.Sprintf("nested deeper than %d levels", blueprint.MaxDepth)}
	}
	switch delimiter {
	case '{':
		for w.decoder.More() {
			begin := w.next()
			at := w.lines.at(begin)
			name, err := w.decoder.Token()
			if err != nil {
				return err
			}
			text, _ := name.(string)
			member := here.member(text, at)
			member.keyName = utf8.RuneCount(w.data[begin:min(int(w.decoder.InputOffset()), len(w.data))])
			member.at = w.lines.at(w.next())
			if err := w.value(member, level+1); err != nil {
				return err
			}
		}
		_, err = w.decoder.Token()
	case '[':
		for w.decoder.More() {
			if err := w.value(here.element(w.lines.at(w.next())), level+1); err != nil {
				return err
			}
		}
		_, err = w.decoder.Token()
	}
	return err
}

// loneSurrogate returns the offset of the first unpaired surrogate escape in well-formed
// JSON, or -1. Decoders silently replace it.
func loneSurrogate(data []byte) int {
	for i := 0; i+1 < len(data); i++ {
		if data[i] != '\\' {
			continue
		}
		start := i
		i++
		switch half := surrogate(data[start:]); half {
		case 0:
		case 'h':
			if surrogate(data[start+6:]) != 'l' {
				return start
			}
			i = start + 11
		default:
			return start
		}
	}
	return -1
}

// surrogate reports whether a text begins with an escaped high (h) or low (l) surrogate.
func surrogate(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' || text[2]|0x20 != 'd' {
		return 0
	}
	switch c := text[3] | 0x20; {
	case c == '8' || c == '9' || c == 'a' || c == 'b':
		return 'h'
	case c >= 'c' && c <= 'f':
		return 'l'
	}
	return 0
}
