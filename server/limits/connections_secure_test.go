package limits

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// newTLSServer returns a testServer with TLS and a time limit for handshakes and headers;
// trust is the configuration of its clients.
func newTLSServer(t *testing.T, limit int, timeout time.Duration) (s *testServer, trust *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"x"}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	s = newTestServer(t)
	s.conns.limit = int64(limit)
	config := &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.conns.Secure(config)
	s.server.TLSConfig = config
	s.server.ErrorLog = quiet()
	s.server.ReadHeaderTimeout = timeout
	go func() { s.served <- s.server.ServeTLS(s.conns, "", "") }()
	t.Cleanup(func() { s.server.Close() })
	return s, &tls.Config{RootCAs: roots, ServerName: "x"}
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

type recorded = httptest.ResponseRecorder

func ask(handler http.Handler) *recorded {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	return w
}

func (s *testServer) dialSecure(trust *tls.Config) (*tls.Conn, *bufio.Reader) {
	s.Helper()
	conn, _ := s.dial()
	secure := tls.Client(conn, trust)
	if err := secure.Handshake(); err != nil {
		s.Fatal(err)
	}
	return secure, bufio.NewReader(secure)
}

func TestPlainHTTPOnTLSPort(t *testing.T) {
	s, _ := newTLSServer(t, 0, time.Minute)
	for _, body := range []string{"", strings.Repeat("x", 50<<10)} { // longer than the part that is read
		conn, in := s.dial()
		if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\n\r\n"+body); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "https://") {
			t.Errorf("status %d, %v: %s; want %v and \"https://\" in it", response.StatusCode, err, text, http.StatusBadRequest)
		}
	}
}

func TestConnectionLimitTLS(t *testing.T) {
	t.Parallel()
	s, trust := newTLSServer(t, 1, time.Minute)
	conn, in := s.dialSecure(trust)
	s.send(conn)
	s.readResponse(in)
	several := trust.Clone()
	several.NextProtos = []string{"h2", "http/1.1"}
	second, secondIn := s.dialSecure(several)
	if got := second.ConnectionState().NegotiatedProtocol; got != "http/1.1" {
		t.Errorf("the refusal uses %q, want http/1.1", got)
	}
	s.send(second)
	response, err := http.ReadResponse(secondIn, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" || !response.Close {
		t.Errorf("status %d, header %v; want %v, Retry-After not empty and Close", response.StatusCode, response.Header, http.StatusServiceUnavailable)
	}
	silent, silentIn := s.dial()
	if _, err := silentIn.ReadByte(); err == nil {
		t.Error("a silent client was sent something before its handshake, want an error")
	}
	silent.Close()
	s.send(conn)
	s.readResponse(in)
}

// Unfinished handshakes time out.
func TestHandshakeTimeout(t *testing.T) {
	s, _ := newTLSServer(t, 0, 50*time.Millisecond)
	for _, text := range []string{"", "\x16", "\x16\x03\x01\x02\x00\x01"} {
		conn, in := s.dial()
		if _, err := io.WriteString(conn, text); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, in); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Connections without a request, with half a request or with half a handshake do not keep
// the server from stopping.
func TestDrainClosesIdleTLS(t *testing.T) {
	s, trust := newTLSServer(t, 0, time.Minute)
	_, unused := s.dialSecure(trust)
	answered, answeredIn := s.dialSecure(trust)
	s.send(answered)
	s.readResponse(answeredIn)
	half, halfIn := s.dialSecure(trust)
	if _, err := io.WriteString(half, "GET / HT"); err != nil {
		t.Fatal(err)
	}
	begun, begunIn := s.dial()
	if _, err := begun.Write([]byte{22, 3, 1, 2, 0, 1}); err != nil {
		t.Fatal(err)
	}
	_, silentIn := s.dial()
	close(s.draining)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	s.conns.Drain(ctx)
	if err := s.server.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	for _, in := range []*bufio.Reader{unused, answeredIn, halfIn, begunIn, silentIn} {
		if _, err := io.Copy(io.Discard, in); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a connection at rest: %v", err)
		}
	}
}

// HTTP/2 connections, idle or active, end with GOAWAY.
func TestDrainHTTP2(t *testing.T) {
	t.Parallel()
	s, trust := newTLSServer(t, 0, time.Minute)
	entered, finish := make(chan struct{}), make(chan struct{})
	plainHandler := s.server.Handler
	s.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(entered)
			<-finish
		}
		plainHandler.ServeHTTP(w, r)
	})
	client := func() *http.Client {
		transport := &http.Transport{TLSClientConfig: trust.Clone(), ForceAttemptHTTP2: true}
		t.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	get := func(c *http.Client, path string) error {
		response, err := c.Get("https://" + s.conns.Addr().String() + path)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if _, err = io.Copy(io.Discard, response.Body); err == nil && response.ProtoMajor != 2 {
			err = errors.New("protocol " + response.Proto)
		}
		return err
	}
	if err := get(client(), "/"); err != nil {
		t.Fatal(err)
	}
	slow := make(chan error, 1)
	go func() { slow <- get(client(), "/slow") }()
	<-entered
	close(s.draining)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	s.conns.Drain(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.server.Shutdown(ctx) }()
	close(finish)
	if err := <-slow; err != nil {
		t.Errorf("the active request: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if open := s.conns.Open(); open != 0 {
		t.Errorf("%d connections are open, want 0", open)
	}
}

func TestRequestLimit(t *testing.T) {
	var within, beyond *recorded
	handler := http.Handler(nil)
	depth := 0
	handler = Requests(1, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if depth++; depth == 1 {
			beyond = ask(handler)
		}
	}))
	within = ask(handler)
	if within.Code != http.StatusOK || beyond.Code != http.StatusServiceUnavailable || beyond.Header().Get("Retry-After") == "" {
		t.Errorf("statuses %d and %d, want %v, %v and Retry-After not empty", within.Code, beyond.Code, http.StatusOK, http.StatusServiceUnavailable)
	}
	if again := ask(handler); again.Code != http.StatusOK {
		t.Errorf("after all answers: status %d, want %v", again.Code, http.StatusOK)
	}
}
