package trpc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"blueprintd/blueprint"
)

// open starts a request and gives a function that reads its answer line by
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

// The lines come in the order in which the calls end, each at once: the gates
// open only after the line before was read.
func TestLinesComeAsCallsEnd(t *testing.T) {
	s := newTestServer(t, nil)
	input := url.QueryEscape(`{"0":{"json":{"name":"a"}},"1":{"json":{"name":"b"}},"2":{"json":{"name":"c"}},"3":{"json":{}}}`)
	response, line := s.open(t, t.Context(), "/api/trpc/test.gate,test.gate,test.gate,test.gate?batch=1&input="+input, keyHeader("Trpc-Accept", "application/jsonl"))
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "application/json" || response.Header.Get("Vary") != "trpc-accept, accept" {
		t.Errorf("answered %d %v", response.StatusCode, response.Header)
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
		if got := s.raw(t, test.head, ""); got.status != test.status || got.body != test.want {
			t.Errorf("%s:\ngot  %d %s\nwant %d %s", test.name, got.status, got.body, test.status, test.want)
		}
	}
}

// A client that leaves takes the contexts of its calls with it, and nobody is
// told of an error.
func TestLinesEndWithTheirClient(t *testing.T) {
	s := newTestServer(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	_, line := s.open(t, ctx, "/api/trpc/test.gate?batch=1&input="+url.QueryEscape(`{"0":{"json":{"name":"a"}}}`), keyHeader("Accept", "application/jsonl"))
	line()
	<-s.entered
	leave()
	if err := <-s.left; !errors.Is(err, context.Canceled) {
		t.Errorf("the call ended with %v", err)
	}
	s.Close() // waits for the handler
	if strings.Contains(s.logs.String(), "level=ERROR") {
		t.Errorf("logged %s", s.logs)
	}
}
