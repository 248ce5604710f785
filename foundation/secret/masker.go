package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"blueprintd/blueprint"
)

// Mask replaces a secret.
const Mask = "***"

// shortest is the minimum number of characters of a secret that is searched for inside
// other text. A shorter one would match ordinary words.
const shortest = 6

// Masker replaces secret values in text and JSON: verbatim, in base64, in hexadecimal, with
// any characters escaped as in URLs, JSON and XML, and broken into lines. The nil Masker
// changes nothing. A Masker is safe for concurrent use.
type Masker struct {
	replacer *strings.Replacer
	forms    []string            // what the replacer looks for, the longest first
	heads    map[string][]string // the forms by their first minPart bytes
	head     int                 // bytes of the longest form
	plain    []string            // the secrets, and their unescaped forms
	longest  int                 // bytes that a secret may take
	whole    map[string]bool     // strings too short to search for, masked only if they are the whole text
}

// NewMasker returns a Masker for plain JSON values, nil if there is nothing to mask.
func NewMasker(values []any) *Masker {
	m := &Masker{whole: map[string]bool{}}
	var forms []string
	known := map[string]bool{} // those in plain
	for _, value := range values {
		for _, text := range texts(value) {
			if long(text) {
				forms = append(forms, encodings(text)...)
				m.longest = max(m.longest, 4*len(text)) // as in a query with line breaks
				for _, form := range sent(text) {
					for _, plain := range unescapings(form) {
						if len(strings.Join(strings.Fields(plain), "")) >= 3 && !known[plain] {
							known[plain] = true
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
	// Longest first: a shorter form must not leave the end of a longer one.
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	m.forms, m.heads = forms, map[string][]string{}
	var pairs []string
	for _, form := range forms {
		if m.head = max(m.head, len(form)); len(form) > minPart {
			m.heads[form[:minPart]] = append(m.heads[form[:minPart]], form)
		}
		pairs = append(pairs, form, Mask)
	}
	m.replacer = strings.NewReplacer(pairs...)
	return m
}

// long reports whether a text is searched for inside others.
func long(text string) bool { return utf8.RuneCountInString(text) >= shortest }

// texts returns the strings of a secret: itself, or every leaf of an object or array
// and the whole as JSON. Short numbers, booleans and null are too common.
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
		if read := unescapings(form); len(read) > 1 && utf8.RuneCountInString(strings.TrimSpace(read[1])) >= minPart {
			add(read[1]) // as a service decodes a secret that was put into a URL unescaped
		}
	}
	add(hex.EncodeToString([]byte(text)))
	add(strings.ToUpper(hex.EncodeToString([]byte(text))))
	for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		add(coding.EncodeToString([]byte(text))) // the complete text
	}
	// Inside a longer text, base64 depends on the offset modulo three, and the
	// characters at the ends also encode the neighbours.
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

// sent returns the forms in which a text may be sent: whole, trimmed as in a header and, as
// in a URL, up to a "#" and in the parts between "&".
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
		add(part, minPart)
	}
	return forms
}

// Text replaces every secret in text with Mask.
func (m *Masker) Text(text string) string {
	if m == nil {
		return text
	}
	if m.whole[text] {
		return Mask
	}
	return m.replace(text)
}

// replace masks the secrets that are long enough to be searched for, and their beginnings
// where a text was truncated. Escaped forms come first, because they may contain others.
func (m *Masker) replace(text string) string {
	if len(m.forms) == 0 {
		return text
	}
	text = m.replacer.Replace(m.unescaped(text))
	return masked(text, m.cuts(text))
}

// Value masks the secrets in a plain JSON value, keys included: keys that mask to the same
// text are numbered, as in "***" and "*** (2)". A value without secrets is returned
// unchanged, not copied.
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
		return mapList(v, m.value)
	case map[string]any:
		return mapNamed(v, func(_ string, element any) (any, bool) { return m.value(element) }, m.replace)
	}
	return value, false
}

// mapNamed is mapObject that also renames members by mask.
func mapNamed(object map[string]any, f func(name string, element any) (any, bool), mask func(string) string) (any, bool) {
	var renamed []string
	out, changed := mapObject(object, func(name string, element any) (any, bool) {
		replaced, changed := f(name, element)
		if mask(name) != name {
			renamed, changed = append(renamed, name), true
		}
		return replaced, changed
	})
	rename(out.(map[string]any), renamed, mask)
	return out, changed
}

// rename renames members of an object. Names that are taken get a number, in order.
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

// Exchange returns a masked copy of an exchange. Truncated texts lose their end, which may
// be the beginning of a secret.
func (m *Masker) Exchange(x blueprint.Exchange) blueprint.Exchange {
	if m == nil {
		return x
	}
	x.Request.URL, x.Request.Headers, x.Request.Body = m.Address(x.Request.URL), m.headers(x.Request.Headers), m.body(x.Request.Body, x.Request.Cut)
	x.Error = m.Text(x.Error)
	if x.Fault != nil {
		fault := *x.Fault
		fault.Host, fault.Reason, fault.Hint = m.Text(fault.Host), m.Text(fault.Reason), m.Text(fault.Hint)
		x.Fault = &fault
	}
	if x.Response != nil {
		answer := *x.Response
		answer.Headers, answer.Body = m.headers(answer.Headers), m.body(answer.Body, answer.Cut)
		x.Response = &answer
	}
	return x
}

// StepExchange returns a masked copy of the exchange of a failed step.
func (m *Masker) StepExchange(x *blueprint.StepExchange) *blueprint.StepExchange {
	if m == nil || x == nil {
		return x
	}
	out := *x
	at := &out.Request
	at.URL, at.Headers, at.Body = m.Address(at.URL), m.headers(at.Headers), m.body(at.Body, false)
	at.Host, at.From, at.To, at.Subject = m.Text(at.Host), m.Text(at.From), m.Text(at.To), m.Text(at.Subject)
	if x.Response != nil {
		answer := *x.Response
		answer.Headers, answer.Body, answer.Message = m.headers(answer.Headers), m.body(answer.Body, false), m.Text(answer.Message)
		out.Response = &answer
	}
	return &out
}

func (m *Masker) body(body any, cut bool) any {
	text, ok := body.(string)
	switch {
	case ok && cut:
		return m.Cut(text)
	case ok:
		return m.Address(text) // may be a form
	case cut:
		return m.cutValue(body)
	}
	return m.Value(body)
}

func (m *Masker) headers(headers map[string]string) map[string]string {
	headers = maps.Clone(headers)
	var renamed []string
	for name, value := range headers {
		headers[name] = m.Address(value)
		if m.replace(name) != name {
			renamed = append(renamed, name)
		}
	}
	rename(headers, renamed, m.replace)
	return headers
}

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
	for from := max(0, end-m.head+1); from <= end-minPart; from++ {
		for _, form := range m.heads[text[from:from+minPart]] {
			if len(form) > end-from && strings.HasPrefix(form, text[from:end]) {
				return from
			}
		}
	}
	return len(text)
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
