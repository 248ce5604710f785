package limits

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// Bodies that do not arrive do not use up the limit, and those of one connection do not
// exclude those of others.
func TestUnfinishedBodies(t *testing.T) {
	const limit = 20
	entered := make(chan struct{}, 2*limit)
	handler := Requests(limit, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	greedy := ConnContext(t.Context(), nil)
	send := func(r *http.Request) int {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w.Code
	}
	hold, release := io.Pipe()
	ended := make(chan int, limit)
	for range limit {
		go func() { ended <- send(httptest.NewRequest(http.MethodPost, "/", hold).WithContext(greedy)) }()
		<-entered
	}
	whole := func() *http.Request {
		return httptest.NewRequest(http.MethodPost, "/", strings.NewReader("whole"))
	}
	for name, c := range map[string]struct {
		request *http.Request
		want    int
	}{
		"without a body":         {httptest.NewRequest(http.MethodGet, "/", nil), http.StatusOK},
		"on another connection":  {whole().WithContext(ConnContext(t.Context(), nil)), http.StatusOK},
		"on the same connection": {whole().WithContext(greedy), http.StatusServiceUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			if got := send(c.request); got != c.want {
				t.Errorf("status %d, want %d", got, c.want)
			}
		})
	}
	release.Close()
	for range limit {
		if got := <-ended; got != http.StatusOK {
			t.Errorf("after it has arrived: status %d, want %v", got, http.StatusOK)
		}
	}
	if got := send(whole().WithContext(greedy)); got != http.StatusOK {
		t.Errorf("after all answers: status %d, want %v", got, http.StatusOK)
	}
}

// A request is refused when its body has arrived and there is no room.
func TestBodyBeyondLimit(t *testing.T) {
	var handler http.Handler
	depth, inner := 0, error(nil)
	handler = Requests(1, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		switch depth++; depth {
		case 1:
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x")))
		case 2:
			inner = err
		}
	}))
	ask(handler)
	refused(t, inner)
}

// The requests of an HTTP/2 connection share a counter.
func TestConnContextHTTP2(t *testing.T) {
	s, trust := newTLSServer(t, 0, time.Minute)
	seen := make(chan any, 2)
	s.server.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen <- r.Context().Value(arrivalsKey{}) })
	transport := &http.Transport{TLSClientConfig: trust, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	for range 2 {
		response, err := (&http.Client{Transport: transport}).Get("https://" + s.conns.Addr().String())
		if err != nil || response.ProtoMajor != 2 {
			t.Fatal(response, err)
		}
		response.Body.Close()
	}
	if one, other := <-seen, <-seen; one == nil || one != other {
		t.Errorf("%v and %v, want not nil and %v", one, other, other)
	}
}
