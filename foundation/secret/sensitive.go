package secret

import "strings"

// telling are the names under which credentials travel, in lower case and
// without anything but letters and digits.
var telling = names(
	"accesskey", "accesskeyid", "accesstoken", "apikey", "apitoken", "authorization", "authtoken", "awsaccesskeyid", "bearer", "bearertoken", "clientsecret",
	"cookie", "credential", "credentials", "idtoken", "jwt", "otp", "pass", "passcode", "passphrase", "passwd", "password", "pin", "privatekey", "proxyauthorization", "pwd",
	"refreshtoken", "secret", "secretaccesskey", "secretkey", "session", "sessionid", "sessiontoken", "setcookie", "sharedsecret", "sid", "signingsecret", "subscriptionkey",
	"token", "webhooksecret",
	"xamzcredential", "xamzsecuritytoken", "xamzsignature", "xapikey", "xgoogcredential", "xgoogsignature",
)

// tellingEnds are what such names end with when something stands before it.
var tellingEnds = []string{"apikey", "apitoken", "accesstoken", "authtoken", "refreshtoken", "clientsecret", "password", "privatekey", "secret", "secretkey", "subscriptionkey"}

// plurals are names of lists and tables of credentials. A number under one is a
// count, as of the tokens of a language model.
var plurals = names("apikeys", "passwords", "secrets", "tokens")

// counted are names under which a number tells nothing.
var counted = names("pass", "session", "sid")

// inQueries tell of a credential in a query, a form or a cookie alone: elsewhere
// they are common words. So are inAddresses but between ? or & and the next &.
var (
	inQueries   = names("auth", "key", "sig", "signature")
	inAddresses = names("code", "session", "sid", "pass", "pin", "otp")
)

// inHeaders tell of one anywhere in the name of a header.
var inHeaders = []string{"auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token"}

// harmless are headers that only sound so, or begin so.
var harmless = []string{"idempotency-key", "x-idempotency-key", "sec-websocket-key", "www-authenticate", "proxy-authenticate", "surrogate-key", "access-control-allow-credentials"}

func names(list ...string) map[string]bool {
	all := make(map[string]bool, len(list))
	for _, name := range list {
		all[name] = true
	}
	return all
}

// SensitiveHeader reports whether the value of a header of this name may be a
// credential. Counts of tokens, as in x-ratelimit-remaining-tokens, are none.
func SensitiveHeader(name string) bool {
	name = strings.ToLower(name)
	if strings.Contains(name, "ratelimit") {
		return false
	}
	for _, known := range harmless {
		if name == known {
			return false
		}
	}
	for _, word := range inHeaders {
		if strings.Contains(name, word) {
			return true
		}
	}
	return false
}

// SensitiveName reports whether the member of an object, or the field of a form,
// of this name may hold a credential.
func SensitiveName(name string) bool {
	name = bare(name)
	if telling[name] {
		return true
	}
	for _, end := range tellingEnds {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// tellingQuery is SensitiveName for a parameter, by what stands before its name and
// behind its value.
func tellingQuery(name string, between bool) bool {
	if inAddresses[bare(name)] {
		return between
	}
	return inQueries[bare(name)] || SensitiveName(name)
}

// tellingKey reports whether a value under the name key is a credential, and not the
// name of something: a long word of letters and digits.
func tellingKey(name, value string) bool {
	return bare(name) == "key" && len(value) >= 16 && strings.ContainsAny(value, "0123456789") && !strings.ContainsAny(value, " \t\r\n/:,{}")
}

// bare returns the letters and digits of a name, in lower case.
func bare(name string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'A' && c <= 'Z':
			return c + 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		}
		return -1
	}, name)
}
