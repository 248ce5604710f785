package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"blueprintd/blueprint"
)

// parseJSON walks the tokens of a JSON text. The value itself comes from
// blueprint.Decode, so that files and requests obey the same rules.
func (d *Document) parseJSON(data []byte) (any, *SyntaxError) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	w := &jsonWalk{document: d, decoder: json.NewDecoder(bytes.NewReader(data)), lines: newLines(data), data: data}
	w.decoder.UseNumber()
	if err := w.value(nil); err != nil {
		offset := int(w.decoder.InputOffset())
		// A decoder of tokens is vague about the place; one of whole values is not.
		var syntax *json.SyntaxError
		if errors.As(json.Unmarshal(data, new(any)), &syntax) {
			offset = max(0, int(syntax.Offset)-1)
		}
		message := strings.TrimPrefix(err.Error(), "json: ")
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			offset, message = len(data), "the file ends unexpectedly"
		}
		return nil, &SyntaxError{Position: w.lines.at(offset), Message: message}
	}
	value, err := blueprint.Decode(data)
	if err != nil {
		return nil, &SyntaxError{Position: w.lines.at(int(w.decoder.InputOffset())), Message: err.Error()}
	}
	return value, nil
}

type jsonWalk struct {
	document *Document
	decoder  *json.Decoder
	lines    lines
	data     []byte
}

// value reads one value and marks where it begins.
func (w *jsonWalk) value(path []any) error {
	if len(path) > blueprint.MaxDepth {
		return errors.New("nested too deeply")
	}
	start := int(w.decoder.InputOffset())
	for start < len(w.data) && strings.IndexByte(" \t\r\n,:", w.data[start]) >= 0 {
		start++
	}
	w.document.mark(path, w.lines.at(start))
	token, err := w.decoder.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		for w.decoder.More() {
			name, err := w.decoder.Token()
			if err != nil {
				return err
			}
			text, _ := name.(string)
			if err := w.value(append(path[:len(path):len(path)], text)); err != nil {
				return err
			}
		}
		_, err = w.decoder.Token()
	case json.Delim('['):
		for i := 0; w.decoder.More(); i++ {
			if err := w.value(append(path[:len(path):len(path)], i)); err != nil {
				return err
			}
		}
		_, err = w.decoder.Token()
	}
	return err
}

// lines finds the line and column of an offset.
type lines []int

func newLines(data []byte) lines {
	starts := lines{0}
	for i, c := range data {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}

func (l lines) at(offset int) Position {
	low, high := 0, len(l)
	for high-low > 1 {
		if middle := (low + high) / 2; l[middle] <= offset {
			low = middle
		} else {
			high = middle
		}
	}
	return Position{Line: low + 1, Column: offset - l[low] + 1}
}
