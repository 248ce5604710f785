package secret

import (
	"encoding/json"
	"maps"
	"strings"
	"unicode/utf8"
)

// shortestCredential is how many characters a credential must have to be taken out
// of data. A shorter one may be an ordinary word there.
const shortestCredential = 16

// Credentials replaces the credentials of a connection in what a service answers,
// which is data: only values, never keys, and only as they are sent, not in other
// encodings. The nil Credentials replaces nothing. It is safe for concurrent use.
type Credentials struct{ replacer *strings.Replacer }

// NewCredentials returns the Credentials of a connection's secrets, among them the
// forms in which headers carry them; nil when all are too short.
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

// Value replaces credentials in the values of a plain JSON value and reports
// whether there were any. A value without one is returned as it is, not copied.
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
		var out []any
		for i, element := range v {
			if replaced, changed := c.Value(element); changed {
				if out == nil {
					out = append([]any(nil), v...)
				}
				out[i] = replaced
			}
		}
		if out != nil {
			return out, true
		}
	case map[string]any:
		var out map[string]any
		for key, element := range v {
			if replaced, changed := c.Value(element); changed {
				if out == nil {
					out = maps.Clone(v)
				}
				out[key] = replaced
			}
		}
		if out != nil {
			return out, true
		}
	}
	return value, false
}

// Strings returns what of secret values is to be hidden, as texts: strings as they
// are, anything else as NewMasker reads it.
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
