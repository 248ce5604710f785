package secret

import (
	"encoding/json"
	"maps"
	"strings"
)

// Redact takes out of a plain JSON value what looks like a credential, whoever
// knows of it: the strings and numbers under telling names such as password and
// access_token, such parameters of the addresses in texts, and texts that have
// the shape of a key. It is for what leaves the server; values that are known to
// be secret are a Masker's. Templates stay. What holds nothing is returned as it
// is, not copied.
func Redact(value any) any { return new(Redactor).Value(value) }

// Value is Redact.
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
		return r.list(v, r.redact)
	case map[string]any:
		return r.object(v, SensitiveName)
	}
	return value, false
}

// object redacts an object, of whose members some tell of a credential.
// What is called headers has names of headers.
func (r *Redactor) object(object map[string]any, tells func(name string) bool) (any, bool) {
	var out map[string]any
	var renamed []string
	paired := pairedWith(object)
	for name, element := range object {
		var redacted any
		var changed bool
		within, isObject := element.(map[string]any)
		switch {
		case tells(name) || name == "value" && tells(paired):
			redacted, changed = r.under(element, counted[bare(name)])
		case plurals[bare(name)]:
			redacted, changed = r.each(element)
		case isKey(name, element):
			redacted, changed = r.hide(element.(string)), true
		case isObject && strings.EqualFold(name, "headers"):
			redacted, changed = r.object(within, func(name string) bool { return SensitiveHeader(name) || SensitiveName(name) })
		default:
			redacted, changed = r.redact(element)
		}
		hidden := r.Text(name) != name
		if !changed && !hidden {
			continue
		}
		if out == nil {
			out = maps.Clone(object)
		}
		out[name] = redacted
		if hidden {
			renamed = append(renamed, name)
		}
	}
	if out == nil {
		return object, false
	}
	rename(out, renamed, r.Text)
	return out, true
}

// pairedWith returns the name that an object has as a member, as the fields of a form
// and headers have it in lists: {"name": "password", "value": "..."}.
func pairedWith(object map[string]any) string {
	for _, member := range []string{"name", "key", "field"} {
		if name, ok := object[member].(string); ok {
			return name
		}
	}
	return ""
}

func isKey(name string, value any) bool {
	text, ok := value.(string)
	return ok && tellingKey(name, text)
}

// under hides what stands under a telling name; a number may be a mere count. What
// a template puts there is not written there.
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
		return r.list(v, func(element any) (any, bool) { return r.under(element, count) })
	}
	return r.redact(value)
}

// each hides the texts in a list or table of credentials.
func (r *Redactor) each(value any) (any, bool) {
	object, ok := value.(map[string]any)
	if !ok {
		return r.under(value, true)
	}
	out, changed := make(map[string]any, len(object)), false
	for name, element := range object {
		hidden, hid := r.under(element, true)
		out[name], changed = hidden, changed || hid
	}
	if !changed {
		return value, false
	}
	return out, true
}

// list redacts the elements of a list.
func (r *Redactor) list(list []any, redact func(any) (any, bool)) (any, bool) {
	var out []any
	for i, element := range list {
		redacted, changed := redact(element)
		if changed && out == nil {
			out = append(make([]any, 0, len(list)), list[:i]...)
		}
		if out != nil {
			out = append(out, redacted)
		}
	}
	if out == nil {
		return list, false
	}
	return out, true
}
