package secret

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// shortestCredential is the minimum number of characters of a credential that is replaced
// in data. A shorter one may be an ordinary word.
const shortestCredential = 16

// Credentials replaces the credentials of a connection in the answers of a service:
// only in values, never in keys, and not in other encodings. The nil Credentials replaces nothing. It is safe for concurrent use.
type Credentials struct{ replacer *strings.Replacer }

// NewCredentials returns the Credentials for secrets, including their forms in headers; nil
// if all are too short.
func NewCredentials(secrets []string) *Credentials {
	var pairs []string
	for _, text := range secrets {
		if text = strings.TrimSpace(text); utf8.RuneCountInString(text) >= shortestCredential {
			pairs = append(pairs, text, Mask)
		}
	}
	if pairs == nil {
		return nil
	}
	return &Credentials{strings.NewReplacer(pairs...)}
}

// Text replaces credentials in a text and reports whether there were any.
func (c *Credentials) Text(text string) (string, bool) {
	if c == nil {
		return text, false
	}
	out := c.replacer.Replace(text)
	return out, out != text
}

// Value replaces credentials in the values of a plain JSON value and reports whether there
// were any. A value without any is returned unchanged, not copied.
func (c *Credentials) Value(value any) (any, bool) {
	if c == nil {
		return value, false
	}
	switch v := value.(type) {
	case string:
		return c.Text(v)
	case json.Number:
		if text, replaced := c.Text(v.String()); replaced {
			return text, true
		}
	case []any:
		return mapList(v, c.Value)
	case map[string]any:
		return mapObject(v, func(_ string, element any) (any, bool) { return c.Value(element) })
	}
	return value, false
}

// mapList replaces the elements of a list that f changes. It copies only a changed list.
func mapList(list []any, f func(any) (any, bool)) (any, bool) {
	var out []any
	for i, element := range list {
		if replaced, changed := f(element); changed {
			if out == nil {
				out = slices.Clone(list)
			}
			out[i] = replaced
		}
	}
	if out == nil {
		return list, false
	}
	return out, true
}

// mapObject is mapList for an object.
func mapObject(object map[string]any, f func(name string, element any) (any, bool)) (any, bool) {
	var out map[string]any
	for name, element := range object {
		if replaced, changed := f(name, element); changed {
			if out == nil {
				out = maps.Clone(object)
			}
			out[name] = replaced
		}
	}
	if out == nil {
		return object, false
	}
	return out, true
}

// Strings returns the strings that NewMasker searches for in secret values.
func Strings(values []any) (all []string) {
	for _, value := range values {
		for _, text := range texts(value) {
			if text != "" {
				all = append(all, text)
			}
		}
	}
	return all
}
