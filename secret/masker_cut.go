package secret

import (
	"net/url"
	"strings"
	"unicode/utf8"
)

// Cut is Text for the beginning of a longer text: it leaves out as much at the
// end as the beginning of a secret may take there.
func (m *Masker) Cut(text string) string {
	if m == nil {
		return text
	}
	text = m.Address(text)
	end := max(0, len(text)-m.longest)
	for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// CutValue is Value for a body that was cut and is no text: in {"$base64": text}
// the text is cut.
func (m *Masker) CutValue(value any) any {
	object, ok := value.(map[string]any)
	text, isText := object["$base64"].(string)
	if m == nil || !ok || !isText || len(object) != 1 {
		return m.Value(value)
	}
	text = m.Cut(text)
	return map[string]any{"$base64": text[:len(text)/4*4]}
}

// Address is Text for an address, a form or a line of parameters: a secret that
// is too short to be searched for is found as the whole value of one.
func (m *Masker) Address(text string) string {
	text = m.Text(text)
	if m == nil || len(m.whole) == 0 || !strings.Contains(text, "=") {
		return text
	}
	return parameters.ReplaceAllStringFunc(text, func(found string) string {
		at := strings.IndexByte(found, '=')
		value, err := url.QueryUnescape(found[at+1:])
		if err != nil {
			value = found[at+1:]
		}
		if m.whole[value] || m.whole[found[at+1:]] {
			return found[:at+1] + Mask
		}
		return found
	})
}
