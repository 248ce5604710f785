package outbound

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// ask sends a request of a node with an effect and reads the response.
func ask(ctx context.Context, client *Client, effect blueprint.Effect, method, address, body string) error {
	ctx = WithCaller(ctx, Caller{NodeType: "http-request", Effect: effect})
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Idempotency-Key", "k") // net/http takes this as a permission to repeat
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

func TestSharedConnections(t *testing.T) {
	for _, test := range []struct {
		name, method, body string
		effect             blueprint.Effect
		connections        int64 // of three requests
	}{
		{"GET", http.MethodGet, "", blueprint.EffectIdempotent, 1},
		{"HEAD", http.MethodHead, "", blueprint.EffectPure, 1},
		{"OPTIONS", http.MethodOptions, "", blueprint.EffectIdempotent, 1},
		{"GET with a body", http.MethodGet, "{}", blueprint.EffectIdempotent, 3},
		{"GET of a node that runs once", http.MethodGet, "", blueprint.EffectOnce, 3},
		{"GET of no node", http.MethodGet, "", "", 3},
		{"POST", http.MethodPost, "", blueprint.EffectIdempotent, 3},
		{"POST with a body", http.MethodPost, "{}", blueprint.EffectIdempotent, 3},
		{"PUT", http.MethodPut, "{}", blueprint.EffectIdempotent, 3},
		{"DELETE", http.MethodDelete, "", blueprint.EffectIdempotent, 3},
	} {
		t.Run(test.name, func(t *testing.T) {
			var connections atomic.Int64
			var strange atomic.Pointer[http.Request]
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.ContentLength != int64(len(test.body)) || r.TransferEncoding != nil || test.body == "" && r.Method == http.MethodGet && r.Header.Get("Content-Length") != "" {
					strange.Store(r)
				}
				io.WriteString(w, "ok")
			}))
			server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections.Add(1)
				}
			}
			server.Start()
			defer server.Close()
			client := newLocalClient(t, Options{})
			for range 3 {
				if err := ask(t.Context(), client, test.effect, test.method, server.URL, test.body); err != nil {
					t.Fatal(err)
				}
			}
			if got := connections.Load(); got != test.connections {
				t.Errorf("%d connections, want %d", got, test.connections)
			}
			if r := strange.Load(); r != nil {
				t.Errorf("Content-Length %d, Transfer-Encoding %v; want the body %q", r.ContentLength, r.TransferEncoding, test.body)
			}
		})
	}
}

// Shared connections use HTTP/1.1, also with a server that prefers HTTP/2.
func TestSharedConnectionsWithTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if want := map[string]string{"GET": "HTTP/1.1", "POST": "HTTP/2.0"}[r.Method]; r.Proto != want {
			t.Errorf("%s with %s, want %s", r.Method, r.Proto, want)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	authorities := x509.NewCertPool()
	authorities.AddCert(server.Certificate())
	client := newLocalClient(t, Options{RootCAs: authorities})
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodGet} {
		if err := ask(t.Context(), client, blueprint.EffectIdempotent, method, server.URL, ""); err != nil {
			t.Error(err)
		}
	}
}

// However many connections wait, a request whose connection is closed without an answer is
// sent once more, and a request that must not be repeated is not.
func TestSharedConnectionsThatBreak(t *testing.T) {
	const waiting = 8
	for effect, most := range map[blueprint.Effect]int64{blueprint.EffectIdempotent: 2, blueprint.EffectOnce: 1} {
		t.Run(string(effect), func(t *testing.T) {
			var calls atomic.Int64
			var cut atomic.Bool
			var together sync.WaitGroup
			together.Add(waiting)
			server, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
				calls.Add(1)
				if cut.Load() {
					panic(http.ErrAbortHandler) // closes the connection without an answer
				}
				together.Done()
				together.Wait()
			})
			var sent sync.WaitGroup
			for range waiting {
				sent.Go(func() {
					if err := ask(t.Context(), client, effect, http.MethodGet, server.URL, ""); err != nil {
						t.Error(err)
					}
				})
			}
			sent.Wait()
			calls.Store(0)
			cut.Store(true)
			if err := ask(t.Context(), client, effect, http.MethodGet, server.URL, ""); err == nil {
				t.Error("no error, want one")
			}
			if got := calls.Load(); got != most {
				t.Errorf("sent %d times, want %d", got, most)
			}
		})
	}
}

// A server that closes its connections between two requests fails none.
func TestSharedConnectionsThatWereClosed(t *testing.T) {
	server, client := serve(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "ok") })
	for range 20 {
		if err := ask(t.Context(), client, blueprint.EffectIdempotent, http.MethodGet, server.URL, ""); err != nil {
			t.Fatal(err)
		}
		server.CloseClientConnections()
	}
}

// A request that takes too long is not sent again, nor one whose answer is cut short.
func TestSharedConnectionsAfterAnAnswer(t *testing.T) {
	var calls atomic.Int64
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch calls.Add(1); r.URL.Path {
		case "/slow":
			<-hang
		case "/cut":
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			io.WriteString(conn, "HTTP/1.1 2")
			conn.Close()
		}
	}))
	defer server.Close()
	defer close(hang)
	client := newLocalClient(t, Options{HeaderTimeout: time.Second})
	for _, path := range []string{"/slow", "/cut"} {
		if err := ask(t.Context(), client, blueprint.EffectIdempotent, http.MethodGet, server.URL, ""); err != nil {
			t.Fatal(err)
		}
		calls.Store(0)
		if err := ask(t.Context(), client, blueprint.EffectIdempotent, http.MethodGet, server.URL+path, ""); err == nil {
			t.Errorf("%s: no error, want one", path)
		}
		if got := calls.Load(); got != 1 {
			t.Errorf("%s: sent %d times, want once", path, got)
		}
	}
}
