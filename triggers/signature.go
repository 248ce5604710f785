package triggers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
)

// hexSignatures are the headers that carry the hexadecimal HMAC-SHA256 of the
// raw body, in canonical form.
var hexSignatures = []string{"X-Webhook-Signature", "X-Signature", "X-Hub-Signature-256"}

// The headers of the Standard Webhooks scheme.
const (
	standardSignature = "Webhook-Signature"
	standardID        = "Webhook-Id"
	standardTimestamp = "Webhook-Timestamp"
)

// signatureWindow is how far a signed timestamp may lie from the clock, either
// way.
const signatureWindow = 5 * time.Minute

// verify tells why the signatures of a delivery do not prove that its sender
// knows the secret, or "". At least one signature header must be there, and
// every one that is there must be right.
func verify(secret string, d *blueprint.Delivery, now time.Time) string {
	seen := false
	for _, name := range hexSignatures {
		values := header(d, name)
		if values == nil {
			continue
		}
		seen = true
		if reason := verifyHex(secret, values, d.Body); reason != "" {
			return name + " " + reason
		}
	}
	if values := header(d, standardSignature); values != nil {
		seen = true
		if reason := verifyStandard(secret, values, d, now); reason != "" {
			return reason
		}
	}
	if !seen {
		return "the signature is missing: send X-Webhook-Signature with the hexadecimal HMAC-SHA256 of the body, or the headers of Standard Webhooks"
	}
	return ""
}

const mismatch = "does not match: the body or the secret differs from what the sender signed"

func verifyHex(secret string, values []string, body []byte) string {
	if len(values) != 1 {
		return "was sent more than once"
	}
	text := values[0]
	if prefix := "sha256="; len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix) {
		text = text[len(prefix):]
	}
	given, err := hex.DecodeString(text)
	if err != nil || len(given) != sha256.Size {
		return "is not one HMAC-SHA256 of 64 hexadecimal digits"
	}
	if !hmac.Equal(given, digest([]byte(secret), body)) {
		return mismatch
	}
	return ""
}

func verifyStandard(secret string, values []string, d *blueprint.Delivery, now time.Time) string {
	if len(values) != 1 {
		return standardSignature + " was sent more than once"
	}
	id, timestamp := header(d, standardID), header(d, standardTimestamp)
	if len(id) != 1 || id[0] == "" || len(timestamp) != 1 {
		return "Webhook-Signature needs Webhook-Id and Webhook-Timestamp, once each"
	}
	sent, err := strconv.ParseUint(timestamp[0], 10, 40)
	if err != nil || strings.HasPrefix(timestamp[0], "+") {
		return "Webhook-Timestamp is not a number of seconds since 1970"
	}
	if away := now.Sub(time.Unix(int64(sent), 0)); away > signatureWindow || away < -signatureWindow {
		return fmt.Sprintf("Webhook-Timestamp is %s from the server's clock; at most %s are allowed", away.Abs().Round(time.Second), signatureWindow)
	}
	signed := digest(standardKey(secret), []byte(id[0]), []byte("."), []byte(timestamp[0]), []byte("."), d.Body)
	expected := []byte(base64.StdEncoding.EncodeToString(signed))
	matches := false
	for _, entry := range strings.Fields(values[0]) {
		if version, given, _ := strings.Cut(entry, ","); version == "v1" && hmac.Equal([]byte(given), expected) {
			matches = true
		}
	}
	if !matches {
		return standardSignature + " " + mismatch
	}
	return ""
}

// standardKey gives the key of Standard Webhooks: the bytes that whsec_ and
// base64 stand for, or else the secret as it is.
func standardKey(secret string) []byte {
	if encoded, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if key, err := base64.StdEncoding.DecodeString(encoded); err == nil && len(key) > 0 {
			return key
		}
	}
	return []byte(secret)
}

func digest(key []byte, parts ...[]byte) []byte {
	mac := hmac.New(sha256.New, key)
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}
