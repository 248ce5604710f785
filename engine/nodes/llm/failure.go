package llm

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

// The codes of failures; the package's documentation says what they mean.
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

// problem is what a provider said instead of an answer.
type problem struct {
	status               int
	code, param, message string // as far as it told; code is a word
	retryAfter           time.Duration
}

// problemOf reads an error; nil when there is none. Some servers tell of one
// with a good status.
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

// detail reads what servers written with FastAPI say.
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

// tooLong reports whether the conversation does not fit the model.
func (p *problem) tooLong() bool {
	message := strings.ToLower(p.message)
	return p.status == http.StatusRequestEntityTooLarge || p.code == "context_length_exceeded" ||
		strings.Contains(message, "prompt is too long") || strings.Contains(message, "maximum context length")
}

// spent reports whether the account has nothing left.
func (p *problem) spent() bool {
	return p.status == http.StatusPaymentRequired || p.code == "insufficient_quota" || p.code == "billing_error" ||
		strings.Contains(strings.ToLower(p.message), "credit balance is too low")
}

// refused makes a failure of what the provider said.
func (c *Client) refused(p *problem) error {
	f := &blueprint.Failure{RetryAfter: p.retryAfter, Message: c.host + " answered " + strconv.Itoa(p.status)}
	if words := http.StatusText(p.status); words != "" {
		f.Message += " " + words
	}
	// Who refuses a key may show part of it, in a form that nobody can foresee.
	aboutKey := p.status == http.StatusUnauthorized || p.status == http.StatusForbidden
	if said := c.short(p.message); said != "" && !aboutKey {
		f.Message += ": " + said
	}
	switch {
	case p.tooLong():
		f.Code, f.Permanent = CodeTooLong, true
	case p.spent():
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

// failure is one of ours about an answer: "host answered ...".
func (c *Client) failure(code, what string) *blueprint.Failure {
	return &blueprint.Failure{Code: code, Message: c.host + " answered " + c.short(what)}
}

// retryAfter reads the header, in which providers send parts of seconds, too.
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
