package secret

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// sensitive are the usual names of credentials, as bare returns them.
var sensitive = set(
	"accesskey", "accesskeyid", "accesstoken", "apikey", "apitoken", "authorization", "authtoken", "awsaccesskeyid", "bearer", "bearertoken", "clientsecret",
	"cookie", "credential", "credentials", "idtoken", "jwt", "otp", "pass", "passcode", "passphrase", "passwd", "password", "pin", "privatekey", "proxyauthorization", "pwd",
	"refreshtoken", "secret", "secretaccesskey", "secretkey", "session", "sessionid", "sessiontoken", "setcookie", "sharedsecret", "sid", "signingsecret", "subscriptionkey",
	"token", "webhooksecret",
	"xamzcredential", "xamzsecuritytoken", "xamzsignature", "xapikey", "xgoogcredential", "xgoogsignature",
)

// sensitiveSuffixes mark longer names as sensitive.
var sensitiveSuffixes = []string{"apikey", "apitoken", "accesstoken", "authtoken", "refreshtoken", "clientsecret", "password", "privatekey", "secret", "secretkey", "subscriptionkey"}

// plurals are names of lists and tables of credentials. A number under one is a
// count, such as the tokens of a language model.
var plurals = set("apikeys", "passwords", "secrets", "tokens")

// counted are sensitive names under which a number is not a credential.
var counted = set("pass", "session", "sid")

// Names that are sensitive only in a query, a form or a cookie, and only as a
// parameter of a URL or form, because elsewhere they are common words.
var (
	queryNames     = set("auth", "key", "sig", "signature")
	parameterNames = set("code", "session", "sid", "pass", "pin", "otp")
)

// headerWords mark a header as sensitive anywhere in its name.
var headerWords = []string{"auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token"}

// harmlessHeaders contain one of headerWords but no credential.
var harmlessHeaders = []string{"idempotency-key", "x-idempotency-key", "sec-websocket-key", "www-authenticate", "proxy-authenticate", "surrogate-key", "access-control-allow-credentials"}

func set(list ...string) map[string]bool {
	all := make(map[string]bool, len(list))
	for _, name := range list {
		all[name] = true
	}
	return all
}

// SensitiveHeader reports whether a header with this name may contain a credential. Counts
// of tokens, as in x-ratelimit-remaining-tokens, are not credentials.
func SensitiveHeader(name string) bool {
	name = strings.ToLower(name)
	if strings.Contains(name, "ratelimit") || slices.Contains(harmlessHeaders, name) {
		return false
	}
	return slices.ContainsFunc(headerWords, func(word string) bool { return strings.Contains(name, word) })
}

// SensitiveName reports whether a member of an object or a field of a form with this name
// may contain a credential.
func SensitiveName(name string) bool {
	name = bare(name)
	return sensitive[name] || slices.ContainsFunc(sensitiveSuffixes, func(suffix string) bool { return strings.HasSuffix(name, suffix) })
}

// sensitiveParameter is SensitiveName for name=value; delimited reports whether the
// pair is delimited like a parameter of a URL or form.
func sensitiveParameter(name string, delimited bool) bool {
	if parameterNames[bare(name)] {
		return delimited
	}
	return queryNames[bare(name)] || SensitiveName(name)
}

// isKey reports whether a value named "key" is a credential: a long word with digits.
func isKey(name, value string) bool {
	return bare(name) == "key" && len(value) >= 16 && strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, " \t\r\n/:,{}")
}

// bare returns the letters and digits of a name, in lower case.
func bare(name string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789", c) {
			return c
		}
		return -1
	}, strings.ToLower(name))
}

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
