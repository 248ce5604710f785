package outbound

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime"
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"

	"blueprintd/blueprint"
)

// Text returns a body as UTF-8: decoded from the charset that its byte order mark, its
// content type, or a declaration in HTML or XML names. Invalid bytes become U+FFFD. Text in
// an unknown charset is read as UTF-8. It returns the body unchanged and false if the body
// is not UTF-8 and names no charset, or names an unknown one and is not of a textual type.
func Text(contentType string, body []byte) (text []byte, ok bool) {
	from := encodingOf(contentType, body)
	if from == nil {
		return body, utf8.Valid(body)
	}
	text, err := from.NewDecoder().Bytes(body)
	if err != nil {
		return body, utf8.Valid(body)
	}
	return bytes.TrimPrefix(text, []byte("\ufeff")), true
}

// xmlEncoding matches the encoding that an XML declaration names (XML 1.0, 2.8).
var xmlEncoding = regexp.MustCompile(`^\s*<\?xml[^>]{0,200}\sencoding\s*=\s*["']([A-Za-z][A-Za-z0-9._-]*)["']`)

// encodingOf returns the encoding of a body, nil for UTF-8 and unknown ones.
func encodingOf(contentType string, body []byte) encoding.Encoding {
	kind, parameters, _ := mime.ParseMediaType(contentType)
	isHTML := kind == "text/html" || kind == "application/xhtml+xml"
	isXML := kind == "text/xml" || kind == "application/xml" || strings.HasSuffix(kind, "+xml")
	isText := isXML || strings.HasPrefix(kind, "text/") || blueprint.IsJSONMedia(kind)
	declared := strings.TrimSpace(parameters["charset"])
	if declared != "" || isText {
		switch {
		case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
			return nil
		case bytes.HasPrefix(body, []byte("\xfe\xff")):
			declared = "utf-16be"
		case bytes.HasPrefix(body, []byte("\xff\xfe")):
			declared = "utf-16le"
		}
	}
	if declared == "" && isText8(body) { // UTF-8 whatever it declares
		return nil
	}
	if found := xmlEncoding.FindSubmatch(body[:min(len(body), 1024)]); declared == "" && isXML && found != nil {
		declared = string(found[1])
	}
	if declared == "" && isHTML {
		_, declared, _ = charset.DetermineEncoding(body, contentType)
	}
	from, name := charset.Lookup(declared)
	switch name {
	case "replacement": // a charset that is not decoded for safety
		from = nil
	case "utf-8":
		if utf8.Valid(body) {
			return nil
		}
	}
	if from == nil && declared != "" && isText && !utf8.Valid(body) {
		return unicode.UTF8
	}
	return from
}

// isText8 reports whether a body is UTF-8 with characters beyond ASCII, which text in other
// charsets almost never is.
func isText8(body []byte) bool {
	return utf8.Valid(body) && bytes.ContainsFunc(body, func(r rune) bool { return r >= utf8.RuneSelf })
}

// declaredEncoding returns the encoding of a content type, nil for UTF-8 and unknown ones.
func declaredEncoding(contentType string) encoding.Encoding {
	_, parameters, _ := mime.ParseMediaType(contentType)
	from, name := charset.Lookup(strings.TrimSpace(parameters["charset"]))
	if name == "utf-8" || name == "replacement" {
		return nil
	}
	return from
}

// BodyValue is blueprint.BodyValue for a body in the charset of its content type.
// Text that does not encode to the same bytes is stored as base64.
func BodyValue(contentType string, body []byte) any {
	from := declaredEncoding(contentType)
	if from == nil || len(body) == 0 {
		return blueprint.BodyValue(contentType, body)
	}
	text, err := from.NewDecoder().Bytes(body)
	if err == nil {
		var again []byte
		if again, err = from.NewEncoder().Bytes(text); err == nil && bytes.Equal(again, body) {
			return blueprint.BodyValue(contentType, text)
		}
	}
	return map[string]any{base64Key: base64.StdEncoding.EncodeToString(body)}
}

// BodyBytes is the inverse of BodyValue.
func BodyBytes(contentType string, value any) []byte {
	data := blueprint.BodyBytes(value)
	to := declaredEncoding(contentType)
	if object, ok := value.(map[string]any); to == nil || ok && len(object) == 1 && object[base64Key] != nil {
		return data
	}
	if _, isText := value.(string); !isText {
		data = escaped(data)
	}
	out, err := encoding.ReplaceUnsupported(to.NewEncoder()).Bytes(data)
	if err != nil {
		return data
	}
	return out
}

// base64Key is the only member of a body that is not JSON or text; see blueprint.BodyValue.
const base64Key = "$base64"

// escaped returns JSON in ASCII, which every charset can encode.
func escaped(data []byte) []byte {
	var out []byte
	for _, c := range string(data) {
		switch high, low := utf16.EncodeRune(c); {
		case c < utf8.RuneSelf:
			out = append(out, byte(c))
		case c < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, c)
		default:
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return out
}
