package secret

import "strings"

// telling are the names under which credentials travel, in lower case and
// without anything but letters and digits.
var telling = names(
	"accesskey", "accesskeyid", "accesstoken", "apikey", "apitoken", "authorization", "authtoken", "awsaccesskeyid", "bearer", "bearertoken", "clientsecret",
	"cookie", "credential", "credentials", "idtoken", "jwt", "passphrase", "passwd", "password", "privatekey", "proxyauthorization", "pwd", "refreshtoken",
	"secret", "secretaccesskey", "secretkey", "sessionid", "sessiontoken", "setcookie", "sharedsecret", "signingsecret", "subscriptionkey", "token", "webhooksecret",
	"xamzcredential", "xamzsecuritytoken", "xamzsignature", "xapikey", "xgoogcredential", "xgoogsignature",
)

// tellingEnds are what such names end with when something stands before it.
var tellingEnds = []string{"apikey", "apitoken", "accesstoken", "authtoken", "refreshtoken", "clientsecret", "password", "privatekey", "secret", "secretkey", "subscriptionkey"}

// inQueries tell of a credential in the query of an address alone: elsewhere
// they are common words.
var inQueries = names("auth", "key", "sig", "signature")

// inHeaders tell of one anywhere in the name of a header.
var inHeaders = []string{"auth", "cookie", "credential", "key", "password", "secret", "signature", "token"}

// harmless are headers that only sound so, or begin so.
var harmless = []string{"idempotency-key", "x-idempotency-key", "sec-websocket-key", "www-authenticate", "proxy-authenticate", "surrogate-key"}

func names(list ...string) map[string]bool {
	all := make(map[string]bool, len(list))
	for _, name := range list {
		all[name] = true
	}
	return all
}

// TellingHeader tells whether the value of a header of this name may be a
// credential. Counts of tokens, as in x-ratelimit-remaining-tokens, are none.
func TellingHeader(name string) bool {
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

// TellingMember tells whether the member of an object, or the field of a form,
// of this name may hold a credential.
func TellingMember(name string) bool {
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

// tellingQuery is TellingMember for the query of an address.
func tellingQuery(name string) bool { return inQueries[bare(name)] || TellingMember(name) }

// bare gives the letters and digits of a name, in lower case.
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
