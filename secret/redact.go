package secret

import (
	"encoding/json"
	"net/url"
	"regexp"
	"strings"
)

// Redact takes out of a plain JSON value what looks like a credential, whoever
// knows of it: the strings and numbers under telling names such as password and
// access_token, such parameters of the addresses in texts, and texts that have
// the shape of a key. It is for what leaves the server; values that are known to
// be secret are a Masker's. Templates stay. What holds nothing is returned as it
// is, not copied.
func Redact(value any) any {
	redacted, _ := redact(value)
	return redacted
}

func redact(value any) (any, bool) {
	switch v := value.(type) {
	case string:
		out := RedactText(v)
		return out, out != v
	case []any:
		var out []any
		for i, element := range v {
			redacted, changed := redact(element)
			if changed && out == nil {
				out = append(make([]any, 0, len(v)), v[:i]...)
			}
			if out != nil {
				out = append(out, redacted)
			}
		}
		if out == nil {
			return v, false
		}
		return out, true
	case map[string]any:
		return redactObject(v, TellingMember)
	}
	return value, false
}

// redactObject redacts an object, of whose members some tell of a credential.
// What is called headers has names of headers.
func redactObject(object map[string]any, tells func(name string) bool) (any, bool) {
	var out map[string]any
	for name, element := range object {
		var redacted any
		var changed bool
		within, isObject := element.(map[string]any)
		switch {
		case tells(name):
			redacted, changed = hideUnder(element)
		case isObject && strings.EqualFold(name, "headers"):
			redacted, changed = redactObject(within, func(name string) bool { return TellingHeader(name) || TellingMember(name) })
		default:
			redacted, changed = redact(element)
		}
		shown := RedactText(name)
		if !changed && shown == name {
			continue
		}
		if out == nil {
			out = make(map[string]any, len(object))
			for n, e := range object {
				out[n] = e
			}
		}
		delete(out, name)
		out[shown] = redacted
	}
	if out == nil {
		return object, false
	}
	return out, true
}

// hideUnder hides what stands under a telling name. What a template puts there
// is not written there.
func hideUnder(value any) (any, bool) {
	switch v := value.(type) {
	case string:
		if v == "" || v == Mask {
			return v, false
		}
		if strings.Contains(v, "{{") {
			return redact(v)
		}
		return Mask, true
	case json.Number:
		return Mask, true
	case []any:
		out, changed := make([]any, len(v)), false
		for i, element := range v {
			hidden, hid := hideUnder(element)
			out[i], changed = hidden, changed || hid
		}
		if changed {
			return out, true
		}
		return v, false
	}
	return redact(value)
}

// RedactText is Redact for one text: an address, a form, a body, a line of a log.
func RedactText(text string) string {
	if len(text) < shortest {
		return text
	}
	if strings.ContainsAny(text, "=") {
		text = parameters.ReplaceAllStringFunc(text, func(found string) string {
			at := strings.IndexByte(found, '=')
			name := strings.TrimLeft(found[:at], "?&;# \t\r\n\"'")
			if decoded, err := url.QueryUnescape(name); err == nil {
				name = decoded
			}
			if !tellingQuery(name) {
				return found
			}
			return found[:at+1] + Mask
		})
		text = fields.ReplaceAllStringFunc(text, func(found string) string {
			parts := fields.FindStringSubmatch(found)
			if !TellingMember(parts[2]) {
				return found
			}
			return parts[1] + Mask
		})
	}
	if strings.Contains(text, "://") {
		text = users.ReplaceAllString(text, "$1"+Mask+"@")
	}
	if strings.ContainsRune(text, ':') {
		for _, kind := range []*regexp.Regexp{members, escaped} {
			text = kind.ReplaceAllStringFunc(text, func(found string) string {
				parts := kind.FindStringSubmatch(found)
				if !TellingMember(parts[2]) || strings.Contains(parts[3], "{{") {
					return found
				}
				return parts[1] + Mask
			})
		}
		text = headers.ReplaceAllString(text, "${1}"+Mask)
	}
	text = schemes.ReplaceAllString(text, "${1}"+Mask)
	return shapes.ReplaceAllString(text, Mask)
}

var (
	// parameters are name=value in a query, a fragment, a form or a cookie. A
	// value that is a template is none.
	parameters = regexp.MustCompile(`(?:^|[?&;#\s"'])[A-Za-z0-9_.%\[\]-]{1,100}=[^&;#\s"'<>{}\\]+`)
	// fields are those of a multipart form.
	fields = regexp.MustCompile(`((?i:name)="([^"\r\n]{1,100})"\r\n(?:[^\r\n]+\r\n)*\r\n)[^\r\n]+`)
	// users are a name and a password, or either, in an address.
	users = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]{1,20}://)[^/?#@\s"'<>{}]{1,400}@`)
	// members are those of JSON inside a text, and escaped those of JSON in a text
	// of JSON.
	members = regexp.MustCompile(`("([A-Za-z0-9_. -]{1,100})"\s{0,10}:\s{0,10}")((?:[^"\\]|\\.)+)`)
	escaped = regexp.MustCompile(`(\\"([A-Za-z0-9_. -]{1,100})\\"\s{0,10}:\s{0,10}\\")((?:[^"\\]|\\\\.)+)`)
	// headers are those that a text repeats.
	headers = regexp.MustCompile(`(?i)(\b(?:authorization|cookie):[ \t]*)[^\s"'<>{}\\][^\r\n"'<>{}\\]*`)
	// schemes come before what proves somebody (RFC 9110, 11.4).
	schemes = regexp.MustCompile(`(?i)(\b(?:bearer|basic)[ \t]+)[A-Za-z0-9._~+/=-]{16,}`)
	// shapes are what keys of well-known kinds look like.
	shapes = regexp.MustCompile(`\b(?:bpd_[A-Za-z0-9]{40,}|sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}|` +
		`glpat-[A-Za-z0-9_-]{20,}|xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|A[KS]IA[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{35}|whsec_[A-Za-z0-9+/=]{16,}|` +
		`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?:[A-Za-z0-9+/=\s\\]*(?:-----END [A-Z ]{0,40}PRIVATE KEY-----)?)?`)
)
