package api

import (
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"blueprintd/server"
	"blueprintd/tests/servertest"
)

// TestRetriedRequests checks when requests to a failing server are retried, on a clock that
// stands still: as late as the server requested, with the same key, and never for a node
// with effect "once".
func TestRetriedRequests(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var keys []string
	fail := func(http.ResponseWriter, int) {}
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		fail(w, len(keys))
	}))
	defer outside.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	count := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(keys)
	}
	until := func(n, status int, header func(http.Header)) func(http.ResponseWriter, int) {
		return func(w http.ResponseWriter, call int) {
			if call < n {
				header(w.Header())
				w.WriteHeader(status)
			}
		}
	}
	for _, test := range []struct {
		name     string
		fail     func(http.ResponseWriter, int)
		url      string
		more     []any
		least    string // time without another attempt
		then     string // time until there is one
		status   string
		attempts int
		requests int
	}{
		{"seconds", until(2, 429, func(h http.Header) { h.Set("Retry-After", "120") }), "", nil, "119999ms", "1ms", "completed", 2, 2},
		{"an instant by the server's clock", until(2, 503, func(h http.Header) {
			at := time.Date(2040, 2, 3, 4, 5, 6, 0, time.UTC)
			h.Set("Date", at.Format(http.TimeFormat))
			h.Set("Retry-After", at.Add(5*time.Minute).Format(http.TimeFormat))
		}), "", nil, "299999ms", "1ms", "completed", 2, 2},
		{"no word", until(2, 502, func(http.Header) {}), "", nil, "799ms", "401ms", "completed", 2, 2},
		{"once is not sent again", until(2, 503, func(http.Header) {}), "", []any{"effect", "once"}, "1h", "1h", "failed", 1, 1},
		{"once, broken off", func(http.ResponseWriter, int) { panic(http.ErrAbortHandler) }, "", []any{"effect", "once"}, "1h", "1h", "failed", 1, 1},
		{"once, but never sent", nil, "http://" + gone.Addr().String(), []any{"effect", "once"}, "799ms", "2h", "failed", 3, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			mu.Lock()
			keys, fail = nil, test.fail
			mu.Unlock()
			s := servertest.New(t, servertest.AtNoon, func(o *server.Options) { o.AllowNet = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
			url := test.url
			if url == "" {
				url = outside.URL
			}
			call := node("call", "http-request", object{"method": "POST", "url": url, "body": object{"n": 1}}, append(test.more, "retry", object{"maxAttempts": 3})...)
			run := s.Root.Launch(t, s.Root.Blueprint(t, "t", call), nil, call)
			s.Advance(t, test.least)
			if test.requests > 1 && count() != 1 {
				t.Errorf("%d requests before it is time", count())
			}
			s.Advance(t, test.then)
			record := s.Root.Record(t, run)
			if record["status"] != test.status || at(record["steps"].([]any)[0], "attempt") != json.Number(string(rune('0'+test.attempts))) {
				t.Errorf("got %s", servertest.Encoded(t, record))
			}
			if count() != test.requests {
				t.Errorf("%d requests, want %d", count(), test.requests)
			}
			for _, key := range keys {
				if key != run+"/call" || strings.Contains(key, " ") {
					t.Errorf("the key is %q, want %v and no \" \"", key, run+"/call")
				}
			}
		})
	}
}
