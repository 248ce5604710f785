package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-very-secret-key"

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// provider is a server that answers as a test says and keeps what it was asked.
type provider struct {
	*httptest.Server
	asked   []map[string]any
	headers []http.Header
	paths   []string
	answer  func(n int, w http.ResponseWriter) // n counts from 1
}

func newProvider(t testing.TB, answer func(n int, w http.ResponseWriter)) *provider {
	p := &provider{answer: answer}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		value, err := blueprint.Decode(data)
		if err != nil {
			t.Errorf("asked %q: %v", data, err)
		}
		p.asked, p.headers, p.paths = append(p.asked, value.(map[string]any)), append(p.headers, r.Header), append(p.paths, r.RequestURI)
		p.answer(len(p.asked), w)
	}))
	t.Cleanup(p.Close)
	return p
}

// says answers a body with a status.
func says(status int, body string) func(int, http.ResponseWriter) {
	return func(_ int, w http.ResponseWriter) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// inTurn returns one answer after the other.
func inTurn(answers ...func(int, http.ResponseWriter)) func(int, http.ResponseWriter) {
	return func(n int, w http.ResponseWriter) { answers[min(n, len(answers))-1](n, w) }
}

func connection(provider Provider, baseURL string) *blueprint.OpenConnection {
	return &blueprint.OpenConnection{
		ID: "c", Type: blueprint.ConnectionAIProvider, Secrets: []string{key, ""},
		Config: map[string]any{"provider": string(provider), "baseUrl": baseURL, "apiKey": key},
		Authorize: func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+key)
			return nil
		},
	}
}

func client(t testing.TB, provider Provider, baseURL string) *Client {
	t.Helper()
	c, err := Open(connection(provider, baseURL), Options{
		HTTP: outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}), Clock: clock.NewVirtual(now), UserAgent: "blueprintd/test",
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func plain(t testing.TB, source string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(source))
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	return value
}

func asJSON(t testing.TB, value any) string {
	t.Helper()
	data, err := blueprint.Encode(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func question(text string) *Request {
	return &Request{Model: "m", Messages: []Message{{Role: RoleUser, Text: text}}}
}

const (
	hello     = `{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`
	helloToo  = `{"type":"message","role":"assistant","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":3,"output_tokens":1}}`
	objectOne = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"],"additionalProperties":false}`
)

func TestAddresses(t *testing.T) {
	for _, test := range []struct{ provider, base, want string }{
		{"openai", "", "https://api.openai.com/v1/chat/completions"},
		{"openai", "http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/chat/completions"},
		{"openai", " http://h/v1/ ", "http://h/v1/chat/completions"},
		{"openai", "https://h/openai/v1?api-version=1#x", "https://h/openai/v1/chat/completions?api-version=1"},
		{"anthropic", "", "https://api.anthropic.com/v1/messages"},
		{"anthropic", "http://h:1", "http://h:1/v1/messages"},
		{"anthropic", "https://h/proxy/", "https://h/proxy/v1/messages"},
		{"other", "", CodeBadConfig}, {"", "", CodeBadConfig}, {"openai", "ftp://h", CodeBadConfig}, {"openai", "http://u:p@h/v1", CodeBadConfig},
		{"openai", "h/v1", CodeBadConfig}, {"openai", "http://[", CodeBadConfig},
	} {
		t.Run(test.provider+" "+test.base, func(t *testing.T) {
			c, err := Open(connection(Provider(test.provider), test.base), Options{})
			got := ""
			if err != nil {
				got = err.(*blueprint.Failure).Code
			} else {
				got = c.address
			}
			if got != test.want {
				t.Errorf("%s %q: %s, want %s", test.provider, test.base, got, test.want)
			}
		})
	}
	other := connection(OpenAI, "")
	other.Type = blueprint.ConnectionHTTP
	if _, err := Open(other, Options{}); err == nil || !strings.Contains(err.Error(), "of type http;") {
		t.Errorf("got %v, want an error and \"of type http;\" in it", err)
	}
}

func TestHeaders(t *testing.T) {
	for protocol, answer := range map[Provider]string{OpenAI: hello, Anthropic: helloToo} {
		t.Run(fmt.Sprint(protocol), func(t *testing.T) {
			p := newProvider(t, says(200, answer))
			a, err := client(t, protocol, p.URL).Ask(context.Background(), question("Hi"))
			if err != nil || a.Message.Text != "Hello" || a.Usage != (Usage{3, 1}) || a.Truncated {
				t.Fatalf("%+v, %v", a, err)
			}
			h := p.headers[0]
			if h.Get("Authorization") != "Bearer "+key || h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "blueprintd/test" {
				t.Errorf("%v, want Authorization %v, Content-Type application/json and User-Agent blueprintd/test", h, "Bearer "+key)
			}
			if want := map[Provider]string{Anthropic: "2023-06-01"}[protocol]; h.Get("Anthropic-Version") != want {
				t.Errorf("%v, want Anthropic-Version %v", h, want)
			}
		})
	}
}

// What providers say when they do not answer, in the forms that they publish.
func TestRefusals(t *testing.T) {
	const openai = `{"error":{"message":%q,"type":"x","param":null,"code":%q}}`
	const anthropic = `{"type":"error","error":{"type":%q,"message":%q},"request_id":"r"}`
	for _, test := range []struct {
		provider  Provider
		status    int
		body      string
		code      string
		permanent bool
		message   string
	}{
		{OpenAI, 400, fmt.Sprintf(openai, "Bad  thing\nhe\u200bre", ""), CodeInvalid, true, "answered 400 Bad Request: Bad thing here"},
		{OpenAI, 401, fmt.Sprintf(openai, "Incorrect API key provided: sk-ver****-key.", "invalid_api_key"), CodeUnauthorized, false, "401 Unauthorized: it does not accept the credentials"},
		{OpenAI, 403, fmt.Sprintf(openai, "No access with sk-ver", ""), CodeUnauthorized, false, "403 Forbidden: it does not accept the credentials of the connection for this"},
		{Anthropic, 403, fmt.Sprintf(anthropic, "permission_error", "sk-v...-key may not"), CodeUnauthorized, false, "403 Forbidden: it does not accept the credentials of the connection for this"},
		{OpenAI, 200, `{"error":{"code":403,"message":"sk-ver"}}`, CodeUnauthorized, false, "403 Forbidden: it does not accept the credentials of the connection for this"},
		{OpenAI, 400, fmt.Sprintf(openai, "Bad key "+key+", "+key[:8]+", "+key[:11]+"...\nor x"+key[7:]+" or "+key[9:11]+"\u200b"+key[11:], ""), CodeInvalid, true, "400 Bad Request: Bad key ***, ***, ***... or x*** or ***"},
		{OpenAI, 500, fmt.Sprintf(openai, strings.Repeat(key[:9]+" ", 200), ""), CodeProvider, false, "500 Internal Server Error: *** *** ***"},
		{OpenAI, 404, fmt.Sprintf(openai, "The model `m` does not exist", "model_not_found"), CodeInvalid, true, "404 Not Found: The model `m` does not exist"},
		{OpenAI, 429, fmt.Sprintf(openai, "Slow down", "rate_limit_exceeded"), CodeRateLimited, false, "429"},
		{OpenAI, 429, fmt.Sprintf(openai, "You exceeded your quota", "insufficient_quota"), CodeQuota, false, "quota"},
		{OpenAI, 402, `{"error":"pay"}`, CodeQuota, false, "402 Payment Required: pay"},
		{OpenAI, 400, fmt.Sprintf(openai, "too many", "context_length_exceeded"), CodeTooLong, true, "too many"},
		{OpenAI, 500, `oops`, CodeProvider, false, "answered 500 Internal Server Error"},
		{OpenAI, 503, `<html>`, CodeProvider, false, "503"},
		{OpenAI, 302, `{}`, CodeProvider, false, "302"},
		{OpenAI, 422, `{"detail":[{"loc":["body","model"],"msg":"field required"}]}`, CodeInvalid, true, "body.model: field required"},
		{OpenAI, 422, `{"detail":"no"}`, CodeInvalid, true, "no"},
		{OpenAI, 400, `{"object":"error","message":"flat"}`, CodeInvalid, true, "flat"},
		{OpenAI, 400, `[{"error":{"code":400,"message":"in a list"}}]`, CodeInvalid, true, "in a list"},
		{OpenAI, 200, `{"error":{"code":429,"message":"later"}}`, CodeRateLimited, false, "429 Too Many Requests: later"},
		{OpenAI, 200, `{"error":{"message":"behind"}}`, CodeProvider, false, "502 Bad Gateway: behind"},
		{Anthropic, 400, fmt.Sprintf(anthropic, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"), CodeTooLong, true, "prompt is too long"},
		{Anthropic, 400, fmt.Sprintf(anthropic, "invalid_request_error", "Your credit balance is too low to access the API"), CodeQuota, false, "credit balance"},
		{Anthropic, 413, fmt.Sprintf(anthropic, "request_too_large", "Request too large"), CodeTooLong, true, "413"},
		{Anthropic, 529, fmt.Sprintf(anthropic, "overloaded_error", "Overloaded"), CodeProvider, false, "answered 529: Overloaded"},
		{Anthropic, 404, fmt.Sprintf(anthropic, "not_found_error", "model: m"), CodeInvalid, true, "model: m"},
		{OpenAI, 200, `not json`, CodeBadAnswer, false, "not a JSON object; check the connection's baseUrl"},
		{OpenAI, 200, `[]`, CodeBadAnswer, false, "not a JSON object"},
		{OpenAI, 200, `{"choices":[]}`, CodeBadAnswer, false, "without a message"},
		{OpenAI, 200, `{"choices":[{"message":{"content":null,"refusal":"I must not"},"finish_reason":"stop"}]}`, CodeRefused, false, "the model refuses: I must not"},
		{OpenAI, 200, `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`, CodeRefused, false, "filter"},
		{Anthropic, 200, `{"content":"x"}`, CodeBadAnswer, false, "without a message"},
		{Anthropic, 200, `{"content":[],"stop_reason":"refusal","stop_details":{"category":"cyber","explanation":"No."}}`, CodeRefused, false, "the model refuses: No."},
		{Anthropic, 200, `{"content":[{"type":"tool_use","name":"x"}]}`, CodeBadAnswer, false, "has no id"},
		{OpenAI, 200, strings.Repeat(" ", MaxAnswer+1), CodeTooLarge, false, "more than 4 MiB"},
	} {
		t.Run(fmt.Sprint(test.provider, " ", test.status, " ", test.message), func(t *testing.T) {
			p := newProvider(t, says(test.status, test.body))
			_, err := client(t, test.provider, p.URL).Ask(context.Background(), question("Hi"))
			var f *blueprint.Failure
			if !errors.As(err, &f) {
				t.Fatalf("%v, want a failure", err)
			}
			if f.Code != test.code || f.Permanent != test.permanent || f.NotSent || !strings.Contains(f.Message, test.message) {
				t.Errorf("%.80s: %+v, want %s with %q, sent, permanent: %v", test.body, f, test.code, test.message, test.permanent)
			}
			if strings.Contains(err.Error(), key[:6]) || strings.Contains(err.Error(), key[len(key)-8:]) || len(err.Error()) > 500 {
				t.Errorf("%s", err)
			}
			if len(p.asked) != 1 {
				t.Errorf("%d %.80s: asked %d times, want 1", test.status, test.body, len(p.asked))
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0.5": time.Second / 2, "": 0, "soon": 0, "-3": 0, "NaN": 0, "99999999999999999999": time.Hour,
		now.Add(time.Minute).Format(http.TimeFormat): time.Minute, now.Add(-time.Minute).Format(http.TimeFormat): 0,
	} {
		t.Run(value, func(t *testing.T) {
			p := newProvider(t, func(_ int, w http.ResponseWriter) {
				w.Header().Set("Retry-After", value)
				w.WriteHeader(429)
			})
			_, err := client(t, OpenAI, p.URL).Ask(context.Background(), question("Hi"))
			var f *blueprint.Failure
			if !errors.As(err, &f) || f.RetryAfter != want {
				t.Errorf("%+v, want RetryAfter %v", f, want)
			}
		})
	}
}

// The way there is the caller's to explain.
func TestErrorsOfTheWay(t *testing.T) {
	closed := client(t, OpenAI, "http://10.0.0.1/v1")
	var refused *outbound.RefusedError
	if _, err := closed.Ask(context.Background(), question("Hi")); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	p := newProvider(t, says(200, hello))
	c := client(t, OpenAI, p.URL)
	c.connection.Authorize = func(context.Context, *http.Request) error { return &blueprint.Pause{} }
	var pause *blueprint.Pause
	if _, err := c.Ask(context.Background(), question("Hi")); !errors.As(err, &pause) || len(p.asked) > 0 {
		t.Errorf("got %v, want none", err)
	}
	var f *blueprint.Failure
	if _, err := c.Ask(context.Background(), question(strings.Repeat("x", MaxRequest))); !errors.As(err, &f) || f.Code != CodeTooLarge || !f.NotSent {
		t.Errorf("got %v, want Code %v and NotSent", err, CodeTooLarge)
	}
}

// What a server does not take is said otherwise, once, and remembered.
func TestLearning(t *testing.T) {
	refuse := func(message, param string) func(int, http.ResponseWriter) {
		return says(400, fmt.Sprintf(`{"error":{"message":%q,"param":%q}}`, message, param))
	}
	words := "response_format says nothing; the system message says: Your final answer"
	for _, test := range []struct {
		name     string
		provider Provider
		maximum  int64
		schema   string
		answers  []func(int, http.ResponseWriter)
		asked    int
		want     string // of the last request
	}{
		{"limit", OpenAI, 9, "", []func(int, http.ResponseWriter){refuse("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", "max_tokens"), says(200, hello)}, 2, `"max_completion_tokens":9`},
		{"limit twice", OpenAI, 9, "", []func(int, http.ResponseWriter){refuse("max_tokens is too large", "max_tokens")}, 2, `"max_completion_tokens":9`},
		{"low limit", Anthropic, 0, "", []func(int, http.ResponseWriter){refuse("max_tokens: 16000 > 4096", ""), says(200, helloToo)}, 2, `"max_tokens":4096`},
		{"own limit", Anthropic, 9, "", []func(int, http.ResponseWriter){refuse("max_tokens: 9 > 4", "")}, 1, `"max_tokens":9`},
		{"schema", OpenAI, 0, objectOne, []func(int, http.ResponseWriter){refuse("This response_format type is unavailable now", ""), says(200, hello)}, 2, words},
		{"schema by param", OpenAI, 0, objectOne, []func(int, http.ResponseWriter){refuse("Invalid schema", "response_format"), says(200, hello)}, 2, words},
		{"another param", OpenAI, 0, objectOne, []func(int, http.ResponseWriter){refuse("too hot", "temperature")}, 1, `"response_format"`},
		{"schema of messages", Anthropic, 0, objectOne, []func(int, http.ResponseWriter){refuse("output_config: Extra inputs are not permitted", ""), says(200, helloToo)}, 2, "Your final answer"},
		{"both", OpenAI, 9, objectOne, []func(int, http.ResponseWriter){refuse("no response_format", ""), refuse("use max_completion_tokens", ""), says(200, hello)}, 3, `"max_completion_tokens":9`},
		{"no object", OpenAI, 0, `{"type":"array"}`, []func(int, http.ResponseWriter){refuse("no", "")}, 1, "Your final answer"},
		{"too long", OpenAI, 0, objectOne, []func(int, http.ResponseWriter){says(400, `{"error":{"code":"context_length_exceeded"}}`)}, 1, `"response_format"`},
		{"not a matter of form", OpenAI, 9, objectOne, []func(int, http.ResponseWriter){says(500, `{"error":{"message":"max_tokens response_format"}}`)}, 1, `"max_tokens":9`},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newProvider(t, inTurn(test.answers...))
			c := client(t, test.provider, p.URL)
			r := question("Hi")
			r.MaxTokens = test.maximum
			if test.schema != "" {
				r.Schema = plain(t, test.schema)
			}
			_, first := c.Ask(context.Background(), r)
			last := asJSON(t, p.asked[len(p.asked)-1])
			if test.want == words {
				if test.want = "Your final answer"; strings.Contains(last, "response_format") {
					t.Errorf("%v, want no \"response_format\"", last)
				}
			}
			if len(p.asked) != test.asked || !strings.Contains(last, test.want) {
				t.Errorf("asked %d times, at last %s; want %v and %q in it", len(p.asked), last, test.asked, test.want)
			}
			if first != nil {
				return
			}
			if _, err := c.Ask(context.Background(), r); err != nil || len(p.asked) != test.asked+1 {
				t.Errorf("not remembered: %v, want length %v", err, test.asked+1)
			}
		})
	}
}
