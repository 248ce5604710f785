package trpc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// open starts a request and returns a function that reads its response line by
// line, "" at the end.
func (s *testServer) open(t *testing.T, ctx context.Context, target string, header http.Header) (*http.Response, func() string) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := s.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	reader := bufio.NewReader(response.Body)
	return response, func() string {
		line, err := reader.ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
			t.Errorf("reading: %v", err)
		}
		return line
	}
}

func keyHeader(more ...string) http.Header {
	header := http.Header{"Authorization": {"Bearer good"}}
	for i := 0; i < len(more); i += 2 {
		header.Set(more[i], more[i+1])
	}
	return header
}

// Lines are sent in the order in which the calls end, each immediately: a gate opens
// only after the previous line has been read.
func TestLinesComeAsCallsEnd(t *testing.T) {
	s := newTestServer(t, nil)
	input := url.QueryEscape(`{"0":{"json":{"name":"a"}},"1":{"json":{"name":"b"}},"2":{"json":{"name":"c"}},"3":{"json":{}}}`)
	response, line := s.open(t, t.Context(), "/api/trpc/test.gate,test.gate,test.gate,test.gate?batch=1&input="+input, keyHeader("Trpc-Accept", "application/jsonl"))
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "application/json" || response.Header.Get("Vary") != "trpc-accept, accept" {
		t.Errorf("answered %d %v, want 200, Content-Type application/json and Vary trpc-accept, accept", response.StatusCode, response.Header)
	}
	if got := response.Header.Get("X-Accel-Buffering"); got != "no" {
		t.Errorf("X-Accel-Buffering is %q, want no: nginx would send all lines at the end", got)
	}
	expect := func(want string) {
		t.Helper()
		if got := line(); got != want {
			t.Errorf("got  %swant %s", got, want)
		}
	}
	expect(`{"json":{"0":[[0],[null,0,0]],"1":[[0],[null,0,1]],"2":[[0],[null,0,2]],"3":[[0],[null,0,3]]}}` + "\n")
	failure := strings.TrimSuffix(bareError("name: required", blueprint.CodeBadRequest, "test.gate"), "}}") + `,"issues":[{"path":["name"],"message":"required"}]}}`
	expect(`{"json":[3,0,[[{"error":` + failure + `}]]]}` + "\n")
	for _, step := range []struct{ gate, index string }{{"b", "1"}, {"c", "2"}, {"a", "0"}} {
		close(s.gates[step.gate])
		expect(`{"json":[` + step.index + `,0,[[{"result":{"data":"` + step.gate + `"}}]]]}` + "\n")
	}
	expect("")
}

// Behind a proxy, the lines of a request with a body wait until the proxy has seen its end.
func TestLinesWaitBehindProxies(t *testing.T) {
	s := newTestServer(t, nil)
	waits := 0
	s.handler.settle = func(context.Context, time.Duration) bool {
		waits++
		return true
	}
	const lines, forwarded = "\nTrpc-Accept: application/jsonl", "\nX-Forwarded-For: 198.51.100.1"
	for _, test := range []struct {
		head, body string
		want       int
	}{
		{"POST /api/trpc/test.login?batch=1\nContent-Type: application/json" + lines + forwarded, "{}", 1},
		{"POST /api/trpc/test.login?batch=1\nContent-Type: application/json" + lines, "{}", 0},
		{"POST /api/trpc/test.login?batch=1\nContent-Type: application/json" + forwarded, "{}", 0},
		{"GET /api/trpc/test.open?batch=1" + lines + forwarded, "", 0},
	} {
		t.Run(test.head, func(t *testing.T) {
			waits = 0
			if answer := s.raw(t, test.head, test.body); waits != test.want || strings.Contains(test.head, lines) && answer.status != http.StatusOK {
				t.Errorf("%d %s: waited %d times, want %d", answer.status, answer.body, waits, test.want)
			}
		})
	}
}

func TestLines(t *testing.T) {
	s := newTestServer(t, nil)
	noKey := bareError("API key missing: send the header Authorization: Bearer KEY", blueprint.CodeUnauthorized, "test.list")
	head := `{"json":{"0":[[0],[null,0,0]]}}` + "\n"
	const wish = "\nTrpc-Accept: application/jsonl"
	for _, test := range []struct {
		name, head string
		status     int
		want       string
	}{
		{"own header", "GET /api/trpc/test.open?batch=1" + wish, 200, head + `{"json":[0,0,[[{"result":{"data":"hi"}}]]]}` + "\n"},
		{"accept", "GET /api/trpc/test.open?batch=1\nAccept: text/html, application/jsonl", 200, head + `{"json":[0,0,[[{"result":{"data":"hi"}}]]]}` + "\n"},
		{"own header wins", "GET /api/trpc/test.open?batch=1\nTrpc-Accept: application/json\nAccept: application/jsonl", 200, "[" + wireData(`"hi"`) + "]"},
		{"with a weight is another type", "GET /api/trpc/test.open?batch=1\nAccept: application/jsonl;q=1", 200, "[" + wireData(`"hi"`) + "]"},
		{"no key", "GET /api/trpc/test.list?batch=1" + wish, 200, head + `{"json":[0,0,[[{"error":` + noKey + `}]]]}` + "\n"},
		{"cut short", "GET /api/trpc/test.list?batch=1&input=%7B" + withKey + wish, 200,
			head + `{"json":[0,0,[[{"error":` + bareError("JSON ends unexpectedly", blueprint.CodeBadRequest, "test.list") + `}]]]}` + "\n"},
		{"panic", "GET /api/trpc/test.panic?batch=1" + withKey + wish, 200,
			head + `{"json":[0,0,[[{"error":` + bareError("internal error", blueprint.CodeInternal, "test.panic") + `}]]]}` + "\n"},
		{"subscription", "GET /api/trpc/test.watch?batch=1" + wish, 200,
			head + `{"json":[0,0,[[{"error":` + bareError("Cannot batch subscription calls", blueprint.CodeBadRequest, "test.watch") + `}]]]}` + "\n"},
		{"not a batch", "GET /api/trpc/test.open" + wish, 400,
			wireError("Streaming requests must be batched (you can do a batch of 1)", blueprint.CodeBadRequest, "")},
		{"mixed", "GET /api/trpc/test.open,test.store?batch=1" + wish, 400, wireError("Cannot mix procedure types in call: query, mutation", blueprint.CodeBadRequest, "")},
		{"no content type", "POST /api/trpc/test.store?batch=1" + wish, 415, wireError("Missing content-type header", blueprint.CodeUnsupportedMedia, "")},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := s.raw(t, test.head, ""); got.status != test.status || got.body != test.want {
				t.Errorf("%s:\ngot  %d %s\nwant %d %s", test.name, got.status, got.body, test.status, test.want)
			}
		})
	}
}

// When a client disconnects, the contexts of its calls end, and no error is logged.
func TestLinesEndWithTheirClient(t *testing.T) {
	s := newTestServer(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	_, line := s.open(t, ctx, "/api/trpc/test.gate?batch=1&input="+url.QueryEscape(`{"0":{"json":{"name":"a"}}}`), keyHeader("Accept", "application/jsonl"))
	line()
	<-s.entered
	leave()
	if err := <-s.left; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v, want %v", err, context.Canceled)
	}
	s.Close() // waits for the handler
	if strings.Contains(s.logs.String(), "level=ERROR") {
		t.Errorf("logged %s, want no \"level=ERROR\"", s.logs)
	}
}

const (
	connected = "event: connected\ndata: {\"reconnectAfterInactivityMs\":60000}\n\n\n"
	returned  = "event: return\ndata: \n\n\n"
)

func failedEvent(message string, code blueprint.Code, path string) string {
	return "event: serialized-error\ndata: {\"json\":" + bareError(message, code, path) + "}\n\n\n"
}

func TestSubscriptions(t *testing.T) {
	s := newTestServer(t, nil)
	first := "data: {\"json\":{\"n\":1,\"since\":null}}\n\n\n"
	noKey := failedEvent("API key missing: send the header Authorization: Bearer KEY", blueprint.CodeUnauthorized, "test.watch")
	resumed := func(id string) string {
		restore := "event: restore-id\ndata: \nid: " + id + "\n\n\n"
		return connected + "data: {\"json\":{\"n\":1,\"since\":\"" + id + "\"}}\nid: \n\n\n" + restore + "data: {\"json\":\"<last>\"}\nid: \n\n\n" + restore + returned
	}
	input := func(text string) string { return "input=" + url.QueryEscape(text) }
	connection := func(text string) string { return "connectionParams=" + url.QueryEscape(text) }
	whole := connected + first + "data: {\"json\":\"<last>\"}\n\n\n" + returned
	for _, test := range []struct{ name, head, want string }{
		{"to its end", "GET /api/trpc/test.watch" + withKey, whole},
		{"key among the parameters", "GET /api/trpc/test.watch?" + connection(`{"authorization":"Bearer good"}`), whole},
		{"the header wins", "GET /api/trpc/test.watch?" + connection(`{"authorization":"Bearer bad"}`) + withKey, whole},
		{"no key", "GET /api/trpc/test.watch", connected + noKey},
		{"a key without its scheme", "GET /api/trpc/test.watch?" + connection(`{"authorization":"good"}`), connected + noKey},
		{"parameters null", "GET /api/trpc/test.watch?" + connection(`null`), connected + noKey},
		{"by POST", "POST /api/trpc/test.watch" + withKey + withJSON, connected +
			failedEvent(`Unsupported POST-request to subscription procedure at path "test.watch"`, blueprint.CodeMethodNotSupported, "test.watch")},
		{"input cut short", "GET /api/trpc/test.watch?input=%7B" + withKey, connected + failedEvent("JSON ends unexpectedly", blueprint.CodeBadRequest, "test.watch")},
		{"input wrong", "GET /api/trpc/test.watch?" + input(`{"json":{"fail":1}}`) + withKey, connected +
			strings.Replace(failedEvent("fail: must be a string", blueprint.CodeBadRequest, "test.watch"), `"test.watch"}`, `"test.watch","issues":[{"path":["fail"],"message":"must be a string"}]}`, 1)},
		{"refused later", "GET /api/trpc/test.watch?" + input(`{"json":{"fail":"refuse"}}`) + withKey, connected + first + failedEvent("not yours any more", blueprint.CodeForbidden, "test.watch")},
		{"broken later", "GET /api/trpc/test.watch?" + input(`{"json":{"fail":"break"}}`) + withKey, connected + first + failedEvent("internal error", blueprint.CodeInternal, "test.watch")},
		{"panic later", "GET /api/trpc/test.watch?" + input(`{"json":{"fail":"panic"}}`) + withKey, connected + first + failedEvent("internal error", blueprint.CodeInternal, "test.watch")},
		{"no JSON later", "GET /api/trpc/test.watch?" + input(`{"json":{"fail":"unencodable"}}`) + withKey, connected + first + failedEvent("internal error", blueprint.CodeInternal, "test.watch")},
		{"resumed by header", "GET /api/trpc/test.watch" + withKey + "\nLast-Event-ID: 7", resumed("7")},
		{"resumed by parameter", "GET /api/trpc/test.watch?lastEventId=8&" + input(`{"json":{"lastEventId":"x"}}`) + withKey, resumed("8")},
		{"resumed with a bad id", "GET /api/trpc/test.watch?lastEventId=8%0A" + withKey, whole},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := s.raw(t, test.head, "")
			if got.status != 200 || got.body != test.want {
				t.Errorf("got  %d %q\nwant 200 %q", got.status, got.body, test.want)
			}
			for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"} {
				t.Run(name, func(t *testing.T) {
					if value := got.header.Get(name); value != want {
						t.Errorf("%s is %q, want %v", name, value, want)
					}
				})
			}
		})
	}
	for _, test := range []struct {
		name, head string
		status     int
		want       string
	}{
		{"unknown", "GET /api/trpc/test.nope\nAccept: text/event-stream", 404, wireError(`No procedure found on path "test.nope"`, blueprint.CodeNotFound, "test.nope")},
		{"parameters no JSON", "GET /api/trpc/test.watch?connectionParams=zz" + withKey, 400, wireError("Not JSON-parsable query params", blueprint.CodeParse, "")},
		{"no content type", "POST /api/trpc/test.watch" + withKey, 415, wireError("Missing content-type header", blueprint.CodeUnsupportedMedia, "")},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := s.raw(t, test.head, ""); got.status != test.status || got.body != test.want {
				t.Errorf("got %d %s, want %v and %v", got.status, got.body, test.status, test.want)
			}
		})
	}
}

func TestSubscriptionPings(t *testing.T) {
	s := newTestServer(t, func(o *Options) { o.Ping = time.Millisecond })
	ctx, leave := context.WithCancel(t.Context())
	_, line := s.open(t, ctx, "/api/trpc/test.hang", keyHeader())
	for _, want := range []string{"event: connected\n", "data: {\"reconnectAfterInactivityMs\":4}\n", "\n", "\n", "event: ping\n", "data: \n", "\n", "\n", "event: ping\n"} {
		if got := line(); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
	leave()
	if err := <-s.left; !errors.Is(err, context.Canceled) {
		t.Errorf("the procedure ended with %v, want %v", err, context.Canceled)
	}
	s.Close()
	if strings.Contains(s.logs.String(), "level=ERROR") {
		t.Errorf("logged %s, want no \"level=ERROR\"", s.logs)
	}
}

func TestSubscriptionsEndWhenDraining(t *testing.T) {
	draining := make(chan struct{})
	s := newTestServer(t, func(o *Options) { o.Draining = draining })
	_, line := s.open(t, t.Context(), "/api/trpc/test.hang", keyHeader())
	<-s.entered
	close(draining)
	var text strings.Builder
	for next := line(); next != ""; next = line() {
		text.WriteString(next)
	}
	if want := connected + failedEvent("the server is shutting down", blueprint.CodeUnavailable, "test.hang"); text.String() != want {
		t.Errorf("got  %q\nwant %q", text.String(), want)
	}
	if err := <-s.left; !errors.Is(err, errDraining) {
		t.Errorf("the procedure ended with %v, want %v", err, errDraining)
	}
}

// revocable is a key that can be revoked.
type revocable struct {
	testKeys
	revoked atomic.Bool
}

func (k *revocable) Authenticate(ctx context.Context, token string) (blueprint.Admission, error) {
	if k.revoked.Load() {
		token = "revoked"
	}
	return k.testKeys.Authenticate(ctx, token)
}

func TestSubscriptionsEndWithTheirKey(t *testing.T) {
	for _, path := range []string{"test.hang", "test.twice"} { // found by the ping, and by the next value
		key := &revocable{}
		s := newTestServer(t, func(o *Options) {
			if o.Authenticator = key; path == "test.hang" {
				o.Ping = time.Millisecond
			}
		})
		_, line := s.open(t, t.Context(), "/api/trpc/"+path, keyHeader())
		<-s.entered
		key.revoked.Store(true)
		if path == "test.twice" {
			close(s.gates["a"])
		}
		var text strings.Builder
		for next := line(); next != ""; next = line() {
			text.WriteString(next)
		}
		if want := failedEvent("API key unknown or revoked", blueprint.CodeUnauthorized, path); !strings.HasSuffix(text.String(), want) || strings.Contains(text.String(), "second") {
			t.Errorf("%s: got %q, want %q at the end and no \"second\"", path, text.String(), want)
		}
		<-s.left
	}
}
