package outbound_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"blueprintd/foundation/outbound"
)

// A request that was sent is not sent again behind the caller's back, not even
// when it could be: with an idempotency key, on a connection used before.
func TestNothingIsSentTwice(t *testing.T) {
	var cut atomic.Bool
	var calls atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if cut.Load() {
			calls.Add(1)
			panic(http.ErrAbortHandler) // closes the connection without an answer
		}
	}))
	defer server.Close()
	client := outbound.New(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	send := func(method, body string) error {
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Idempotency-Key", "k")
		response, err := client.Do(request)
		if err == nil {
			err = response.Body.Close()
		}
		return err
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, body := range []string{"", "text"} {
			cut.Store(false)
			for range 3 { // connections that could be used again
				if err := send(method, body); err != nil {
					t.Fatal(err)
				}
			}
			cut.Store(true)
			calls.Store(0)
			if err := send(method, body); err == nil {
				t.Errorf("%s %q: no error, want an error", method, body)
			}
			if n := calls.Load(); n != 1 {
				t.Errorf("%s %q was sent %d times, want 1", method, body, n)
			}
		}
	}
}
