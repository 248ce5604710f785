package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"blueprintd/foundation/outbound"
)

// Senders are the services whose way to sign a webhook is known; "" is a
// signature of the body alone.
var Senders = []string{"", "github", "slack", "standard", "stripe"}

// Sign gives the headers with which a service sends a body now, as a delivery
// that was never there before. Without a secret nothing is signed.
func (s *Sandbox) Sign(sender, secret string, body []byte) http.Header {
	header := http.Header{"Content-Type": {"application/json"}}
	id := s.stream("delivery", &outbound.Caller{}).UUID()
	now := strconv.FormatInt(s.Clock.Now().Unix(), 10)
	signed := func(key []byte, before string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(before))
		mac.Write(body)
		return mac.Sum(nil)
	}
	key := []byte(secret)
	switch sender {
	case "github":
		header.Set("X-GitHub-Event", "push")
		header.Set("X-GitHub-Delivery", id)
		header.Set("X-Hub-Signature-256", "sha256="+hex.EncodeToString(signed(key, "")))
	case "slack":
		header.Set("X-Slack-Request-Timestamp", now)
		header.Set("X-Slack-Signature", "v0="+hex.EncodeToString(signed(key, "v0:"+now+":")))
	case "standard":
		if decoded, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")); err == nil && strings.HasPrefix(secret, "whsec_") {
			key = decoded
		}
		header.Set("Webhook-Id", "msg_"+id)
		header.Set("Webhook-Timestamp", now)
		header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(signed(key, "msg_"+id+"."+now+".")))
	case "stripe":
		header.Set("Stripe-Signature", "t="+now+",v1="+hex.EncodeToString(signed(key, now+".")))
	default:
		header.Set("Idempotency-Key", id)
		header.Set("X-Webhook-Signature", hex.EncodeToString(signed(key, "")))
	}
	if secret == "" {
		for _, name := range []string{"X-Hub-Signature-256", "X-Slack-Signature", "Webhook-Signature", "Stripe-Signature", "X-Webhook-Signature"} {
			header.Del(name)
		}
	}
	return header
}
