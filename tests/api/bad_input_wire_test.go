package api

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// spoken sends bytes over its own connection and returns the response, nil if the server
// disconnects without one. after is called once the bytes are sent, before the response is
// read.
func rawExchange(t *testing.T, s *servertest.Server, text string, after func(net.Conn)) (*http.Response, string) {
	t.Helper()
	connection, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Error(err)
		return nil, ""
	}
	defer connection.Close()
	connection.SetDeadline(time.Now().Add(30 * time.Second)) // fail instead of hanging
	sent := make(chan struct{})
	go func() { // a server that refuses early does not read everything
		defer close(sent)
		io.WriteString(connection, text)
	}()
	if after != nil {
		<-sent
		after(connection)
	}
	response, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		t.Errorf("no answer to %.100q", text)
	}
	if err != nil {
		return nil, ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return response, string(body)
}

// TestBadRequests sends malformed HTTP requests.
func TestBadRequests(t *testing.T) {
	const most = 256 << 10
	v := newVictim(t, func(o *server.Options) { o.MaxBody = most })
	authorized := " HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAuthorization: Bearer " + testKey + "\r\n"
	const isJSON = "Content-Type: application/json\r\n"
	chunked := func(bytes int) string {
		piece := fmt.Sprintf("%x\r\n%s\r\n", 4096, strings.Repeat(" ", 4096))
		return "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat(piece, bytes/4096+1) + "0\r\n\r\n"
	}
	calls := func(n int) string { return strings.TrimSuffix(strings.Repeat("a,", n), ",") }
	v.unharmed(t, func() {
		for _, test := range []struct {
			name, text string
			status     int
			wants      string
		}{
			{"an address of 8 MiB", "GET /api/trpc/blueprint.list?input=" + strings.Repeat("a", 8<<20) + authorized + "\r\n", 431, ""},
			{"a path of 8 MiB", "GET /api/trpc/" + strings.Repeat("a", 8<<20) + authorized + "\r\n", 431, ""},
			{"a header of 1 MiB", "GET /api/trpc/blueprint.list" + authorized + "X: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", 431, ""},
			{"100,000 headers", "GET /api/trpc/blueprint.list" + authorized + strings.Repeat("X: y\r\n", 100_000) + "\r\n", 431, ""},
			{"a header of 1 MiB for a webhook", "POST /webhooks/blueprint/" + v.webhook + authorized + "X: " + strings.Repeat("x", 1<<20) + "\r\n\r\n", 431, ""},
			{"10,000 calls", "GET /api/trpc/" + calls(10_000) + "?batch=1" + authorized + "\r\n", 400, "Batch call exceeds maximum size"},
			{"10,000 commas", "GET /api/trpc/" + strings.Repeat("%2C", 10_000) + "?batch=1" + authorized + "\r\n", 400, "Batch call exceeds maximum size"},
			{"101 calls", "POST /api/trpc/" + strings.Repeat("blueprint.create,", 100) + "blueprint.create?batch=1" + authorized + isJSON + "Content-Length: 2\r\n\r\n{}", 400, "Batch call exceeds maximum size"},
			{"a broken escape", "GET /api/trpc/blueprint.list%zz" + authorized + "\r\n", 400, ""},
			{"an escape of no character", "GET /api/trpc/blueprint.list%FF" + authorized + "\r\n", 400, "Invalid URL-encoding"},
			{"a mix of kinds", "POST /api/trpc/blueprint.list,blueprint.create?batch=1" + authorized + isJSON + "Content-Length: 2\r\n\r\n{}", 400, "Cannot mix procedure types"},
			{"a query by POST", "POST /api/trpc/blueprint.list" + authorized + isJSON + "Content-Length: 2\r\n\r\n{}", 405, "Unsupported POST-request"},
			{"a change by GET", "GET /api/trpc/blueprint.delete?input=%7B%7D" + authorized + "\r\n", 405, "Unsupported GET-request"},
			{"a change in a batch by GET", "GET /api/trpc/blueprint.delete,blueprint.delete?batch=1" + authorized + "\r\n", 405, "Unsupported GET-request"},
			{"no media type", "POST /api/trpc/blueprint.create" + authorized + "Content-Length: 2\r\n\r\n{}", 415, "Missing content-type"},
			{"a long media type", "POST /api/trpc/blueprint.create" + authorized + "Content-Type: " + strings.Repeat("x", 20_000) + "\r\nContent-Length: 2\r\n\r\n{}", 415, "Unsupported content-type"},
			{"too large without a length", "POST /api/trpc/blueprint.create" + authorized + isJSON + chunked(most), 413, "PAYLOAD_TOO_LARGE"},
			{"far too large without a length", "POST /api/trpc/blueprint.create" + authorized + isJSON + chunked(100*most), 413, "PAYLOAD_TOO_LARGE"},
			{"too large for a webhook", "POST /webhooks/blueprint/" + v.webhook + authorized + chunked(most), 413, "larger than"},
			{"too large for an api trigger", "POST /v1/triggers/" + v.api + "/fire" + authorized + chunked(most), 413, "larger than"},
			{"too large for the clock", "POST /clock/advance" + authorized + chunked(most), 413, "larger than"},
			{"chunks that are none", "POST /api/trpc/blueprint.create" + authorized + isJSON + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n", 499, ""},
			{"a length that is none", "POST /api/trpc/blueprint.create" + authorized + isJSON + "Content-Length: -1\r\n\r\n{}", 400, ""},
			{"two lengths", "POST /api/trpc/blueprint.create" + authorized + isJSON + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400, ""},
			{"no host", "GET /api/trpc/blueprint.list HTTP/1.1\r\n\r\n", 400, ""},
			{"no HTTP", "hello\r\n\r\n", 400, ""},
			{"NUL bytes", strings.Repeat("\x00", 10_000) + "\r\n\r\n", 400, ""},
		} {
			t.Run(test.name, func(t *testing.T) {
				var answer *http.Response
				var body string
				used := allocated(func() { answer, body = rawExchange(t, v.Server, test.text, nil) })
				if answer == nil && len(test.text) > 1<<20 {
					return // the server closed the connection before reading the whole body
				}
				if answer == nil || answer.StatusCode != test.status || !strings.Contains(body, test.wants) || len(body) > 32<<10 {
					t.Errorf("%v %.300s, want %d and %q", answer, body, test.status, test.wants)
				}
				if bound := 64*float64(min(len(test.text), 3*most)) + 4<<20; used > bound {
					t.Errorf("%.1f MiB for %d bytes, want at most %v", used/(1<<20), len(test.text), bound)
				}
			})
		}
	})
}

// TestSlowBodies starts a body and stops sending: the server times out.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	v := newVictim(t, func(o *server.Options) { o.ReadTimeout = 2 * time.Second })
	head := " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + testKey + "\r\nContent-Type: application/json\r\n"
	v.unharmed(t, func() {
		var all sync.WaitGroup
		defer all.Wait()
		for name, text := range map[string]string{
			"a procedure":                  "POST /api/trpc/blueprint.create" + head + "Content-Length: 100\r\n\r\n{",
			"a procedure without a length": "POST /api/trpc/blueprint.create" + head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
			"a webhook":                    "POST /webhooks/blueprint/" + v.webhook + head + "Content-Length: 100\r\n\r\n{",
			"an api trigger":               "POST /v1/triggers/" + v.api + "/fire" + head + "Content-Length: 100\r\n\r\n{",
			"the clock":                    "POST /clock/advance" + head + "Content-Length: 100\r\n\r\n{",
			"without a key":                "POST /api/trpc/blueprint.create HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
			"a length of 9 TB":             "POST /api/trpc/blueprint.create" + head + "Content-Length: 9000000000000\r\n\r\n{",
			"headers that never end":       "POST /api/trpc/blueprint.create HTTP/1.1\r\nHost: h\r\nX: ",
		} {
			want, wants := blueprint.CodeTimeout.HTTPStatus(), "took too long to arrive"
			switch name {
			case "without a key":
				want, wants = http.StatusUnauthorized, "UNAUTHORIZED"
			case "a length of 9 TB":
				want, wants = http.StatusRequestEntityTooLarge, "PAYLOAD_TOO_LARGE"
			case "headers that never end":
				want = 0 // it disconnects
			}
			all.Go(func() {
				answer, body := rawExchange(t, v.Server, text, nil)
				if got := statusOf(answer); got != want || want != 0 && !strings.Contains(body, wants) {
					t.Errorf("%s: %d %s, want %v and %v", name, got, body, want, wants)
				}
			})
		}
	})
}

// TestBodiesThatBreakOff starts a body and disconnects.
func TestBodiesThatBreakOff(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	head := " HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + testKey + "\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{}"
	v.unharmed(t, func() {
		for _, path := range []string{"/api/trpc/blueprint.create", "/webhooks/blueprint/" + v.webhook, "/v1/triggers/" + v.api + "/fire", "/clock/advance"} {
			answer, body := rawExchange(t, v.Server, "POST "+path+head, func(connection net.Conn) { connection.(*net.TCPConn).CloseWrite() })
			if answer != nil && answer.StatusCode != blueprint.CodeClientClosed.HTTPStatus() && answer.StatusCode != http.StatusBadRequest {
				t.Errorf("%s: %d %s", path, answer.StatusCode, body)
			}
		}
	})
}

func statusOf(answer *http.Response) int {
	if answer == nil {
		return 0
	}
	return answer.StatusCode
}
