package secret

import (
	"net/url"
	"regexp"
	"strings"
)

// RedactText is Redact for one text: an address, a form, a body, a line of a log.
func RedactText(text string) string { return new(Redactor).Text(text) }

// Text is RedactText.
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
		text = r.replace(elements, text, func(name, value string) bool { return SensitiveName(name) && written(value) })
	}
	if strings.ContainsRune(text, ':') {
		text = r.replace(members, text, tellingMember)
		text = r.replace(escaped, text, tellingMember)
		text = r.replace(pairs, text, tellingMember)
		text = r.replace(headers, text, always)
		text = r.replace(said, text, tellingWord)
	}
	if strings.ContainsAny(text, ":=") {
		for _, quoted := range assignments {
			text = r.replace(quoted, text, tellingAssignment)
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
	for _, at := range parameters.FindAllStringSubmatchIndex(text, -1) {
		name := text[at[4]:at[5]]
		if decoded, err := url.QueryUnescape(name); err == nil {
			name = decoded
		}
		before := text[at[2]:at[3]]
		between := before == "?" || before == "&" || at[0] == 0 && at[1] < len(text) && text[at[1]] == '&'
		if tellingQuery(name, between) {
			out.WriteString(text[end:at[6]] + r.hide(text[at[6]:at[7]]))
			end = at[7]
		}
	}
	return out.String() + text[end:]
}

// replace hides the group "value" of what a pattern finds, or all of it when it has
// none, if that tells of a credential by the group "name".
func (r *Redactor) replace(pattern *regexp.Regexp, text string, tells func(name, value string) bool) string {
	var out strings.Builder
	end := 0
	name, value := pattern.SubexpIndex("name"), max(0, pattern.SubexpIndex("value"))
	for _, at := range pattern.FindAllStringSubmatchIndex(text, -1) {
		called, hidden := "", text[at[2*value]:at[2*value+1]]
		if name > 0 {
			called = text[at[2*name]:at[2*name+1]]
		}
		if tells(called, hidden) {
			out.WriteString(text[end:at[2*value]] + r.hide(hidden))
			end = at[2*value+1]
		}
	}
	return out.String() + text[end:]
}

func always(string, string) bool { return true }

// written tells that a value is none that a template puts there.
func written(value string) bool {
	return !strings.Contains(value, "{{") && !strings.Contains(value, "${") && strings.TrimSpace(value) != ""
}

func tellingMember(name, value string) bool {
	return (SensitiveName(name) || tellingKey(name, value)) && !strings.Contains(value, "{{")
}

// kinds are what code and texts say in the place of a credential.
var kinds = names("boolean", "false", "number", "null", "object", "password", "required", "string", "text", "true", "undefined")

// tellingAssignment tells of a name = 'value' in code.
func tellingAssignment(name, value string) bool {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return tellingMember(name, value) && written(value) && !kinds[bare(value)] && strings.TrimSpace(value) == value
}

// tellingWord tells of name: value in a text. A word alone may be anything, as what
// a text says of a password, or the name of a variable.
func tellingWord(name, value string) bool {
	least := shortest
	if short := bare(name); short == "pin" || short == "otp" || short == "passcode" {
		least = 4
	}
	return len(value) >= least && SensitiveName(name) && written(value) && !access.MatchString(value) && strings.ContainsAny(value, "0123456789-!@#%^&*+=?/~") && !strings.Contains(value, "://")
}

// access is a member of a variable in code.
var access = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*(?:\??\.[A-Za-z_$][A-Za-z0-9_$]*)+$`)

var (
	// parameters are name=value in a query, a fragment, a form or a cookie. A
	// value that is a template is none.
	parameters = regexp.MustCompile(`(^|[?&;#\s"'])([A-Za-z0-9_.%\[\]-]{1,100})=([^&;#\s"'<>{}\\]+)`)
	// fields are those of a multipart form.
	fields = regexp.MustCompile(`(?i:name)="(?P<name>[^"\r\n]{1,100})"\r\n(?:[^\r\n]+\r\n)*\r\n(?P<value>[^\r\n]+)`)
	// users are a name and a password, or either, in an address.
	users = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<value>[^/?#@\s"'<>{}]{1,400})@`)
	// elements are those of XML that hold no others.
	elements = regexp.MustCompile(`<(?:[A-Za-z0-9_.-]{1,100}:)?(?P<name>[A-Za-z0-9_.-]{1,100})(?:\s[^<>]*)?>(?:<!\[CDATA\[)?(?P<value>[^<>]+?)(?:\]\]>)?</`)
	// members are those of JSON inside a text, and escaped those of JSON in a text
	// of JSON; pairs are two of them, as {"name": "password", "value": "..."}.
	members = regexp.MustCompile(`"(?P<name>[A-Za-z0-9_. -]{1,100})"\s{0,10}:\s{0,10}"(?P<value>(?:[^"\\]|\\.)+)`)
	escaped = regexp.MustCompile(`\\"(?P<name>[A-Za-z0-9_. -]{1,100})\\"\s{0,10}:\s{0,10}\\"(?P<value>(?:[^"\\]|\\\\.)+)`)
	pairs   = regexp.MustCompile(`"(?:name|key|field)"\s{0,10}:\s{0,10}"(?P<name>[A-Za-z0-9_. -]{1,100})"\s{0,10},\s{0,10}"value"\s{0,10}:\s{0,10}"(?P<value>(?:[^"\\]|\\.)+)`)
	// assignments are those of code, in each kind of quotes.
	assignments = []*regexp.Regexp{assignment(`"`), assignment(`'`), assignment("`")}
	// said is what a text says.
	said = regexp.MustCompile(`\b(?P<name>[A-Za-z][A-Za-z0-9_.-]{1,40}|(?i:api|access|private|secret)[ ](?i:key|token)):[ \t]+(?P<value>[^\s"'<>{}()\[\]\\,;` + "`" + `]+?)(?:\.?(?:\s|$))`)
	// headers are those that a text repeats.
	headers = regexp.MustCompile(`(?i)\b(?:authorization|cookie):[ \t]*(?P<value>[^\s"'<>{}\\][^\r\n"'<>{}\\]*)`)
	// schemes come before what proves somebody (RFC 9110, 11.4).
	schemes = regexp.MustCompile(`(?i)\b(?:bearer|basic)[ \t]+(?P<value>[A-Za-z0-9._~+/=-]{16,})`)
	// bots are in the addresses of Telegram.
	bots = regexp.MustCompile(`/bot[0-9]{5,20}:(?P<value>[A-Za-z0-9_-]+)`)
	// hooks are addresses of services that are credentials themselves.
	hooks = regexp.MustCompile(`(?:\bhooks\.slack\.com/(?:services|workflows|triggers)/|\bdiscord(?:app)?\.com/api/webhooks/|\.webhook\.office\.com/webhookb2/)(?P<value>[A-Za-z0-9_/@-]+)`)
	// shapes are what keys of well-known kinds look like.
	shapes = regexp.MustCompile(`\b(?:bpd_[A-Za-z0-9]{40,}|sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|` +
		`glpat-[A-Za-z0-9_-]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|whsec_[A-Za-z0-9+/=]{16,}|` +
		`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?)?`)
)

// assignment is a name, which may stand in quotes and brackets, and what is assigned.
func assignment(quote string) *regexp.Regexp {
	return regexp.MustCompile(`(?P<name>[A-Za-z_$][A-Za-z0-9_.$-]{0,99})["'` + "`" + `]?\]?\s{0,5}(?:=|:=|:|=>)\s{0,5}` + quote + `(?P<value>[^\r\n` + quote + `\\]+)` + quote)
}
