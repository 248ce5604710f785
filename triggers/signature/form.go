package signature

import (
	"fmt"
	"slices"
	"strings"

	"blueprintd/blueprint"
)

// Names of the facts about a refused signature.
const (
	FactHeader   = "signatureHeader" // the wrong header; null = none was sent
	FactForm     = "signatureForm"   // its form, in words
	FactExpected = "expectedForm"    // the expected form, in words
	FactBytes    = "bodyBytes"       // length of the verified body
	FactTried    = "secretTried"     // the config keys of the secrets
)

// addFacts adds the facts about a refused signature, without its value.
func addFacts(d *blueprint.Delivery, failed *Scheme, tried string) {
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

// marks are the prefixes of signatures in known schemes.
var marks = []string{"sha1=", "sha256=", "sha384=", "sha512=", "v0=", "v1=", "v1,", "v1a,", "v2,", "t="}

// maxEntries is how many entries of a list are described.
const maxEntries = 4

// FormOf describes the form of a signature header, without its value except for marks.
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

// only reports whether a text consists of some characters.
func only(text, characters string) bool { return strings.Trim(text, characters) == "" }

// Confidential are the headers with credentials, which are not stored.
var Confidential = map[string]bool{"authorization": true, "proxy-authorization": true, "cookie": true}

// IsProof reports whether a header, its name in lower case, authenticates a sender here
// or elsewhere, such as X-Hub-Signature-256, X-Gitlab-Token or X-Shopify-Hmac-Sha256. It
// is stored for redelivery, but never shown, nor passed to runs, which more users see
// than the trigger.
func IsProof(name string) bool {
	return slices.ContainsFunc(proofWords, func(word string) bool { return strings.Contains(name, word) })
}

var proofWords = []string{"signature", "hmac", "token", "secret", "password", "api-key", "apikey", "credential", "authorization"}

// Header returns the values of a header of a delivery. The name is case-insensitive.
func Header(d *blueprint.Delivery, name string) []string {
	name = strings.ToLower(name)
	if IsProof(name) {
		return d.Proof[name]
	}
	return d.Header[name]
}
