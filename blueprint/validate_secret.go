package blueprint

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// secretShape is the pattern of a kind of secret.
type secretShape struct {
	mark    string         // required substring, checked before the pattern
	pattern *regexp.Regexp // of the secret, or with a group for it
	what    string
}

// The shapes are documented by the services. Matching takes linear time.
var secretShapes = []secretShape{
	{"bpd_", regexp.MustCompile(`\bbpd_[A-Za-z0-9_-]{16,}`), "an API key of this service"},
	{"sk-", regexp.MustCompile(`\bsk-[A-Za-z0-9_-]{20,}`), "an API key"},
	{"k_live_", regexp.MustCompile(`\b[sr]k_live_[A-Za-z0-9]{16,}`), "an API key"},
	{"xox", regexp.MustCompile(`\bxox[abeoprs]-[A-Za-z0-9-]{10,}`), "a Slack token"},
	{"xapp-", regexp.MustCompile(`\bxapp-[A-Za-z0-9-]{10,}`), "a Slack token"},
	{"gh", regexp.MustCompile(`\bgh[oprsu]_[A-Za-z0-9]{20,}`), "a GitHub token"},
	{"github_pat_", regexp.MustCompile(`\bgithub_pat_[A-Za-z0-9_]{20,}`), "a GitHub token"},
	{"glpat-", regexp.MustCompile(`\bglpat-[A-Za-z0-9_-]{16,}`), "a GitLab token"},
	{"whsec_", regexp.MustCompile(`\bwhsec_[A-Za-z0-9+/=]{16,}`), "the secret of a webhook"},
	{"AKIA", regexp.MustCompile(`\bAKIA[A-Z0-9]{16}\b`), "an AWS access key"},
	{"ASIA", regexp.MustCompile(`\bASIA[A-Z0-9]{16}\b`), "an AWS access key"},
	{"AIza", regexp.MustCompile(`\bAIza[A-Za-z0-9_-]{30,}`), "a Google API key"},
	{"PRIVATE KEY-----", regexp.MustCompile(`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*`), "a private key"},
	{"eyJ", regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`), "a JSON web token"},
	{"://", regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@{}]*:[^\s/?#@{}]+@[^\s/?#@{}]`), "an address with a password"},
	{"=", regexp.MustCompile(`(?i)[?&](?:x-)?(?:api[_-]?(?:key|token|secret)|(?:(?:access|refresh|auth|bearer|bot)[_-]?)?token|passw(?:or)?d|passphrase|(?:(?:client|signing)[_-]?)?secret|(?:private|secret)[_-]?key)=([^\s&#{}"'<>)]{6,})(?:$|[\s&#"'<>)])`), "a secret in an address"},
}

// secretKeys are the keys whose values are secrets, in lower case without - and _.
var secretKeys = []string{
	"password", "passwd", "passphrase", "secret", "token", "apikey", "apitoken", "apisecret", "accesstoken", "refreshtoken", "authtoken", "bearertoken",
	"clientsecret", "privatekey", "secretkey", "signingsecret", "xapikey", "xauthtoken", "bottoken",
}

// minSecret is the minimum length of a secret under such a key; "none" is a word.
const minSecret = 6

var credentials = regexp.MustCompile(`(?i)^\s*(bearer|basic|token|apikey)\s+\S{4,}\s*$`)

// plainSecrets finds secrets in a value under a key. In verbatim values only shapes count.
func plainSecrets(path []any, key string, value any, verbatim func([]any) bool, found func(path []any, what string, spot Spot)) {
	isVerbatim := verbatim != nil && verbatim(path)
	switch v := value.(type) {
	case string:
		if what, spot := plainSecret(key, v, isVerbatim); what != "" {
			found(slices.Clone(path), what, spot)
		}
	case []any:
		for i := 0; i < len(v) && !isVerbatim; i++ {
			plainSecrets(append(path, i), key, v[i], verbatim, found)
		}
	case map[string]any:
		if isVerbatim {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			plainSecrets(append(path, name), name, v[name], verbatim, found)
		}
	}
}

// find returns the offsets of a secret of the shape in a text.
func (s *secretShape) find(text string) (from, to int, ok bool) {
	if !strings.Contains(text, s.mark) {
		return 0, 0, false
	}
	at := s.pattern.FindStringSubmatchIndex(text)
	if at == nil {
		return 0, 0, false
	}
	from, to = at[len(at)-2], at[len(at)-1]
	return from, to, isKey(text[from:to], s)
}

// plainSecret returns the kind and place of a secret in a text; "" without one. With
// several, the place is the whole text.
func plainSecret(key, text string, isVerbatim bool) (what string, spot Spot) {
	for i := range secretShapes {
		from, to, ok := secretShapes[i].find(text)
		if !ok {
			continue
		}
		for j := range secretShapes {
			_, _, before := secretShapes[j].find(text[:from])
			_, _, behind := secretShapes[j].find(text[to:])
			if before || behind {
				return secretShapes[i].what, Spot{Secret: true}
			}
		}
		line := text[strings.LastIndexByte(text[:from], '\n')+1 : from]
		return secretShapes[i].what, Spot{
			Line: strings.Count(text[:from], "\n") + 1, Column: utf8.RuneCountInString(line) + 1, Length: utf8.RuneCountInString(text[from:to]), Secret: true,
		}
	}
	if isVerbatim || strings.Contains(text, "{{") || len(key) > 64 {
		return "", spot
	}
	plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
	switch {
	case (plain == "authorization" || plain == "proxyauthorization") && credentials.MatchString(text):
		return "credentials", Spot{Secret: true}
	case slices.Contains(secretKeys, plain) && utf8.RuneCountInString(text) >= minSecret && !strings.ContainsAny(text, " \n"):
		return "a secret", Spot{Secret: true}
	}
	return "", spot
}

// isKey distinguishes keys, which contain digits, from words with the same prefix.
func isKey(match string, shape *secretShape) bool {
	return !strings.HasSuffix(shape.mark, "-") || strings.HasPrefix(match, "---") || strings.ContainsAny(match, "0123456789")
}
