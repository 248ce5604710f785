package sandbox

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// Routes are the names in rules of the routes outside the procedures.
var Routes = []string{"webhooks", "v1", "mcp"}

// Fault is an injected answer to an inbound call.
type Fault struct {
	Failure *blueprint.Error // nil = Value is answered
	Value   any
	Status  int // 0 = none: a delay, or a closed connection without an answer
	Header  http.Header
	Cut     bool // closes the connection: halfway through the answer, or before it without a Status
	Whole   bool // with Failure: refuses all calls of the request
	delay   time.Duration
}

// Wait waits for the delay of the fault in real time, or until ctx ends.
func (f *Fault) Wait(ctx context.Context) { _ = (&answer{delay: f.delay}).wait(ctx) }

// Procedure returns the fault of a call of a procedure; nil for none.
func (s *Sandbox) Procedure(name string) *Fault {
	return s.fault(&received{procedure: name, request: blueprint.ExchangeRequest{Method: "CALL", URL: name}}, name)
}

// Route returns the fault of a request to one of Routes.
func (s *Sandbox) Route(route string, request *http.Request) *Fault {
	return s.fault(&received{route: route, path: request.URL.Path, request: blueprint.ExchangeRequest{Method: request.Method, URL: request.URL.Path}}, route)
}

func (s *Sandbox) fault(a *received, name string) *Fault {
	s.expectations.observe(a)
	rule := s.rules.take(a)
	if rule == nil {
		return nil
	}
	f := &Fault{Status: rule.status, Header: rule.header, Cut: rule.cut, Whole: rule.whole, delay: rule.delay}
	if rule.status < 300 {
		f.Value = rule.body
		return f
	}
	code := blueprint.CodeForStatus(rule.status)
	f.Failure = &blueprint.Error{Code: code, Message: messageOf(rule.body)}
	if f.Failure.Message == "" {
		f.Failure.Message = "the sandbox answers " + strconv.Itoa(rule.status) + " to " + name
	}
	if seconds, err := strconv.ParseUint(rule.header.Get("Retry-After"), 10, 31); err == nil {
		f.Failure.RetryAfter = time.Duration(seconds) * time.Second
	}
	return f
}

// messageOf returns the message in the body of an answer.
func messageOf(body any) string {
	switch v := body.(type) {
	case string:
		return v
	case map[string]any:
		for _, name := range []string{"message", "error", "json"} {
			if inner := messageOf(v[name]); inner != "" {
				return inner
			}
		}
	case json.Number:
		return v.String()
	}
	return ""
}

// Senders are the services whose webhook signatures are supported; "" signs the body alone.
var Senders = []string{"", "github", "slack", "standard", "stripe"}

// Sign returns the headers of a new delivery of a service, unsigned without a secret.
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
