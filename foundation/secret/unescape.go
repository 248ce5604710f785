package secret

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes are the first characters of escapes in URLs, forms, JSON and XML.
const escapes = `%+\&`

// layers is the maximum number of escapings of a text: a URL in a form in JSON.
const layers = 3

// unescape decodes one layer of escapes. at holds the original offset of each byte
// of text and of its end, from those of the result. unit decodes one character.
func unescape(text string, at []int, unit func(string) (string, int)) (plain string, from []int) {
	out := make([]byte, 0, len(text))
	from = make([]int, 0, len(at))
	for i := 0; i < len(text); {
		piece, size := unit(text[i:])
		for range len(piece) {
			from = append(from, at[i])
		}
		out = append(out, piece...)
		i += size
	}
	return string(out), append(from, at[len(text)])
}

// places returns the offsets of an original text.
func places(text string) []int {
	at := make([]int, len(text)+1)
	for i := range at {
		at[i] = i
	}
	return at
}

// unescapings returns a text and the results of decoding its escapes layer by layer.
func unescapings(text string) []string {
	all := []string{text}
	for at := places(text); len(all) <= layers && strings.ContainsAny(text, escapes); all = append(all, text) {
		text, at = unescape(text, at, unit)
	}
	return all
}

// entities are the common ones of XML.
var entities = map[string]string{"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": `"`, "&apos;": "'", "&#34;": `"`, "&#39;": "'"}

// percent is unit for texts in which only %XX is an escape, such as names of parts.
func percent(text string) (piece string, size int) {
	if text[0] == '%' {
		return unit(text)
	}
	return text[:1], 1
}

// unit decodes the first character of a text and returns its size in bytes.
func unit(text string) (piece string, size int) {
	switch text[0] {
	case '+':
		return " ", 1
	case '%':
		if c, ok := hexadecimal(text, 1, 3); ok {
			return string([]byte{byte(c)}), 3
		}
	case '&':
		entity := text[:strings.IndexByte(text[:min(len(text), 6)], ';')+1]
		if piece, ok := entities[entity]; ok {
			return piece, len(entity)
		}
	case '\\':
		if len(text) < 2 {
			break
		}
		if i := strings.IndexByte(`"\/nrtbf`, text[1]); i >= 0 {
			return "\"\\/\n\r\t\b\f"[i : i+1], 2
		}
		c, ok := hexadecimal(text, 2, 6)
		if text[1] != 'u' || !ok {
			break
		}
		if low, ok := hexadecimal(text, 8, 12); ok && utf16.IsSurrogate(c) && text[6:8] == `\u` {
			if whole := utf16.DecodeRune(c, low); whole != utf8.RuneError {
				return string(whole), 12
			}
		}
		return string(c), 6
	}
	return text[:1], 1
}

func hexadecimal(text string, from, to int) (rune, bool) {
	if len(text) < to {
		return 0, false
	}
	n, err := strconv.ParseUint(text[from:to], 16, 32)
	return rune(n), err == nil
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// unescaped masks secrets with escaped characters or line breaks.
func (m *Masker) unescaped(text string) string {
	escaped := strings.ContainsAny(text, escapes)
	if !escaped && !strings.ContainsAny(text, lineEnds) {
		return text
	}
	found := m.across(nil, text, nil)
	search := func(plain string, at []int) {
		for _, form := range m.plain {
			for i := 0; ; {
				next := strings.Index(plain[i:], form)
				if next < 0 {
					break
				}
				i += next + len(form)
				found = append(found, span{at[i-len(form)], at[i]})
			}
		}
		for _, cut := range m.cuts(plain) {
			found = append(found, span{at[cut.from], at[cut.to]})
		}
		found = m.across(found, plain, at)
	}
	if escaped {
		plain, at := text, places(text)
		for range layers {
			if !strings.ContainsAny(plain, escapes) {
				break
			}
			plain, at = unescape(plain, at, unit)
			search(plain, at)
		}
		if strings.Contains(text, "%") && strings.ContainsAny(text, `\+&`) {
			search(unescape(text, places(text), percent))
		}
	}
	return masked(text, found)
}

// masked masks spans of a text, which may overlap.
func masked(text string, found []span) string {
	if len(found) == 0 {
		return text
	}
	slices.SortFunc(found, func(a, b span) int { return a.from - b.from })
	var out strings.Builder
	end := 0
	for _, each := range found {
		if each.from >= end {
			out.WriteString(text[end:each.from] + Mask)
		}
		end = max(end, each.to)
	}
	return out.String() + text[end:]
}

// lineEnds occur inside secrets as base64 encoders write them.
const lineEnds = "\r\n"

var withoutLineEnds = strings.NewReplacer("\r", "", "\n", "")

// across appends the spans of secrets that are broken into lines. at is that of
// unescape, nil for the original text.
func (m *Masker) across(found []span, text string, at []int) []span {
	if !strings.ContainsAny(text, lineEnds) {
		return found
	}
	joined := withoutLineEnds.Replace(text)
	if m.replacer.Replace(joined) == joined {
		return found
	}
	from := make([]int, 0, len(joined)) // where in the text each byte is
	for i := range len(text) {
		if text[i] != '\r' && text[i] != '\n' {
			from = append(from, i)
		}
	}
	for _, form := range m.forms {
		for i := 0; ; {
			next := strings.Index(joined[i:], form)
			if next < 0 {
				break
			}
			i += next + len(form)
			first, behind := from[i-len(form)], from[i-1]+1
			if at != nil {
				first, behind = at[first], at[behind]
			}
			found = append(found, span{first, behind})
		}
	}
	return found
}
