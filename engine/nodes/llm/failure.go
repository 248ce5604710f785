package llm

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// Codes of failures; see the package documentation.
const (
	CodeInvalid      = "invalid_request"
	CodeUnauthorized = "unauthorized"
	CodeQuota        = "quota_exceeded"
	CodeRateLimited  = "rate_limited"
	CodeTooLong      = "context_too_long"
	CodeProvider     = "provider_error"
	CodeRefused      = "model_refused"
	CodeTruncated    = "truncated"
	CodeBadAnswer    = "bad_answer"
	CodeTooLarge     = "too_large"
	CodeBadConfig    = "bad_config"
)

// problem is an error reported by a provider.
type problem struct {
	status               int
	code, param, message string // as far as reported
	retryAfter           time.Duration
}

// problemOf decodes an error, nil for none. Some servers report one with a successful
// status.
func (c *Client) problemOf(status int, header http.Header, value any) *problem {
	if l := list(value); len(l) > 0 {
		value = l[0] // Google wraps errors in a list
	}
	m := object(value)
	failed := status < 200 || status > 299
	if !failed && (m["error"] == nil || m["choices"] != nil || m["content"] != nil) {
		return nil
	}
	p := &problem{status: status, retryAfter: c.retryAfter(header)}
	inner := m
	switch e := m["error"].(type) {
	case map[string]any:
		inner = e
	case string:
		p.message = e
	}
	if p.message == "" {
		p.message = text(inner["message"])
	}
	if p.message == "" {
		p.message = detail(m["detail"])
	}
	p.param = text(inner["param"])
	if p.code = text(inner["code"]); p.code == "" {
		p.code = text(inner["type"])
	}
	if !failed {
		p.status = http.StatusBadGateway
		if told := count(inner["code"]); told >= 400 && told <= 599 {
			p.status = int(told)
		}
	}
	return p
}

// detail decodes errors of FastAPI servers.
func detail(value any) string {
	if s := text(value); s != "" {
		return s
	}
	var parts []string
	for _, item := range list(value) {
		m := object(item)
		var place []string
		for _, step := range list(m["loc"]) {
			place = append(place, text(step))
		}
		parts = append(parts, strings.Join(place, ".")+": "+text(m["msg"]))
	}
	return strings.Join(parts, "; ")
}

func (p *problem) tooLong() bool {
	message := strings.ToLower(p.message)
	return p.status == http.StatusRequestEntityTooLarge || p.code == "context_length_exceeded" ||
		strings.Contains(message, "prompt is too long") || strings.Contains(message, "maximum context length")
}

func (p *problem) quotaExceeded() bool {
	return p.status == http.StatusPaymentRequired || p.code == "insufficient_quota" || p.code == "billing_error" ||
		strings.Contains(strings.ToLower(p.message), "credit balance is too low")
}

// refused returns the failure of a provider's error.
func (c *Client) refused(p *problem) error {
	f := &blueprint.Failure{RetryAfter: p.retryAfter, Message: c.host + " answered " + strconv.Itoa(p.status)}
	if words := http.StatusText(p.status); words != "" {
		f.Message += " " + words
	}
	// The message may quote part of the key in an unknown form.
	aboutKey := p.status == http.StatusUnauthorized || p.status == http.StatusForbidden
	if said := c.sanitize(p.message); said != "" && !aboutKey {
		f.Message += ": " + said
	}
	switch {
	case p.tooLong():
		f.Code, f.Permanent = CodeTooLong, true
	case p.quotaExceeded():
		f.Code = CodeQuota
	case p.status == http.StatusUnauthorized:
		f.Code = CodeUnauthorized
		f.Message += ": it does not accept the credentials of the connection"
	case p.status == http.StatusForbidden:
		f.Code = CodeUnauthorized
		f.Message += ": it does not accept the credentials of the connection for this"
	case p.status == http.StatusTooManyRequests:
		f.Code = CodeRateLimited
	case p.status == http.StatusRequestTimeout, p.status == http.StatusConflict, p.status > 499, p.status < 400:
		f.Code = CodeProvider
	default:
		f.Code, f.Permanent = CodeInvalid, true
	}
	return f
}

// failure returns a failure of a response: "host answered ...".
func (c *Client) failure(code, what string) *blueprint.Failure {
	return &blueprint.Failure{Code: code, Message: c.host + " answered " + c.sanitize(what)}
}

// retryAfter parses the header, in which some providers send fractions of seconds.
func (c *Client) retryAfter(header http.Header) time.Duration {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, outbound.MaxRetryAfter.Seconds()) * float64(time.Second))
	}
	return outbound.RetryAfter(http.Header{"Retry-After": {value}}, c.options.Clock.Now()) // by our own clock
}
