package signature

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// The names of the facts about a signature that was refused.
const (
	FactHeader   = "signatureHeader" // the header that was wrong; null = none was there
	FactForm     = "signatureForm"   // what it looked like, in words
	FactExpected = "expectedForm"    // what it should look like, in words
	FactBytes    = "bodyBytes"       // how long the body was that the signature was held against
	FactTried    = "secretTried"     // the config keys of the secrets
)

// noteSignature keeps what can be said of a signature that was refused without
// a word of it.
func noteSignature(d *blueprint.Delivery, failed *Scheme, tried string) {
	name, form := any(nil), "none"
	expected := "64 hexadecimal digits in X-Webhook-Signature or X-Signature, or the headers of Standard Webhooks"
	if failed != nil {
		expected = failed.Form
		if values := Header(d, failed.Header); values != nil {
			name, form = failed.Header, FormOf(values)
		}
	}
	d.AddFact(FactHeader, name)
	d.AddFact(FactForm, form)
	d.AddFact(FactExpected, expected)
	d.AddFact(FactBytes, len(d.Body))
	d.AddFact(FactTried, tried)
}

// marks begin signatures of the schemes that there are.
var marks = []string{"sha1=", "sha256=", "sha384=", "sha512=", "v0=", "v1=", "v1,", "v1a,", "v2,", "t="}

// maxEntries is how many parts of a list are told.
const maxEntries = 4

// FormOf says in words what a signature header looks like, without anything of
// its value but such a mark.
func FormOf(values []string) string {
	if len(values) != 1 {
		return fmt.Sprintf("sent %d times", len(values))
	}
	if values[0] == "" {
		return "empty"
	}
	blanks := strings.Fields(values[0])
	if len(blanks) == 0 {
		return "blank"
	}
	entries := blanks
	if len(blanks) == 1 && !strings.HasPrefix(blanks[0], "v1,") {
		entries = strings.Split(blanks[0], ",")
	}
	var words []string
	for i, entry := range entries {
		if i == maxEntries {
			words = append(words, fmt.Sprintf("%d more", len(entries)-i))
			break
		}
		words = append(words, entryForm(entry))
	}
	return strings.Join(words, "; ")
}

func entryForm(entry string) string {
	prefix := ""
	for _, mark := range marks {
		if len(entry) >= len(mark) && strings.EqualFold(entry[:len(mark)], mark) {
			prefix, entry = mark+" and ", entry[len(mark):]
			break
		}
	}
	switch {
	case entry == "":
		return prefix + "nothing"
	case only(entry, "0123456789") && len(entry) <= 12:
		return fmt.Sprintf("%s%d digits", prefix, len(entry))
	case only(entry, "0123456789abcdefABCDEF"):
		return fmt.Sprintf("%s%d hexadecimal digits", prefix, len(entry))
	case only(entry, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/=-_"):
		return fmt.Sprintf("%s%d characters of base64", prefix, len(entry))
	}
	return fmt.Sprintf("%s%d characters", prefix, len(entry))
}

// only reports whether a text is made of some characters alone.
func only(text, of string) bool {
	return strings.Trim(text, of) == "" // what is left begins with another character
}

// Confidential are the headers that would let whoever reads them in somewhere:
// nothing of them is kept.
var Confidential = map[string]bool{"authorization": true, "proxy-authorization": true, "cookie": true}

// IsProof reports whether a header, its name in lower case, proves who the sender
// is to us or to somebody else: X-Hub-Signature-256, X-Gitlab-Token,
// X-Shopify-Hmac-Sha256. It is kept, so that a delivery can be judged anew, and
// shown to nobody, not to runs either, which more people see than the trigger.
func IsProof(name string) bool {
	return slices.ContainsFunc(proofWords, func(word string) bool { return strings.Contains(name, word) })
}

// proofWords are parts of the names of such headers.
var proofWords = []string{"signature", "hmac", "token", "secret", "password", "api-key", "apikey", "credential", "authorization"}

// Header returns the values of a header of a delivery, whose name may be in any
// letter case.
func Header(d *blueprint.Delivery, name string) []string {
	name = strings.ToLower(name)
	if IsProof(name) {
		return d.Proof[name]
	}
	return d.Header[name]
}
