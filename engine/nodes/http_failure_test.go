package nodes

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
)

func TestFailures(t *testing.T) {
	s := newSite(t, outbound.Options{})
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = stdlog.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()

	tests := []struct {
		name, url, code, message string
		answer                   http.HandlerFunc
		notSent                  bool
		calls                    int
	}{
		{name: "refused", url: "http://10.0.0.5/?secret", code: codeRefused, message: "10.0.0.5 is a private address; hint: --allow-net 10.0.0.5/32 opens it", notSent: true},
		{name: "metadata", url: "http://169.254.169.254/latest/", code: codeRefused, message: "169.254.169.254 is the metadata service of a cloud", notSent: true},
		{name: "spelling", url: "http://0x7f.1/", code: codeRefused, message: "usual spelling", notSent: true},
		{name: "port", url: "http://127.0.0.1:25/", code: codeRefused, message: "port 25", notSent: true},
		{name: "no listener", url: "http://" + gone.Addr().String() + "/?secret", code: codeConnect, message: "cannot connect to " + gone.Addr().String() + ": connection refused", notSent: true},
		{name: "not TLS", url: strings.Replace(s.URL, "http:", "https:", 1), code: codeCertificate, message: "check whether the url must begin with http://", notSent: true},
		{name: "certificate", url: secure.URL, code: codeCertificate, message: "its issuer is not known", notSent: true},
		{name: "broken off", url: s.URL + "/?secret", code: codeConnect, message: "closed the connection before", calls: 1,
			answer: func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }},
		{name: "broken off in the body", url: s.URL, code: codeConnect, message: "closed the connection before", calls: 1,
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				io.WriteString(w, "half")
			}},
		{name: "no gzip", url: s.URL, code: codeConnect, message: "closed the connection before", calls: 1,
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				io.WriteString(w, "plain")
			}},
		{name: "redirects", url: s.URL, code: codeRedirects, message: "redirected more than 5 times", calls: 6,
			answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }},
		{name: "redirect inward", url: s.URL, code: codeRefused, message: "169.254.169.254 is the metadata service of a cloud", calls: 1,
			answer: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
			}},
		{name: "redirect to a file", url: s.URL, code: codeRefused, message: "only http and https are followed", calls: 1,
			answer: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
			}},
		{name: "too large", url: s.URL, code: codeTooLarge, message: "is larger than 10 MiB", calls: 1,
			answer: func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				compressed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
				defer compressed.Close()
				for range 11 << 4 {
					compressed.Write(make([]byte, 64<<10))
				}
			}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s.answers(test.answer)
			result, err := s.send(t, `{"url":"`+test.url+`","method":"POST","headers":{"X-Key":"secret"},"body":"secret"}`)
			var failure *blueprint.Failure
			if !errors.As(err, &failure) {
				t.Fatalf("got %v", err)
			}
			if failure.Code != test.code || !strings.Contains(failure.Message, test.message) || failure.NotSent != test.notSent || failure.Permanent {
				t.Errorf("got %+v, want Code %v, %q in it, NotSent %v and not Permanent", failure, test.code, test.message, test.notSent)
			}
			if strings.Contains(failure.Message, "secret") {
				t.Errorf("it reveals a secret: %s, want no \"secret\"", failure.Message)
			}
			if len(result.Calls) != test.calls {
				t.Errorf("calls: %+v, want length %v", result.Calls, test.calls)
			}
		})
	}
}

func TestTimeouts(t *testing.T) {
	s := newSite(t, outbound.Options{})
	late := expiring{t.Context(), make(chan struct{})}
	s.answers(func(_ http.ResponseWriter, r *http.Request) {
		close(late.over)
		<-r.Context().Done()
	})
	task := newTask(t, s.kind, `{"url":"`+s.URL+`"}`, scope)
	result, err := s.kind.Run(late, task)
	var failure *blueprint.Failure
	if !errors.As(err, &failure) || failure.Code != codeTimeout || !strings.Contains(failure.Message, "did not answer in time") || len(result.Calls) != 1 {
		t.Errorf("got %v, want Code %v, \"did not answer in time\" in it and length 1", err, codeTimeout)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.answers(func(_ http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done()
	})
	if _, err := s.kind.Run(ctx, task); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func TestTrustedTLS(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Host) }))
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	kind := newHTTPType(t, outbound.Options{RootCAs: pool})
	result, err := kind.Run(context.Background(), newTask(t, kind, `{"url":"`+server.URL+`"}`, scope))
	if err != nil || result.Output.(map[string]any)["body"] != strings.TrimPrefix(server.URL, "https://") {
		t.Errorf("got %+v, %v; want body %v", result, err, strings.TrimPrefix(server.URL, "https://"))
	}
}

func TestRedirectsAreRecorded(t *testing.T) {
	s := newSite(t, outbound.Options{})
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/there", http.StatusTemporaryRedirect)
		}
	})
	result, err := s.send(t, `{"url":"URL","method":"POST","body":"again"}`)
	if err != nil || len(result.Calls) != 2 || result.Calls[0].Status != 307 || result.Calls[1].Status != 200 {
		t.Errorf("got %+v, %v; want length 2, Status 307 and Status 200", result.Calls, err)
	}
	if len(s.requests()) != 2 || s.requests()[1].body != "again" || s.requests()[1].header.Get("Idempotency-Key") == "" {
		t.Errorf("got %+v, want length 2, body again and Idempotency-Key not empty", s.requests())
	}
}

// TestFailedNameServer shows the failure of a name server, as it happens and as it was recorded.
func TestFailedNameServer(t *testing.T) {
	want := &blueprint.Failure{Code: codeConnect, Message: "cannot look up the server: the name server is not reachable or fails", NotSent: true}
	for _, happened := range []*net.DNSError{
		{Err: "server misbehaving", Name: "api.example", Server: "127.0.0.1:53", IsTemporary: true},
		{Err: "i/o timeout", Name: "api.example", Server: "192.0.2.1:53", IsTimeout: true, IsTemporary: true},
	} {
		t.Run(happened.Err, func(t *testing.T) {
			recorded := outbound.ReplayFault(t.Context(), &blueprint.Exchange{Error: happened.Error(), Fault: outbound.FaultOf(happened)})
			for _, err := range []error{happened, recorded} {
				if diff := cmp.Diff(want, requestFailure(t.Context(), err, &outbound.Hops{})); diff != "" {
					t.Errorf("%v (-want +got)\n%s", err, diff)
				}
			}
		})
	}
}
