package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Mask stands in the place of a secret.
const Mask = "***"

// shortest is how many characters a secret must have to be searched for inside
// other text; a shorter one would blot out innocent words.
const shortest = 6

// Masker takes secret values out of text and JSON: as they are, in base64, in
// hexadecimal, with any of their characters escaped as addresses, JSON and XML
// escape them, and broken into lines. The nil Masker changes nothing. A Masker is safe for concurrent use.
type Masker struct {
	replacer *strings.Replacer
	forms    []string        // what the replacer looks for, the longest first
	joined   string          // the forms one after the other
	plain    []string        // the secrets, and what they say without escapes
	longest  int             // bytes of the longest form
	whole    map[string]bool // strings too short to search for, masked when they stand alone
}

// NewMasker takes the secret values: strings as they are, anything else by its
// JSON. It returns nil when there is nothing to hide.
func NewMasker(values []any) *Masker {
	m := &Masker{whole: map[string]bool{}}
	var forms []string
	for _, value := range values {
		for _, text := range texts(value) {
			if long(text) {
				forms = append(forms, encodings(text)...)
				for _, form := range sent(text) {
					for _, plain := range unescapings(form) {
						if len(strings.Join(strings.Fields(plain), "")) >= 3 && !slices.Contains(m.plain, plain) {
							m.plain = append(m.plain, plain)
						}
					}
				}
			} else if text != "" {
				m.whole[text] = true
			}
		}
	}
	if len(forms) == 0 && len(m.whole) == 0 {
		return nil
	}
	// The longest first, so that no form leaves the tail of a longer one behind.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	if len(forms) > 0 {
		m.longest = len(forms[0])
	}
	for _, plain := range m.plain {
		m.longest = max(m.longest, 3*len(plain)) // as in a query
	}
	m.longest += m.longest / 4 // line breaks
	m.forms, m.joined = forms, strings.Join(forms, "\x00")
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, Mask)
	}
	m.replacer = strings.NewReplacer(pairs...)
	return m
}

// long reports whether a text is searched for inside others.
func long(text string) bool { return utf8.RuneCountInString(text) >= shortest }

// texts returns the strings that a secret consists of: itself, or every leaf of
// an object or array and the whole as JSON. Short numbers are everywhere, so
// they are left out, as are true, false and null.
func texts(value any) []string {
	switch v := value.(type) {
	case nil, bool:
		return nil
	case string:
		return []string{v}
	case json.Number:
		if long(v.String()) {
			return []string{v.String()}
		}
	case []any:
		out := whole(v)
		for _, element := range v {
			out = append(out, texts(element)...)
		}
		return out
	case map[string]any:
		out := whole(v)
		for _, element := range v {
			out = append(out, texts(element)...)
		}
		return out
	}
	return nil
}

func whole(value any) []string {
	data, err := blueprint.Encode(value)
	if err != nil || !long(string(data)) {
		return nil
	}
	return []string{string(data)}
}

// encodings returns the forms in which a text is searched for.
func encodings(text string) []string {
	var forms []string
	add := func(form string) {
		if len(form) >= shortest && !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	for _, form := range sent(text) {
		add(form)
		if read := unescapings(form); len(read) > 1 && utf8.RuneCountInString(strings.TrimSpace(read[1])) >= leastPart {
			add(read[1]) // as a service reads one that was put into an address as it is
		}
	}
	add(hex.EncodeToString([]byte(text)))
	add(strings.ToUpper(hex.EncodeToString([]byte(text))))
	for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		add(coding.EncodeToString([]byte(text))) // the text alone, to its last character
	}
	// Base64 of a text inside a longer one depends on how far it stands from a
	// multiple of three; the characters at the ends mix with their neighbours.
	for lead := range 3 {
		padded := append(make([]byte, lead), text...)
		for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			form := coding.EncodeToString(padded)
			from := []int{0, 2, 3}[lead]
			to := len(form)
			if len(padded)%3 != 0 {
				to--
			}
			add(form[from:to])
		}
	}
	return forms
}

// sent returns a text as it may be sent: whole, without the spaces around it, as a
// header goes out, and, as an address does, to a number sign and in the parts
// between ampersands.
func sent(text string) []string {
	forms := []string{text}
	add := func(form string, least int) {
		if form = strings.TrimSpace(form); utf8.RuneCountInString(form) >= least && !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	head, _, _ := strings.Cut(text, "#")
	add(text, shortest)
	add(head, shortest)
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '&' || r == '#' }) {
		add(part, leastPart)
	}
	return forms
}

// Text masks what is secret in a text.
func (m *Masker) Text(text string) string {
	if m == nil {
		return text
	}
	if m.whole[text] {
		return Mask
	}
	return m.replace(text)
}

// replace masks what is long enough to be searched for. What is escaped comes
// first: there a secret is found that has another one within it.
func (m *Masker) replace(text string) string {
	return m.beginnings(m.replacer.Replace(m.unescaped(text)))
}

// Value masks what is secret in a plain JSON value, keys included: keys that mask
// to the same text are numbered, as in "***" and "*** (2)". What holds nothing
// secret is returned as it is, not copied.
func (m *Masker) Value(value any) any {
	if m == nil {
		return value
	}
	masked, _ := m.value(value)
	return masked
}

func (m *Masker) value(value any) (any, bool) {
	switch v := value.(type) {
	case string:
		masked := m.Text(v)
		return masked, masked != v
	case json.Number:
		masked := m.Text(v.String())
		if masked == v.String() {
			return v, false
		}
		return masked, true
	case []any:
		var out []any
		for i, element := range v {
			masked, changed := m.value(element)
			if changed && out == nil {
				out = append(make([]any, 0, len(v)), v[:i]...)
			}
			if out != nil {
				out = append(out, masked)
			}
		}
		if out == nil {
			return v, false
		}
		return out, true
	case map[string]any:
		var out map[string]any
		var renamed []string
		for key, element := range v {
			masked, changed := m.value(element)
			hidden := m.replace(key) != key
			if !changed && !hidden {
				continue
			}
			if out == nil {
				out = maps.Clone(v)
			}
			out[key] = masked
			if hidden {
				renamed = append(renamed, key)
			}
		}
		if out == nil {
			return v, false
		}
		rename(out, renamed, m.replace)
		return out, true
	}
	return value, false
}

// rename renames members of an object. A name that is taken gets a number behind
// it; which of several members gets which does not depend on chance.
func rename[V any](object map[string]V, names []string, to func(string) string) {
	slices.Sort(names)
	values := make([]V, len(names))
	for i, name := range names {
		values[i] = object[name]
		delete(object, name)
	}
	last := map[string]int{} // number of the last one of a name
	for i, name := range names {
		shown := to(name)
		free := shown
		for n := max(1, last[shown]); ; {
			if _, taken := object[free]; !taken {
				last[shown] = n
				break
			}
			n++
			free = fmt.Sprintf("%s (%d)", shown, n)
		}
		object[free] = values[i]
	}
}
