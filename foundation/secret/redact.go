package secret

import (
	"encoding/json"
	"strings"
)

// Redact masks values that look like credentials in a plain JSON value that leaves the
// server: strings and numbers under sensitive names such as password and access_token, such
// parameters of URLs in texts, and texts with the shape of a key. Known secrets are the
// task of a Masker. Templates stay. A value without credentials is returned unchanged, not
// copied.
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
