package outbound

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve starts a server on this machine and a client that reaches it.
func serve(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *Client) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server, newLocalClient(t, Options{})
}

func newLocalClient(t *testing.T, options Options) *Client {
	options.Allow = append(options.Allow, prefixes("127.0.0.1/32")...)
	client := New(options)
	t.Cleanup(func() { client.Close() })
	return client
}

func TestRedirectsIntoClosedAddresses(t *testing.T) {
	target := newTarget(t)
	closed := []string{
		"10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "[64:ff9b::7f00:1]", "0x7f.1", "2130706433", "127.1", "0.0.0.0", "name.example", "127.0.0.2",
	}
	server, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(r.URL.Query().Get("status"))
		w.Header().Set("Location", "http://"+r.URL.Query().Get("to")+":"+target.port+"/")
		w.WriteHeader(status)
	})
	client := newLocalClient(t, Options{Resolver: newResolver(t, &dns{answer: always("127.0.0.3", "::1")})})
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, to := range closed {
			hops, err := get(t, client, server.URL+"/?"+url.Values{"status": {strconv.Itoa(status)}, "to": {to}}.Encode())
			var refused *RefusedError
			if !errors.As(err, &refused) {
				t.Errorf("%d to %s: %v", status, to, err)
			}
			list := hops.List()
			if len(list) != 2 || list[0].Status != status || !list[0].Sent || list[1].Sent {
				t.Errorf("%d to %s: recorded %+v, want length 2, Status %v, Sent and not Sent", status, to, list, status)
			}
		}
	}
	if n := target.accepted.Load(); n != 0 {
		t.Errorf("%d connections reached the server, want 0", n)
	}
}

func TestRedirectsElsewhere(t *testing.T) {
	server, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Location"] = []string{r.URL.Query().Get("to")}
		w.WriteHeader(302)
	})
	for to, want := range map[string]string{
		"ftp://example.com/":     `example.com is behind "ftp", and only http and https are followed`,
		"file:///etc/passwd":     `is behind "file"`,
		"gopher://127.0.0.1:70/": `is behind "gopher"`,
		"http://:80/":            "not one that can be reached",
		"//127.0.0.1:25/":        "asked for at port 25, which belongs to another service than HTTP",
		"http://127.0.0.1:6379/": "asked for at port 6379",
		"http://127.0.0.1:0/":    "asked for at a port that does not exist",
	} {
		t.Run(to, func(t *testing.T) {
			_, err := get(t, client, server.URL+"/?"+url.Values{"to": {to}}.Encode())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want an error and %q in it", err, want)
			}
		})
	}
}

func TestNumberOfRedirects(t *testing.T) {
	server, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/")); n > 0 {
			http.Redirect(w, r, "/"+strconv.Itoa(n-1), http.StatusFound)
		}
	})
	hops, err := get(t, client, server.URL+"/5")
	if err != nil || len(hops.List()) != 6 || hops.List()[5].Status != 200 {
		t.Errorf("five: %v, %+v; want length 6 and Status 200", err, hops.List())
	}
	hops, err = get(t, client, server.URL+"/6")
	if !errors.Is(err, ErrRedirects) || len(hops.List()) != 6 {
		t.Errorf("six: %v, %+v; want %v and length 6", err, hops.List(), ErrRedirects)
	}
}

func TestHeadersAcrossRedirects(t *testing.T) {
	seen := make(chan http.Header, 1)
	var second *httptest.Server
	first, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, second.URL+"/here", http.StatusTemporaryRedirect)
		case "/back":
			http.Redirect(w, r, second.URL+"/return", http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/here", http.StatusTemporaryRedirect)
		case "/named":
			http.Redirect(w, r, strings.Replace("http://"+r.Host, "http://", "http://eve:secret@", 1)+"/here", http.StatusFound)
		default:
			seen <- r.Header
		}
	})
	second, _ = serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/return" {
			http.Redirect(w, r, first.URL+"/here", http.StatusTemporaryRedirect)
			return
		}
		seen <- r.Header
	})
	sent := []string{"Authorization", "Cookie", "X-Api-Key", "Idempotency-Key", "Proxy-Authorization", "Accept", "Content-Type"}
	for path, want := range map[string][]string{
		"/near": sent,
		"/away": {"Accept", "Content-Type"},
		"/back": {"Accept", "Content-Type"},
	} {
		t.Run(path, func(t *testing.T) {
			request, err := http.NewRequest(http.MethodPost, first.URL+path+"?token=secret", strings.NewReader("body"))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range sent {
				request.Header.Set(name, "value")
			}
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			header := <-seen
			for _, name := range append(sent, "Referer") {
				if got := header.Get(name) != ""; got != slices.Contains(want, name) {
					t.Errorf("%s arrived: %v, want %v", name, got, want)
				}
			}
		})
	}
	if _, err := get(t, client, first.URL+"/named"); err != nil {
		t.Fatal(err)
	}
	if header := <-seen; header.Get("Authorization") != "" {
		t.Errorf("a redirect chose the credentials: %v, want Authorization nothing", header)
	}
}

func TestSameHost(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"http://a.example/x", "http://a.example:80/y", true},
		{"http://a.example", "http://A.example", true},
		{"http://a.example", "https://a.example", true},
		{"https://a.example", "http://a.example", false},
		{"http://a.example", "http://b.a.example", false},
		{"https://a.example", "https://a.example:8443", false},
		{"http://a.example:8080", "https://a.example:443", false},
	} {
		t.Run(test.b, func(t *testing.T) {
			a, _ := url.Parse(test.a)
			b, _ := url.Parse(test.b)
			if got := SameHost(a, b); got != test.want {
				t.Errorf("%s, %s: %v; want %v", test.a, test.b, got, test.want)
			}
		})
	}
}

func TestNoProxyFromTheEnvironment(t *testing.T) {
	proxy := newTarget(t)
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "HTTPS_PROXY"} {
		t.Setenv(name, "http://127.0.0.1:"+proxy.port)
	}
	server, client := serve(t, func(http.ResponseWriter, *http.Request) {})
	if _, err := get(t, client, server.URL); err != nil {
		t.Error(err)
	}
	if proxy.accepted.Load() != 0 {
		t.Error("the proxy was asked")
	}
}

func TestHTTP2(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Proto) }))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	client := newLocalClient(t, Options{RootCAs: pool})
	request, _ := http.NewRequest(http.MethodGet, server.URL, nil)
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if body, err := ReadAll(response.Body, 100); err != nil || string(body) != "HTTP/2.0" {
		t.Errorf("%q, %v; want HTTP/2.0", body, err)
	}

	stranger := newLocalClient(t, Options{})
	hops, err := get(t, stranger, server.URL)
	var failed *tls.CertificateVerificationError
	if !errors.As(err, &failed) {
		t.Errorf("got %v", err)
	}
	if hops.Sent() {
		t.Error("something was sent without a handshake")
	}
}

func TestReadAll(t *testing.T) {
	const limit = 1 << 20
	var size atomic.Int64
	server, client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		compressed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		defer compressed.Close()
		zeros := make([]byte, 64<<10)
		for left := size.Load(); left > 0; {
			n, err := compressed.Write(zeros[:min(left, int64(len(zeros)))])
			if err != nil {
				return
			}
			left -= int64(n)
		}
	})
	for _, test := range []struct {
		size int64
		want error
	}{{0, nil}, {limit - 1, nil}, {limit, nil}, {limit + 1, ErrTooLarge}, {1 << 30, ErrTooLarge}} {
		t.Run(fmt.Sprint(test.size), func(t *testing.T) {
			size.Store(test.size)
			request, _ := http.NewRequest(http.MethodGet, server.URL, nil)
			response, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			data, err := ReadAll(response.Body, limit)
			runtime.ReadMemStats(&after)
			response.Body.Close()
			if !errors.Is(err, test.want) || err == nil && int64(len(data)) != test.size {
				t.Errorf("%d bytes, %v; want %v and size %v", len(data), err, test.want, test.size)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 16*limit {
				t.Errorf("%d bytes were allocated, want at most %v", used, 16*limit)
			}
		})
	}
}

func TestLargeHeaders(t *testing.T) {
	server, client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X", strings.Repeat("a", 2*MaxHeaderBytes))
	})
	if _, err := get(t, client, server.URL); !errors.Is(err, ErrHeaders) {
		t.Errorf("got %v, want %v", err, ErrHeaders)
	}
}

func TestTimeouts(t *testing.T) {
	t.Run("the answer does not begin", func(t *testing.T) {
		server, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		hops, err := get(t, newLocalClient(t, Options{HeaderTimeout: time.Millisecond}), server.URL)
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || !hops.Sent() {
			t.Errorf("got %v", err)
		}
	})
	t.Run("no handshake", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		hops, err := get(t, newLocalClient(t, Options{TLSTimeout: time.Millisecond}), "https://"+listener.Addr().String())
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || hops.Sent() {
			t.Errorf("got %v", err)
		}
	})
	t.Run("the caller cancels", func(t *testing.T) {
		server, client := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		if _, err := client.Do(request); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
	})
}

func TestErrorsHideTheAddress(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	client := newLocalClient(t, Options{Resolver: newResolver(t, &dns{answer: always()})})
	for _, host := range []string{address, "no.example", "10.0.0.1", "127.0.0.1:25"} {
		hops, err := get(t, client, "http://"+host+"/path-secret?token=secret")
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want an error and no \"secret\"", host, err)
		}
		if hops.Sent() {
			t.Errorf("%s: something was sent", host)
		}
	}
}

func TestRecordedHosts(t *testing.T) {
	for address, want := range map[string]string{
		"http://Example.com/":       "example.com",
		"http://example.com:80/":    "example.com",
		"https://example.com:443/":  "example.com",
		"https://example.com:80/":   "example.com:80",
		"http://example.com:8080/x": "example.com:8080",
		"http://[2001:DB8::1]:80/":  "[2001:db8::1]",
		"http://[2001:db8::1]:81/":  "[2001:db8::1]:81",
		"http://u:p@example.com/":   "example.com",
	} {
		t.Run(address, func(t *testing.T) {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			_, hops := RecordHops(context.Background())
			hops.begin(u)
			if got := hops.List()[0].Host; got != want {
				t.Errorf("%q, want %v", got, want)
			}
		})
	}
}
