package llm

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/outbound"
)

// Provider names a protocol.
type Provider string

const (
	OpenAI    Provider = "openai"
	Anthropic Provider = "anthropic"
)

type Options struct {
	HTTP      *outbound.Client
	Clock     clock.Clock // for Retry-After with an instant
	UserAgent string
}

// Client calls one server. It remembers what the server does not support, and is not
// safe for concurrent use.
type Client struct {
	options    Options
	connection *blueprint.OpenConnection
	protocol   protocol
	address    string
	host       string
	quirks     quirks
}

type protocol interface {
	request(r *Request, q quirks) map[string]any
	// answer decodes a successful response. Usage is also set beside a failure.
	answer(value map[string]any) (*Answer, *blueprint.Failure)
	// header returns the headers of every request.
	header() http.Header
	// limited reports whether another form of the token limit may help.
	limited(r *Request) bool
	// native reports whether the provider can enforce a schema.
	native(schema any) bool
}

// quirks records features that a server turned out not to support.
type quirks struct {
	noSchema bool // schemas: put them into the prompt
	altLimit bool // the first form of the token limit
}

// Open returns a client for a connection of type ai-provider. It sends nothing. Errors
// are *blueprint.Failure with CodeBadConfig.
func Open(connection *blueprint.OpenConnection, options Options) (*Client, error) {
	provider := Provider(text(connection.Config["provider"]))
	base, path := "https://api.openai.com/v1", "/chat/completions"
	if provider == Anthropic {
		base, path = "https://api.anthropic.com", "/v1/messages"
	}
	if own := text(connection.Config["baseUrl"]); own != "" {
		base = own
	}
	u, err := url.Parse(strings.TrimSpace(base))
	if connection.Type != blueprint.ConnectionAIProvider || provider != OpenAI && provider != Anthropic ||
		err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil, unusable(connection)
	}
	u.Fragment = ""
	u = u.JoinPath(path)
	c := &Client{options: options, connection: connection, address: u.String(), host: u.Host}
	if provider == Anthropic {
		c.protocol = anthropic{}
	} else {
		c.protocol = openAI{official: isOpenAIHost(u.Hostname())}
	}
	return c, nil
}

func unusable(connection *blueprint.OpenConnection) error {
	message := `the connection's provider must be "openai" or "anthropic", and its baseUrl an address such as https://api.openai.com/v1`
	if connection.Type != blueprint.ConnectionAIProvider {
		message = "the connection is of type " + string(connection.Type) + "; a language model needs one of type " + string(blueprint.ConnectionAIProvider)
	}
	return &blueprint.Failure{Code: CodeBadConfig, Message: message, Permanent: true, NotSent: true}
}

// maxTries bounds how often a refused request, which uses no tokens, is sent again.
const maxTries = 3

// Ask sends a request and waits for the response. Beside an error, only the Usage of
// the Answer is valid, if any.
func (c *Client) Ask(ctx context.Context, r *Request) (*Answer, error) {
	ctx = outbound.Authorize(ctx, c.connection.Authorize)
	for try := 1; ; try++ {
		status, header, data, err := c.post(ctx, c.protocol.request(r, c.quirks))
		if err != nil {
			return nil, err
		}
		value, _ := blueprint.Decode(data)
		refusal := c.problemOf(status, header, value)
		switch {
		case refusal == nil && object(value) == nil:
			return nil, c.failure(CodeBadAnswer, "something that is not a JSON object; check the connection's baseUrl")
		case refusal == nil:
			answer, failure := c.protocol.answer(object(value))
			if failure != nil {
				return answer, c.failure(failure.Code, failure.Message)
			}
			return answer, nil
		case try == maxTries || !c.adapt(r, refusal):
			return nil, c.refused(refusal)
		}
	}
}

// adapt derives from a refusal how to send the request in another form, and reports whether
// there is another form.
func (c *Client) adapt(r *Request, p *problem) bool {
	if p.status != http.StatusBadRequest && p.status != http.StatusUnprocessableEntity || p.tooLong() {
		return false
	}
	about := strings.ToLower(p.param + " " + p.message)
	if !c.quirks.altLimit && c.protocol.limited(r) && (strings.Contains(about, "max_tokens") || strings.Contains(about, "max_completion_tokens")) {
		c.quirks.altLimit = true
		return true
	}
	// Many servers name no parameter; if a server names one, the refusal concerns that one.
	ours := p.param == "" || strings.HasPrefix(p.param, "response_format") || strings.HasPrefix(p.param, "output_config") || strings.HasPrefix(p.param, "text.format")
	if !c.quirks.noSchema && r.Schema != nil && ours && c.protocol.native(r.Schema) {
		c.quirks.noSchema = true
		return true
	}
	return false
}

func (c *Client) post(ctx context.Context, body map[string]any) (int, http.Header, []byte, error) {
	encoded, err := blueprint.Encode(body)
	if err != nil {
		return 0, nil, nil, &blueprint.Failure{Code: CodeInvalid, Message: "the request cannot be written as JSON", Permanent: true, NotSent: true}
	}
	if len(encoded) > MaxRequest {
		return 0, nil, nil, &blueprint.Failure{Code: CodeTooLarge, Message: "the conversation is larger than 16 MiB", Permanent: true, NotSent: true}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address, bytes.NewReader(encoded))
	if err != nil {
		return 0, nil, nil, unusable(c.connection)
	}
	request.Header = c.protocol.header()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.options.UserAgent)
	response, err := c.options.HTTP.Do(request)
	if err != nil {
		return 0, nil, nil, err
	}
	defer response.Body.Close()
	data, err := outbound.ReadAll(response.Body, MaxAnswer)
	if errors.Is(err, outbound.ErrTooLarge) {
		return 0, nil, nil, c.failure(CodeTooLarge, "more than 4 MiB")
	}
	return response.StatusCode, response.Header, data, err
}

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

// problemOf decodes an error, nil for none. Some servers send one with status 200.
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

const (
	// maxShown bounds the displayed text of a provider, in bytes.
	maxShown = 300
	// maxRead bounds the text that is processed, in bytes.
	maxRead = 4 << 10
	// leastPart is the length from which a part of a secret is masked, in bytes: less
	// is harmless and appears in ordinary words.
	leastPart = 8
)

// sanitize returns a provider's text as one short line without credentials.
func (c *Client) sanitize(said string) string {
	line := masked(oneLine(said), c.connection.Secrets)
	return blueprint.Shorten(line, maxShown)
}

// oneLine returns the beginning of a text on one line, without unprintable characters.
func oneLine(text string) string {
	printable := strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || unicode.IsSpace(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
	return blueprint.Prefix(strings.Join(strings.Fields(printable), " "), maxRead)
}

// masked replaces every secret in a text with ***, and every prefix or suffix of one:
// servers often quote part of the key that they refuse. It takes quadratic time.
func masked(text string, secrets []string) string {
	hidden := make([]bool, len(text))
	hide := func(from, to int) {
		for i := from; i < to; i++ {
			hidden[i] = true
		}
	}
	for _, secret := range secrets {
		least := min(leastPart, len(secret))
		if least == 0 {
			continue
		}
		for i := range len(text) {
			n := 0
			for n < len(secret) && i+n < len(text) && text[i+n] == secret[n] {
				n++
			}
			if n >= least {
				hide(i, i+n)
			}
			for n = 0; n < len(secret) && n <= i && text[i-n] == secret[len(secret)-1-n]; n++ {
			}
			if n >= least {
				hide(i-n+1, i+1)
			}
		}
	}
	var out strings.Builder
	for i := range len(text) {
		switch {
		case !hidden[i]:
			out.WriteByte(text[i])
		case i == 0 || !hidden[i-1]:
			out.WriteString("***")
		}
	}
	return strings.ToValidUTF8(out.String(), "") // a character may be cut in half
}
