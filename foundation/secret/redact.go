package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// Redact masks values that look like credentials in a plain JSON value that leaves the
// server: strings and numbers under sensitive names such as password and access_token, such
// parameters of URLs in texts, and texts with the shape of a key. Known secrets are the
// task of a Masker. Templates stay. A value without credentials is returned unchanged.
func Redact(value any) any { return new(Redactor).Value(value) }

// Value is Redact, recording what it masked.
func (r *Redactor) Value(value any) any {
	redacted, _ := r.redact(value)
	return redacted
}

func (r *Redactor) redact(value any) (any, bool) {
	switch v := value.(type) {
	case string:
		out := r.Text(v)
		return out, out != v
	case []any:
		return mapList(v, r.redact)
	case map[string]any:
		return r.object(v, SensitiveName)
	}
	return value, false
}

// object redacts an object; isSensitive decides by the names of its members. An
// object named headers has the names of headers.
func (r *Redactor) object(object map[string]any, isSensitive func(name string) bool) (any, bool) {
	paired := pairedWith(object)
	return mapNamed(object, func(name string, element any) (any, bool) {
		text, isText := element.(string)
		within, isObject := element.(map[string]any)
		credential := isSensitive(name) || name == "value" && isSensitive(paired)
		switch {
		case credential:
			return r.under(element, counted[bare(name)])
		case plurals[bare(name)]:
			return r.each(element)
		case isText && isKey(name, text):
			return r.hide(text), true
		case isObject && strings.EqualFold(name, "headers"):
			return r.object(within, func(name string) bool { return SensitiveHeader(name) || SensitiveName(name) })
		}
		return r.redact(element)
	}, r.Text)
}

// pairedWith returns the name in an object like {"name": "password", "value": "..."},
// as lists of form fields and headers have them.
func pairedWith(object map[string]any) string {
	for _, member := range []string{"name", "key", "field"} {
		if name, ok := object[member].(string); ok {
			return name
		}
	}
	return ""
}

// under masks a value under a sensitive name. If count is set, a number is a count and not
// masked. Templates stay.
func (r *Redactor) under(value any, count bool) (any, bool) {
	switch v := value.(type) {
	case string:
		if v == "" || v == Mask {
			return v, false
		}
		if strings.Contains(v, "{{") {
			return r.redact(v)
		}
		return r.hide(v), true
	case json.Number:
		if count {
			return v, false
		}
		return r.hide(v.String()), true
	case []any:
		return mapList(v, func(element any) (any, bool) { return r.under(element, count) })
	}
	return r.redact(value)
}

// each masks the texts in a list or table of credentials.
func (r *Redactor) each(value any) (any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		return r.under(value, true)
	}
	return mapObject(object, func(_ string, element any) (any, bool) { return r.under(element, true) })
}

// Redactor is Redact that may record what it masked. It is not safe for concurrent
// use; the zero value records nothing.
type Redactor struct {
	records bool
	found   []any
}

// maxFound bounds what a Redactor records.
const maxFound = 1000

// NewRedactor returns a Redactor that records what it masks.
func NewRedactor() *Redactor { return &Redactor{records: true} }

// hide records a text and returns its replacement.
func (r *Redactor) hide(text string) string {
	if r.records && len(r.found) < maxFound {
		r.found = append(r.found, text)
	}
	return Mask
}

// Header redacts the value of a header.
func (r *Redactor) Header(name, value string) string {
	if !SensitiveHeader(name) {
		return r.Text(value)
	}
	r.hide(value)
	return Mask
}

// Masker returns a Masker for what was recorded, also without an authentication scheme,
// without the user name, for single cookies, and unescaped. Texts that are too short to be
// searched for are skipped.
func (r *Redactor) Masker() *Masker {
	var values []any
	add := func(text string) {
		if text != Mask && long(text) {
			values = append(values, text)
		}
	}
	for _, each := range r.found {
		text := each.(string)
		for _, plain := range unescapings(text) {
			add(plain)
		}
		scheme, proof, found := strings.Cut(text, " ")
		if found {
			add(strings.TrimSpace(proof))
		}
		if decoded, err := base64.StdEncoding.DecodeString(strings.TrimSpace(proof)); err == nil && strings.EqualFold(scheme, "basic") {
			text = string(decoded)
		}
		if _, password, found := strings.Cut(text, ":"); found {
			add(strings.TrimSpace(password))
		}
		for part := range strings.SplitSeq(text, ";") {
			if _, value, found := strings.Cut(part, "="); found {
				add(strings.TrimSpace(value))
			}
		}
	}
	return NewMasker(values)
}

// RedactText is Redact for a text: a URL, a form, a body, a line of a log.
func RedactText(text string) string { return new(Redactor).Text(text) }

// Text is RedactText, recording what it masked.
func (r *Redactor) Text(text string) string {
	if len(text) < shortest {
		return text
	}
	if strings.ContainsRune(text, '=') {
		text = r.parameters(text)
		text = r.replace(fields, text, func(name, _ string) bool { return SensitiveName(name) })
	}
	if strings.Contains(text, "://") {
		text = r.replace(users, text, always)
	}
	if strings.ContainsRune(text, '<') {
		text = r.replace(elements, text, func(name, value string) bool { return SensitiveName(name) && isLiteral(value) })
	}
	if strings.ContainsRune(text, ':') {
		text = r.replace(members, text, sensitiveMember)
		text = r.replace(escaped, text, sensitiveMember)
		text = r.replace(pairs, text, sensitiveMember)
		text = r.replace(headers, text, always)
		text = r.replace(prose, text, sensitiveWord)
	}
	if strings.ContainsAny(text, ":=") {
		for _, quoted := range assignments {
			text = r.replace(quoted, text, sensitiveAssignment)
		}
	}
	text = r.replace(schemes, text, always)
	text = r.replace(bots, text, always)
	text = r.replace(hooks, text, always)
	return r.replace(shapes, text, always)
}

// parameters redacts name=value in a query, a fragment, a form or a cookie.
func (r *Redactor) parameters(text string) string {
	var out strings.Builder
	end := 0
	for _, at := range parameters().FindAllStringSubmatchIndex(text, -1) {
		name := text[at[4]:at[5]]
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		before := text[at[2]:at[3]]
		delimited := before == "?" || before == "&" || at[0] == 0 && at[1] < len(text) && text[at[1]] == '&'
		if sensitiveParameter(name, delimited) {
			out.WriteString(text[end:at[6]] + r.hide(text[at[6]:at[7]]))
			end = at[7]
		}
	}
	return out.String() + text[end:]
}

// replace masks the group "value" of every match, or the whole match without such a
// group, if isSensitive says so for the groups "name" and "value".
func (r *Redactor) replace(pattern func() *regexp.Regexp, text string, isSensitive func(name, value string) bool) string {
	var out strings.Builder
	end, expression := 0, pattern()
	name, value := max(0, expression.SubexpIndex("name")), max(0, expression.SubexpIndex("value"))
	for _, at := range expression.FindAllStringSubmatchIndex(text, -1) {
		group := func(i int) (from, to int) { return at[2*i], at[2*i+1] }
		nameFrom, nameTo := group(name)
		from, to := group(value)
		if hidden := text[from:to]; isSensitive(text[nameFrom:nameTo], hidden) {
			out.WriteString(text[end:from] + r.hide(hidden))
			end = to
		}
	}
	return out.String() + text[end:]
}

func always(string, string) bool { return true }

// isLiteral reports whether a value is neither blank nor a template.
func isLiteral(value string) bool {
	return !strings.Contains(value, "{{") && !strings.Contains(value, "${") && strings.TrimSpace(value) != ""
}

func sensitiveMember(name, value string) bool {
	return (SensitiveName(name) || isKey(name, value)) && !strings.Contains(value, "{{")
}

// kinds are values that describe a credential instead of being one.
var kinds = set("boolean", "false", "number", "null", "object", "password", "required", "string", "text", "true", "undefined")

// sensitiveAssignment is for name = 'value' in code.
func sensitiveAssignment(name, value string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return sensitiveMember(name, value) && isLiteral(value) && !kinds[bare(value)] && strings.TrimSpace(value) == value
}

// sensitiveWord is for name: value in a text. A word without digits or symbols may be
// prose or the name of a variable.
func sensitiveWord(name, value string) bool {
	least := shortest
	if short := bare(name); short == "pin" || short == "otp" || short == "passcode" {
		least = 4
	}
	return len(value) >= least && SensitiveName(name) && isLiteral(value) && !access().MatchString(value) && strings.ContainsAny(value, "0123456789-!@#%^&*+=?/~") && !strings.Contains(value, "://")
}

// access matches a member of a variable in code.
var access = pattern(`^[A-Za-z_$][A-Za-z0-9_$]*(?:\??\.[A-Za-z_$][A-Za-z0-9_$]*)+$`)

var (
	// parameters match name=value in queries, fragments, forms and cookies, not templates.
	parameters = pattern(`(^|[?&;#\s"'])([A-Za-z0-9_.%\[\]-]{1,100})=([^&;#\s"'<>{}\\]+)`)
	// fields match those of a multipart form.
	fields = pattern(`(?i:name)="(?P<name>[^"\r\n]{1,100})"\r\n(?:[^\r\n]+\r\n)*\r\n(?P<value>[^\r\n]+)`)
	// users match a user and password, or either, in a URL.
	users = pattern(`[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<value>[^/?#@\s"'<>{}]{1,400})@`)
	// elements match those of XML without child elements.
	elements = pattern(`<(?:[A-Za-z0-9_.-]{1,100}:)?(?P<name>[A-Za-z0-9_.-]{1,100})(?:\s[^<>]*)?>(?:<!\[CDATA\[)?(?P<value>[^<>]+?)(?:\]\]>)?</`)
	// members match those of JSON inside a text, escaped those of JSON in a JSON
	// string, pairs two of them, as in {"name": "password", "value": "..."}.
	members = pattern(`"(?P<name>[A-Za-z0-9_. -]{1,100})"\s{0,10}:\s{0,10}"(?P<value>(?:[^"\\]|\\.)+)`)
	escaped = pattern(`\\"(?P<name>[A-Za-z0-9_. -]{1,100})\\"\s{0,10}:\s{0,10}\\"(?P<value>(?:[^"\\]|\\\\.)+)`)
	pairs   = pattern(`"(?:name|key|field)"\s{0,10}:\s{0,10}"(?P<name>[A-Za-z0-9_. -]{1,100})"\s{0,10},\s{0,10}"value"\s{0,10}:\s{0,10}"(?P<value>(?:[^"\\]|\\.)+)`)
	// assignments match those of code, one pattern for each kind of quotes.
	assignments = []func() *regexp.Regexp{assignment(`"`), assignment(`'`), assignment("`")}
	// prose matches name: value.
	prose = pattern(`\b(?P<name>[A-Za-z][A-Za-z0-9_.-]{1,40}|(?i:api|access|private|secret)[ ](?i:key|token)):[ \t]+(?P<value>[^\s"'<>{}()\[\]\\,;\x60]+?)(?:\.?(?:\s|$))`)
	// headers match headers inside a text.
	headers = pattern(`(?i)\b(?:authorization|cookie):[ \t]*(?P<value>[^\s"'<>{}\\][^\r\n"'<>{}\\]*)`)
	// schemes match credentials after an authentication scheme (RFC 9110, 11.4).
	schemes = pattern(`(?i)\b(?:bearer|basic)[ \t]+(?P<value>[A-Za-z0-9._~+/=-]{16,})`)
	// bots match the tokens in Telegram URLs.
	bots = pattern(`/bot[0-9]{5,20}:(?P<value>[A-Za-z0-9_-]+)`)
	// hooks match URLs that are credentials themselves.
	hooks = pattern(`(?:\bhooks\.slack\.com/(?:services|workflows|triggers)/|\bdiscord(?:app)?\.com/api/webhooks/|\.webhook\.office\.com/webhookb2/)(?P<value>[A-Za-z0-9_/@-]+)`)
	// shapes match well-known kinds of keys.
	shapes = pattern(`\b(?:bpd_[A-Za-z0-9]{40,}|sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|` +
		`glpat-[A-Za-z0-9_-]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|whsec_[A-Za-z0-9+/=]{16,}|` +
		`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?)?`)
)

// assignment matches a name, perhaps in quotes and brackets, and the assigned text.
func assignment(quote string) func() *regexp.Regexp {
	return pattern(`(?P<name>[A-Za-z_$][A-Za-z0-9_.$-]{0,99})["'\x60]?\]?\s{0,5}(?:=|:=|:|=>)\s{0,5}` + quote + `(?P<value>[^\r\n` + quote + `\\]+)` + quote)
}

// pattern returns a regular expression that is compiled at its first use.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
