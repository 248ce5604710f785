package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/smtp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
	"blueprintd/blueprint/jsonschema"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newSandbox(t testing.TB) (*Sandbox, *outbound.Client) {
	t.Helper()
	s, err := New(Options{
		Clock: clock.NewVirtual(time.Date(2030, 5, 1, 12, 0, 0, 0, time.UTC)), IDs: ids.Seeded(1),
		Parse: func([]byte) (*blueprint.Mail, error) { return &blueprint.Mail{Subject: "s", Text: "t"}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, outbound.New(outbound.Options{Network: s, RootCAs: s.Authorities()})
}

func decode(t testing.TB, text string) any {
	t.Helper()
	value, err := blueprint.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func ask(t testing.TB, c *outbound.Client, ctx context.Context, method, url, kind, body string, header ...string) (int, string, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", kind)
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := c.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	return response.StatusCode, string(data), err
}

// TestRuleTimes makes a hundred concurrent requests for a rule with times 3.
func TestRuleTimes(t *testing.T) {
	s, c := newSandbox(t)
	if err := s.SetRules(decode(t, `{"rules":[{"match":{"host":"*"},"times":3,"answer":{"status":429}}]}`)); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	limited := 0
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			status, _, err := ask(t, c, t.Context(), "GET", "https://a.example/", "", "")
			mu.Lock()
			defer mu.Unlock()
			if err != nil || status == 429 {
				limited++
			}
		})
	}
	group.Wait()
	if limited != 3 {
		t.Errorf("%d of 100 were limited, want 3", limited)
	}
	if list, _ := s.Calls(Filter{}); len(list) != 100 {
		t.Errorf("%d calls are listed, want 100", len(list))
	}
}

// TestFakes selects fakes by path alone and by node type.
func TestFakes(t *testing.T) {
	const asJSON = "application/json"
	_, c := newSandbox(t)
	for _, test := range []struct{ node, method, url, kind, body, want string }{
		{"", "GET", "https://a.example/x?y=1&y=2", "", "", `"query":{"y":["1","2"]}`},
		{"", "POST", "https://a.example/x", "text/plain", "hello", `"body":"hello"`},
		{"", "GET", "https://a.example/v1/models", "", "", `"data":[{`},
		{"http-request", "GET", "https://a.example/v1/models", "", "", `"method":"GET"`},
		{"http-request", "POST", "https://a.example/v1/chat/completions", asJSON, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `"content":"The sandbox answers: hi"`},
		{"", "POST", "https://a.example/v1/messages", asJSON, `{"model":"m","system":"be brief","messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`, `"input_tokens":3`},
		{"", "POST", "https://a.example/rpc", asJSON, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, `"structuredContent":{"arguments":{},"name":"x"}`},
		{"http-request", "POST", "https://a.example/rpc", asJSON, `{"jsonrpc":"2.0","id":1,"method":"eth_call"}`, `"method":"POST"`},
		{"", "POST", "https://a.example/rpc", asJSON, `{"jsonrpc":"2.0","id":1,"method":"resources/list"}`, `"code":-32601`},
		{"", "POST", "https://slack.com/api/auth.test", "", "", `"error":"not_authed"`},
		{"", "GET", "https://slack.com/api/conversations.info?channel=C0ORDERS&token=t", "", "", `"name":"orders"`},
		{"", "GET", "https://slack.com/api/conversations.list?token=t", "", "", `"id":"C0GENERAL"`},
		{"", "POST", "https://slack.com/api/chat.postMessage", "application/x-www-form-urlencoded", "token=t&channel=general&text=x", `"channel":"C0GENERAL"`},
		{"", "POST", "https://slack.com/api/chat.postMessage", "application/x-www-form-urlencoded", "token=t&channel=general", `"error":"no_text"`},
		{"http-request", "POST", "https://id.example/token", "application/x-www-form-urlencoded", "grant_type=authorization_code&code=c&client_id=x", `"refresh_token":"sandbox-refresh-`},
		{"http-request", "POST", "https://id.example/token", "application/x-www-form-urlencoded", "grant_type=client_credentials&scope=a", `"scope":"a"`},
	} {
		t.Run(test.method+" "+test.url+" "+test.want, func(t *testing.T) {
			ctx := outbound.WithCaller(t.Context(), outbound.Caller{NodeType: test.node})
			status, answer, err := ask(t, c, ctx, test.method, test.url, test.kind, test.body)
			if err != nil || status != 200 || !strings.Contains(answer, test.want) {
				t.Errorf("%s %s %s: %d %s %v, want 200 and %q in it", test.node, test.method, test.url, status, answer, err, test.want)
			}
		})
	}
}

// TestCallsAreBounded makes more calls than are stored.
func TestCallsAreBounded(t *testing.T) {
	s, _ := newSandbox(t)
	for range MaxCalls + 7 {
		s.calls.begin(&outbound.Caller{}, blueprint.ExchangeRequest{URL: "https://a.example/"}, 0).failed("x")
	}
	if list, dropped := s.Calls(Filter{Limit: 10}); len(list) != 10 || dropped != 7 {
		t.Errorf("%d calls, %d dropped; want 10 and 7", len(list), dropped)
	}
	s.Clear()
	if s.calls.maxWeight != MaxCallBytes {
		t.Errorf("at most %d bytes are stored, want %d", s.calls.maxWeight, MaxCallBytes)
	}
	s.calls.maxWeight = 2 * outbound.MaxTaped // large bodies take long to redact
	large := strings.Repeat("x", outbound.MaxTaped+10)
	const many = 4 // more than fit
	for range many {
		s.calls.begin(&outbound.Caller{}, blueprint.ExchangeRequest{}, 0).answered(ok(large), false)
	}
	list, dropped := s.Calls(Filter{})
	if dropped == 0 || s.calls.weight > s.calls.maxWeight || !list[0].Response.Cut || len(list)+dropped != many {
		t.Errorf("%d calls of %d bytes, %d dropped; want other than 0, at most %v, Cut and length %v", len(list), s.calls.weight, dropped, s.calls.maxWeight, many)
	}
}

// TestSeedIsReproducible sends the same requests to two sandboxes.
func TestSeedIsReproducible(t *testing.T) {
	talk := func() string {
		s, c := newSandbox(t)
		for _, url := range []string{"https://a.example/v1/chat/completions", "https://a.example/v1/messages", "https://a.example/token"} {
			for range 2 {
				_, _, err := ask(t, c, outbound.WithCaller(t.Context(), outbound.Caller{ExecutionID: "e", Address: "n"}), "POST", url, "application/json", `{"model":"m","messages":[]}`)
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		list, _ := s.Calls(Filter{})
		data, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if a, b := talk(), talk(); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}

// TestInstances validates generated values against their schemas.
func TestInstances(t *testing.T) {
	for _, text := range []string{
		`{"type":"object","properties":{"a":{"type":"string","minLength":7},"b":{"type":"array","items":{"type":"integer","minimum":2},"minItems":2}},"required":["a","b"]}`,
		`{"type":"integer","exclusiveMinimum":3}`, `{"type":"number","maximum":-1.5}`, `{"type":"integer","multipleOf":5,"minimum":12}`, `{"type":"integer","exclusiveMaximum":0}`,
		`{"type":["null","boolean"]}`, `{"const":5}`, `{"enum":["x"]}`, `{"type":"string","maxLength":2}`, `{"type":"string","format":"email"}`,
		`{"anyOf":[{"type":"string"},{"type":"null"}]}`, `{"allOf":[{"type":"object","required":["a"]},{"properties":{"a":{"type":"boolean"}}}]}`,
		`{"type":"object","properties":{"t":{"$ref":"#/$defs/t"}},"required":["t"],"$defs":{"t":{"type":"object","properties":{"n":{"type":"null"}},"required":["n"]}}}`,
		`{"type":"string","pattern":"^[A-Z]{2}-\\d+(x|y)?$"}`, `{"type":"string","pattern":"^(INV|ORD)-[0-9]{4}$"}`,
		`{}`, `true`,
	} {
		value, problem := instanceOf(decode(t, text))
		compiled, err := jsonschema.Compile(decode(t, text))
		if err != nil {
			t.Fatal(err)
		}
		plain, err := blueprint.Plain(value)
		if err != nil {
			t.Fatal(err)
		}
		if issues := compiled.Validate(plain); issues != nil || problem != "" {
			t.Errorf("%s: %v: %v, want nil and nothing", text, plain, issues)
		}
	}
	instanceOf(decode(t, `{"$ref":"#"}`)) // ends
	for _, text := range []string{
		`{"type":"string","pattern":"^a\\bb$"}`, `{"type":"string","pattern":"^[a-z]{3}$","minLength":5}`, `{"type":"string","pattern":"("}`,
		`{"type":"array","minItems":1000,"items":{"type":"array","minItems":1000,"items":{"type":"array","minItems":1000,"items":{"type":"null"}}}}`,
	} {
		if _, problem := instanceOf(decode(t, text)); problem == "" {
			t.Errorf("%s: no problem reported", text)
		}
	}
}

// TestMailSessionsEnd checks that mail sessions leave no goroutines.
func TestMailSessionsEnd(t *testing.T) {
	s, c := newSandbox(t)
	silent, err := c.DialContext(t.Context(), "tcp", "mail.example:25")
	if err != nil {
		t.Fatal(err)
	}
	silent.Close()
	conn, err := c.DialContext(t.Context(), "tcp", "mail.example:587")
	if err != nil {
		t.Fatal(err)
	}
	client, err := smtp.NewClient(conn, "mail.example")
	if err == nil {
		err = client.StartTLS(c.TLSConfig("mail.example"))
	}
	for range 2 {
		for _, step := range []func() error{
			func() error { return client.Mail("a@example.org") },
			func() error { return client.Rcpt("b@example.org") },
			func() error {
				w, err := client.Data()
				if err == nil {
					_, err = io.WriteString(w, "Subject: x\r\n\r\nhello\r\n")
					err = errors.Join(err, w.Close())
				}
				return err
			},
		} {
			if err == nil {
				err = step()
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	_ = client.Quit()
	conn.Close()
	mails := 0
	list, _ := s.Calls(Filter{Host: "mail.example:587"})
	for _, x := range list {
		if x.Request.Headers["subject"] == "s" && x.Response.Status == 250 {
			mails++
		}
	}
	if mails != 2 {
		t.Errorf("%d mails: %v, want 2", mails, list)
	}
}

func TestGlob(t *testing.T) {
	for _, test := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "a", true}, {"*.b", "a.b", true}, {"a*b*c", "axxbyyc", true}, {"a*b*c", "acb", false}, {"ab*ba", "aba", false}, {"**", "x", true},
	} {
		t.Run(test.pattern+" "+test.text, func(t *testing.T) {
			if glob(test.pattern, test.text) != test.want {
				t.Errorf("%s %s, want %v", test.pattern, test.text, test.want)
			}
		})
	}
}

// FuzzRules checks that any value is accepted as rules or refused with a path, and that
// accepted rules can be read and set again.
func FuzzRules(f *testing.F) {
	for _, seed := range []string{
		`{"rules":[{"match":{"host":"a*"},"times":2,"answer":{"status":429,"headers":{"Retry-After":1},"body":{"a":[1]},"delayMs":0,"close":false}}]}`,
		`{"rules":[{"match":{"procedure":"*"},"answer":{"close":true}},{"match":{"route":"v1","path":"/x"},"answer":{"status":500}}]}`,
		`{"rules":[{"match":{"nodeId":"loop[*]/x"},"answer":{"pause":{"prompt":"p","kind":"approval"}}}]}`, `{"rules":[{"match":null,"answer":"x"},5]}`, `[]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, err := blueprint.Decode([]byte(text))
		if err != nil {
			return
		}
		list, err := readRules(value, Known{})
		var wrong *blueprint.Error
		if err != nil {
			if !errors.As(err, &wrong) || wrong.Code != blueprint.CodeBadRequest || len(wrong.Issues) == 0 {
				t.Fatalf("refused with %v, want Code %v and some", err, blueprint.CodeBadRequest)
			}
			return
		}
		a := &received{host: "a.example", path: "/x", request: blueprint.ExchangeRequest{Method: "GET", URL: "https://a.example/x"}}
		request, _ := http.NewRequest("GET", "https://a.example/x", nil)
		for _, r := range list {
			r.match.fits(a)
			if r.answer.answers() {
				if response, err := r.answer.reply(a).response(request, r.answer.cut); err == nil {
					_, _ = io.Copy(io.Discard, response.Body)
				}
			}
		}
		s := &Sandbox{}
		s.setRules(list)
		plain, err := blueprint.Plain(map[string]any{"rules": s.Rules()})
		if err == nil {
			err = s.SetRules(plain)
		}
		if err != nil {
			t.Fatalf("the returned rules are refused: %v", err)
		}
	})
}
