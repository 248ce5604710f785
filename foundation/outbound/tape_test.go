package outbound

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

// echo is a network that answers with what it was sent.
type echo struct{ callers []Caller }

func (e *echo) RoundTrip(r *http.Request) (*http.Response, error) {
	e.callers = append(e.callers, CallerOf(r.Context()))
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
	}
	header := http.Header{"Content-Type": {r.Header.Get("Content-Type")}, "Set-Cookie": {"a=b"}}
	if r.URL.Path == "/away" {
		return &http.Response{StatusCode: 307, Header: http.Header{"Location": {"/there"}}, Body: http.NoBody}, nil
	}
	return &http.Response{StatusCode: 201, Header: header, Body: io.NopCloser(strings.NewReader(string(body) + r.Header.Get("Authorization")))}, nil
}

func (e *echo) DialContext(context.Context, string, string) (net.Conn, error) {
	one, other := net.Pipe()
	other.Close()
	return one, nil
}

func TestTapeHoldsRequestAndResponse(t *testing.T) {
	network := &echo{}
	client := New(Options{Network: network})
	caller := Caller{ExecutionID: "exec_1", Address: "ask", NodeType: "http-request", Attempt: 2}
	ctx, tape := WithTape(WithCaller(context.Background(), caller), func() time.Time { return time.UnixMilli(5) })
	ctx = Authorize(ctx, func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer secret")
		return nil
	})
	request, err := http.NewRequestWithContext(ctx, "POST", "http://ada:pass@10.0.0.1/away?a=1", strings.NewReader(`{"n": 12345678901234567890}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-API-Key", "typed")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := io.ReadAll(response.Body); !strings.HasSuffix(string(data), "Bearer secret") {
		t.Errorf("sent %s, want \"Bearer secret\" at the end", data)
	}
	response.Body.Close()
	got, _ := tape.List()
	if len(got) != 2 {
		t.Fatalf("%d exchanges: %+v, want 2", len(got), got)
	}
	sent, err := blueprint.Encode(got[1])
	if err != nil {
		t.Fatal(err)
	}
	want := `{"at":"1970-01-01T00:00:00.005Z","executionId":"exec_1","nodeId":"ask","nodeType":"http-request","attempt":2,` +
		`"request":{"method":"POST","url":"http://10.0.0.1/there","headers":{"content-type":"application/json","x-api-key":"***"},"body":{"n":12345678901234567890}},` +
		`"response":{"status":201,"headers":{"content-type":"application/json","set-cookie":"***"},"body":"{\"n\": 12345678901234567890}Bearer secret"}}`
	if diff := cmp.Diff(want, string(sent)); diff != "" {
		t.Error(diff)
	}
	if got[0].Response == nil || got[0].Response.Status != 307 || strings.Contains(got[0].Request.URL, "pass") {
		t.Errorf("the first hop: %+v, want Response not nil, Status 307 and no \"pass\"", got[0])
	}
	if len(network.callers) != 2 || network.callers[0] != caller {
		t.Errorf("the network was asked by %+v, want length 2 and %v", network.callers, caller)
	}
}

func TestNothingIsDialledWithANetworkInstead(t *testing.T) {
	client := New(Options{Network: &echo{}})
	conn, err := client.DialContext(context.Background(), "tcp", "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestATapeIsBounded(t *testing.T) {
	client := New(Options{Network: &echo{}})
	ctx, tape := WithTape(context.Background(), time.Now)
	request, _ := http.NewRequestWithContext(ctx, "POST", "http://a.example/", strings.NewReader(strings.Repeat("x", MaxTaped+10)))
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := io.Copy(io.Discard, response.Body)
	list, _ := tape.List()
	got := list[0]
	if n != MaxTaped+10 || got.Response == nil || !got.Response.Cut || !got.Request.Cut {
		t.Fatalf("read %d bytes, kept %+v of %+v; want %d and both cut", n, got.Response, got.Request, MaxTaped+10)
	}
	if answer, request := len(got.Response.Body.(string)), len(got.Request.Body.(string)); answer != MaxTaped || request != MaxTaped {
		t.Errorf("kept %d bytes of the answer and %d of the request, want %d", answer, request, MaxTaped)
	}
}
