package secret

import (
	"slices"
	"strings"
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
