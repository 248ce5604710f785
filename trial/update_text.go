package trial

import (
	"bytes"
	"encoding/json"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/blueprint/file"
)

// text is the text of a test file whose expectations are replaced.
type text struct {
	document *file.Document
	data     []byte
	isJSON   bool
}

func newText(d *file.Document, data []byte) *text {
	t := &text{document: d, data: data}
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(data, []byte("\ufeff")), " \t\r\n")
	t.isJSON = strings.HasSuffix(d.Name, ".json") || bytes.HasPrefix(trimmed, []byte("{"))
	return t
}

// offset gives where a place in the text begins, and where its line does.
func (t *text) offset(at file.Position) (offset, line int) {
	for n := 1; n < at.Line; n++ {
		next := bytes.IndexByte(t.data[line:], '\n')
		if next < 0 {
			return len(t.data), line
		}
		line += next + 1
	}
	offset = line
	if at.Line == 1 {
		offset += len(t.data) - len(bytes.TrimPrefix(t.data, []byte("\ufeff")))
	}
	for n := 1; n < at.Column && offset < len(t.data); n++ {
		offset++
		for offset < len(t.data) && t.data[offset]&0xc0 == 0x80 {
			offset++
		}
	}
	return offset, line
}

func (t *text) splice(from, to int, with string) {
	t.data = append(append(append([]byte{}, t.data[:from]...), with...), t.data[to:]...)
}

// rewriteYAML replaces the lines of an expectation, or adds them behind the rest
// of the test.
func (t *text) rewriteYAML(index int, expect map[string]any) error {
	test := t.document.At([]any{"tests", index})
	whole, _ := t.document.Value.(map[string]any)
	tests, _ := whole["tests"].([]any)
	object, _ := tests[index].(map[string]any)
	_, has := object["expect"]
	at := test
	if has {
		at = t.document.SpanOf(blueprint.Issue{Path: []any{"tests", index, "expect"}, Spot: blueprint.Spot{Name: true}}).Start
	}
	from, line := t.offset(at)
	if test.Line == 0 || strings.Trim(string(t.data[line:from]), " -") != "" || from < len(t.data) && t.data[from] == '{' {
		return cannot(index, "the test is written in braces; write each of its keys on a line of its own")
	}
	indent := at.Column - 1
	end := t.blockEnd(from, indent, has)
	written, err := yamlExpect(expect, indent)
	if err != nil {
		return err
	}
	ending := "\n"
	if bytes.Contains(t.data, []byte("\r\n")) {
		ending = "\r\n"
		written = strings.ReplaceAll(written, "\n", "\r\n")
	}
	if has {
		t.splice(from, end, strings.TrimPrefix(written, strings.Repeat(" ", indent)))
		return nil
	}
	if end > 0 && t.data[end-1] != '\n' {
		written = ending + written
	}
	t.splice(end, end, written)
	return nil
}

// blockEnd gives the end of the last line with content that belongs to a key, or
// with siblings to the object, that stands at an indentation.
func (t *text) blockEnd(from, indent int, alone bool) int {
	end := len(t.data)
	first := true
	for at := from; at < len(t.data); {
		next := bytes.IndexByte(t.data[at:], '\n')
		if next < 0 {
			next = len(t.data)
		} else {
			next += at + 1
		}
		content := bytes.TrimRight(t.data[at:next], "\r\n")
		depth := len(content) - len(bytes.TrimLeft(content, " "))
		empty := len(bytes.TrimSpace(content)) == 0
		belongs := first || depth > indent || !alone && depth == indent || alone && depth == indent && bytes.HasPrefix(content[depth:], []byte("- "))
		if !empty && !belongs {
			break
		}
		if !empty {
			end = next
		}
		first = false
		at = next
	}
	return end
}

// yamlExpect writes an expectation as a key of a YAML object.
func yamlExpect(expect map[string]any, indent int) (string, error) {
	var out strings.Builder
	pad := strings.Repeat(" ", indent)
	out.WriteString(pad + "expect:\n")
	for _, name := range expectOrder {
		value, given := expect[name]
		if !given {
			continue
		}
		data, err := file.Marshal([]file.Member{{Name: name, Value: value}}, false)
		if err != nil {
			return "", err
		}
		for _, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
			if line != "" {
				line = pad + "  " + line
			}
			out.WriteString(line + "\n")
		}
	}
	return out.String(), nil
}

// rewriteJSON replaces the value of an expectation, or adds the member.
func (t *text) rewriteJSON(index int, expect map[string]any) error {
	start, line := t.offset(t.document.At([]any{"tests", index}))
	length, err := valueLength(t.data[start:])
	if err != nil {
		return cannot(index, err.Error())
	}
	margin := string(t.data[line : line+len(t.data[line:])-len(bytes.TrimLeft(t.data[line:], " \t"))])
	written, err := jsonExpect(expect, margin+"  ")
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(t.data[start : start+length]))
	if _, err := decoder.Token(); err != nil {
		return cannot(index, err.Error())
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return cannot(index, err.Error())
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return cannot(index, err.Error())
		}
		if name == "expect" {
			end := start + int(decoder.InputOffset())
			t.splice(end-len(value), end, written)
			return nil
		}
	}
	end := start + length - 1
	body := bytes.TrimRight(t.data[start:end], " \t\r\n")
	comma := ","
	if bytes.HasSuffix(body, []byte("{")) {
		comma = ""
	}
	t.splice(start+len(body), end, comma+"\n"+margin+`  "expect": `+written+"\n"+margin)
	return nil
}

func valueLength(data []byte) (int, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	var value json.RawMessage
	if err := decoder.Decode(&value); err != nil {
		return 0, err
	}
	return int(decoder.InputOffset()), nil
}

// jsonExpect writes an expectation, its members in their order.
func jsonExpect(expect map[string]any, margin string) (string, error) {
	var out bytes.Buffer
	out.WriteString("{")
	for _, name := range expectOrder {
		value, given := expect[name]
		if !given {
			continue
		}
		data, err := blueprint.Encode(value)
		if err != nil {
			return "", err
		}
		if out.Len() > 1 {
			out.WriteString(",")
		}
		out.WriteString("\n" + margin + `  "` + name + `": `)
		if err := json.Indent(&out, data, margin+"  ", "  "); err != nil {
			return "", err
		}
	}
	out.WriteString("\n" + margin + "}")
	return out.String(), nil
}
