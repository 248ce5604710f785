package secret

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

// minPart is the minimum number of bytes of a secret that are masked where a text was
// truncated: shorter parts occur in ordinary words.
const minPart = 8

// cuts finds the beginnings of secrets at the end of a text and before an ellipsis, where a
// longer text was truncated.
func (m *Masker) cuts(text string) (found []span) {
	short, long := nextOf(text, "...", 0), nextOf(text, "…", 0)
	for i, end := 0, 0; i < len(text); {
		if i = min(short, long); i == short {
			short = nextOf(text, "...", i+1)
		} else {
			long = nextOf(text, "…", i+1)
		}
		if from := m.beginning(text[end:i]) + end; from < i {
			found = append(found, span{from, i})
			end = i
		}
	}
	return found
}

// halfEscape matches a truncated escape.
var halfEscape = pattern(`(%[0-9A-Fa-f]?|\\(u[0-9A-Fa-f]{0,3})?|&[a-z#0-9]{0,5})$`)

// nextOf returns the index of mark after from, len(text) if there is none.
func nextOf(text, mark string, from int) int {
	from = min(from, len(text))
	if i := strings.Index(text[from:], mark); i >= 0 {
		return from + i
	}
	return len(text)
}

// beginning returns the index of the beginning of a secret at the end of a text, which may
// end within an escape; len(text) if there is none.
func (m *Masker) beginning(text string) int {
	end := len(text)
	if tail := text[max(0, end-6):]; strings.ContainsAny(tail, `%\&`) {
		if at := halfEscape().FindStringIndex(tail); at != nil {
			end -= len(tail) - at[0]
		}
	}
	if end < minPart || !strings.Contains(m.joined, text[end-minPart:end]) {
		return len(text)
	}
	from, longest := len(text), minPart
	for _, form := range m.forms {
		for size := min(len(form)-1, end); size >= longest; size-- {
			if strings.HasSuffix(text[:end], form[:size]) {
				from, longest = end-size, size
			}
		}
	}
	return from
}

// Cut is Address for the beginning of a longer text: it also removes as much of its end as
// the beginning of a secret may take.
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

// cutValue is Value for a truncated body that is not text: {"$base64": text}.
func (m *Masker) cutValue(value any) any {
	object, ok := value.(map[string]any)
	text, isText := object["$base64"].(string)
	if m == nil || !ok || !isText || len(object) != 1 {
		return m.Value(value)
	}
	text = m.Cut(text)
	return map[string]any{"$base64": text[:len(text)/4*4]}
}

// Address is Text for a URL, a form or a line of parameters, where a short secret is
// masked as a complete parameter, path segment or field of a multipart form.
func (m *Masker) Address(text string) string {
	text = m.Text(text)
	if m == nil || len(m.whole) == 0 {
		return text
	}
	if strings.Contains(text, "=") {
		text = m.replaceWhole(parameters, text, url.QueryUnescape)
		text = m.replaceWhole(contents, text, func(text string) (string, error) { return text, nil })
	}
	if strings.Contains(text, "://") {
		text = m.replaceWhole(segments, text, url.PathUnescape)
	}
	return text
}

var (
	// segments match those of the path of a URL.
	segments = pattern(`/([^/?#&\s"'<>]+)`)
	// contents match the fields of a multipart form.
	contents = pattern(`\r\n\r\n([^\r\n]+)`)
)

// replaceWhole masks the last group of every match that is a short secret.
func (m *Masker) replaceWhole(pattern func() *regexp.Regexp, text string, plain func(string) (string, error)) string {
	var out strings.Builder
	end := 0
	for _, at := range pattern().FindAllStringSubmatchIndex(text, -1) {
		from, to := at[len(at)-2], at[len(at)-1]
		value, err := plain(text[from:to])
		if m.whole[text[from:to]] || err == nil && m.whole[value] {
			out.WriteString(text[end:from] + Mask)
			end = to
		}
	}
	return out.String() + text[end:]
}
