package explain

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	hashing "hash"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/triggers/signature"
)

// probe searches for the cause of a wrong signature.
type probe struct {
	before string    // what the scheme signs before the body
	body   []byte    // as received
	macs   []sentMAC // as received
	keys   []trialKey
}

// trialKey is a key to try, and the mistake that leads to it.
type trialKey struct {
	words string // the cause if this key fits
	key   []byte
	fix   fix
}

// fits reports whether a digest is that of a text under the key.
func (k *trialKey) fits(sum, text []byte) bool {
	made := hmac.New(hashOf(len(sum)), k.key)
	made.Write(text)
	return hmac.Equal(made.Sum(nil), sum)
}

// keysOf returns the key that a scheme derives from a secret, followed by wrong ones.
func keysOf(s *signature.Scheme, secret string) []trialKey {
	key := []byte(secret)
	if s.Key != nil {
		key = s.Key(secret)
	}
	out := []trialKey{{"the secret", key, fixNothing}}
	add := func(words string, key []byte, fix fix) {
		if len(key) > 0 {
			out = append(out, trialKey{words, key, fix})
		}
	}
	add("the sender takes the text of the secret for the key, where its base64 stands for it", []byte(secret), fixSender)
	add("the secret in the config has blanks around it that the sender's has not: take them away", []byte(strings.TrimSpace(secret)), fixConfig)
	add("the sender's secret ends in a line break: remove it there", []byte(secret+"\n"), fixSender)
	add("the sender's secret ends in a line break: remove it there", []byte(secret+"\r\n"), fixSender)
	add("the sender's secret ends in a blank: remove it there", []byte(secret+" "), fixSender)
	add("the sender signs with the secret without the letters whsec_", []byte(strings.TrimPrefix(secret, "whsec_")), fixEither)
	add("the sender signs with the key that whsec_ and base64 stand for, where the text itself is the key", signature.StandardKey(secret), fixSender)
	if key, err := hex.DecodeString(secret); err == nil {
		add("the sender signs with the bytes that the secret stands for in hexadecimal, where its text is the key", key, fixSender)
	}
	if key, err := base64.StdEncoding.DecodeString(secret); err == nil {
		add("the sender signs with the bytes that the secret stands for in base64, where its text is the key", key, fixSender)
	}
	return out
}

// variant is a body as the sender may have signed it.
type variant struct {
	words string
	body  []byte
}

// variantsOf returns common modifications of a body.
func variantsOf(body []byte) []variant {
	var out []variant
	add := func(words string, changed []byte) {
		if !bytes.Equal(changed, body) {
			out = append(out, variant{words, changed})
		}
	}
	add("the body without its last line break: sign the bytes that are sent", bytes.TrimRight(body, "\r\n"))
	add("the body with a line break at its end: sign the bytes that are sent", append(bytes.Clone(body), '\n'))
	add("the body with other line breaks: something changed them on the way", bytes.ReplaceAll(body, []byte("\r\n"), []byte("\n")))
	add("the body with other line breaks: something changed them on the way", bytes.ReplaceAll(body, []byte("\n"), []byte("\r\n")))
	add("the body without blanks around it: sign the bytes that are sent", bytes.TrimSpace(body))
	add("the body without the byte order mark before it", bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	add("an empty body: the sender signed before it had one", nil)
	const rewritten = ": the sender signed other bytes than it sent, or something rewrote the JSON on the way"
	var compact, wide bytes.Buffer
	if json.Compact(&compact, body) != nil {
		return out
	}
	add("the same JSON without blanks"+rewritten, compact.Bytes())
	for _, indent := range []string{"  ", "    ", "\t"} {
		if wide.Reset(); json.Indent(&wide, compact.Bytes(), "", indent) == nil {
			add("the same JSON with line breaks and indents"+rewritten, bytes.Clone(wide.Bytes()))
		}
	}
	add("the same JSON with a blank after each comma and colon"+rewritten, spacedJSON(compact.Bytes()))
	if value, err := blueprint.Decode(body); err == nil {
		if sorted, err := blueprint.Encode(value); err == nil {
			add("the same JSON with its keys in order"+rewritten, sorted)
			add("the same JSON with its keys in order and blanks"+rewritten, spacedJSON(sorted))
		}
	}
	return out
}

// spacedJSON inserts a blank after each comma and colon outside of strings.
func spacedJSON(compact []byte) []byte {
	out := make([]byte, 0, len(compact)+len(compact)/8)
	text, escaped := false, false
	for _, c := range compact {
		out = append(out, c)
		switch {
		case escaped:
			escaped = false
		case text && c == '\\':
			escaped = true
		case c == '"':
			text = !text
		case !text && (c == ',' || c == ':'):
			out = append(out, ' ')
		}
	}
	return out
}

// hashOf returns the hash of a digest by its length in bytes, nil if it is unknown.
func hashOf(length int) func() hashing.Hash {
	switch length {
	case sha1.Size:
		return sha1.New
	case sha256.Size:
		return sha256.New
	case sha512.Size384:
		return sha512.New384
	case sha512.Size:
		return sha512.New
	}
	return nil
}

func hashName(length int) string {
	return map[int]string{sha1.Size: "HMAC-SHA1", sha256.Size: "HMAC-SHA256", sha512.Size384: "HMAC-SHA384", sha512.Size: "HMAC-SHA512"}[length]
}
