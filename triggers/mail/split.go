package mail

import (
	"bytes"
	"strings"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/textproto"

	"blueprintd/blueprint"
)

// field is one of a header.
type field struct {
	name  string
	lines []string
}

// splitHeader takes the header off a message or part. Lines that are no fields
// are left out. The error is CodeBadRequest: the header is beyond the limits.
func splitHeader(raw []byte) (header message.Header, body []byte, err error) {
	var fields []field
	rest, within := raw, false // whether the last line was one of a field
	for len(rest) > 0 {
		line, behind := cutLine(rest)
		if len(line) == 0 {
			rest = behind
			break
		}
		if len(raw)-len(behind) > maxHeader {
			return header, nil, blueprint.Errorf(blueprint.CodeBadRequest, "a header of the mail has more than %d bytes", maxHeader)
		}
		rest = behind
		if line[0] == ' ' || line[0] == '\t' {
			if within {
				last := &fields[len(fields)-1]
				last.lines = append(last.lines, strings.TrimSpace(string(line)))
			}
			continue
		}
		name, value, found := strings.Cut(string(line), ":")
		name = strings.TrimRight(name, " \t")
		if within = found && isFieldName(name); !within {
			continue
		}
		if fields = append(fields, field{name, []string{strings.TrimSpace(value)}}); len(fields) > maxFields {
			return header, nil, blueprint.Errorf(blueprint.CodeBadRequest, "a header of the mail has more than %d fields", maxFields)
		}
	}
	var lines textproto.Header
	for i := len(fields) - 1; i >= 0; i-- { // each is put before those that are there
		lines.Add(fields[i].name, toUTF8(strings.Join(fields[i].lines, " ")))
	}
	return message.Header{Header: lines}, rest, nil
}

// cutLine takes the first line off a text, without its end.
func cutLine(text []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(text, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), rest
}

func isFieldName(name string) bool {
	return name != "" && len(name) <= 100 && !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// split returns the parts between the boundaries of a body, none when there is no
// boundary in it. The last part needs no end.
func split(body []byte, boundary string) (parts [][]byte) {
	if boundary == "" {
		return nil
	}
	delimiter := []byte("--" + boundary)
	begin, inside := 0, false
	for at := 0; at < len(body); {
		line, rest := cutLine(body[at:])
		next := len(body) - len(rest)
		behind, found := bytes.CutPrefix(line, delimiter)
		last := bytes.HasPrefix(behind, []byte("--"))
		if last {
			behind = behind[2:]
		}
		if !found || len(bytes.Trim(behind, " \t")) > 0 {
			at = next
			continue
		}
		if inside {
			parts = append(parts, withoutEnd(body[begin:at]))
		}
		if begin, inside = next, !last; last || len(parts) > maxParts {
			return parts
		}
		at = next
	}
	if inside && begin < len(body) {
		parts = append(parts, body[begin:])
	}
	return parts
}

// withoutEnd takes off the line end that belongs to the boundary behind it.
func withoutEnd(part []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r"))
}
