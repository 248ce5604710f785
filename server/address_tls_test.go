package server

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/foundation/clock"
	"blueprintd/server/certificate"
	"blueprintd/tests/process"
)

func TestSecureHost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address string
		names   []string
		want    string
	}{
		{"127.0.0.1:8787", []string{"flows.example.org", "127.0.0.1"}, "127.0.0.1:8787"},
		{"0.0.0.0:8787", []string{"*.example.org", "flows.example.org"}, "flows.example.org:8787"},
		{"0.0.0.0:443", []string{"flows.example.org"}, "flows.example.org"},
		{"127.0.0.1:8787", []string{"*.example.org"}, "127.0.0.1:8787"},
		{"[::1]:443", []string{"::1"}, "[::1]"},
	} {
		t.Run(c.address+" "+c.want, func(t *testing.T) {
			s := &site{Listener: atAddress(t, c.address), Certificates: named(c.names)}
			if got := s.chooseSecureHost(); got != c.want {
				t.Errorf("%s with %v: %s, want %s", c.address, c.names, got, c.want)
			}
		})
	}
}

func TestExposedWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, publicURL string
		certificates       Certificates
		want               bool
	}{
		{"127.0.0.1:8787", "", nil, false},
		{"[::1]:8787", "", nil, false},
		{"0.0.0.0:8787", "", nil, true},
		{"192.0.2.1:8787", "http://flows.example.org", nil, true},
		{"[::]:8787", "https://flows.example.org", nil, false},
		{"0.0.0.0:8787", "", named{"flows.example.org"}, false},
	} {
		t.Run(fmt.Sprint(c.address, " ", c.publicURL, " ", c.want), func(t *testing.T) {
			s := &site{Options: Options{Network: Network{PublicURL: c.publicURL}}, Listener: atAddress(t, c.address), Certificates: c.certificates}
			if got := s.exposed() != ""; got != c.want {
				t.Errorf("%+v: told %v, want %v", c, got, c.want)
			}
		})
	}
	for address, want := range map[string]bool{"127.0.0.1:8787": false, "0.0.0.0:8787": true} {
		t.Run(address, func(t *testing.T) {
			out := &process.Output{}
			s := &Server{site: site{Options: Options{Database: Database{Ephemeral: true}, Out: out}, Listener: atAddress(t, address)}}
			if err := s.Announce(); err != nil || strings.Contains(out.String(), "WARNING") != want {
				t.Errorf("on %s the start reports %v\n%s", address, err, out)
			}
			for _, hint := range []string{address, "--tls-cert", "--acme-domain", "--public-url https://"} {
				if want && !strings.Contains(out.String(), hint) {
					t.Errorf("on %s the start does not report %s:\n%s", address, hint, out)
				}
			}
		})
	}
}

func TestPublicURLWithPath(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{"": "", "https://flows.example.org": "", "https://flows.example.org/": "", "https://example.org/flows": "not under /flows; give the server a host name of its own"} {
		t.Run(address, func(t *testing.T) {
			out := &process.Output{}
			s := &Server{site: site{Options: Options{Database: Database{Ephemeral: true}, Out: out, Network: Network{PublicURL: address}}, Listener: atAddress(t, "127.0.0.1:8787")}}
			if err := s.Announce(); err != nil || strings.Contains(out.String(), "WARNING") != (want != "") || !strings.Contains(out.String(), want) {
				t.Errorf("at %q the start reports %v, want %q\n%s", address, err, want, out)
			}
		})
	}
}

func TestStrictTransportSecurity(t *testing.T) {
	t.Parallel()
	handler := strict(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]bool{
		"flows.example.org": true, "Flows.Example.org": true, "flows.example.org:8787": false, "localhost": false, "a.localhost": false, "127.0.0.1": false, "[::1]": false, "box": false,
	} {
		t.Run(host, func(t *testing.T) {
			for _, secure := range []bool{true, false} {
				r := httptest.NewRequest(http.MethodGet, "/", nil)
				r.Host = host
				if secure {
					r.TLS = &tls.ConnectionState{}
				}
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if got := w.Header().Get("Strict-Transport-Security") != ""; got != (want && secure) {
					t.Errorf("%s, TLS %v: told %v; want %v", host, secure, got, want)
				}
			}
		})
	}
}

// named are Certificates that have only names.
type named []string

func (named) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }

func (named) Expiry() time.Time { return time.Time{} }

func (n named) Names() []string { return n }

func (named) About() string { return "" }

// fakeListener is a listener that only has an address.
type fakeListener struct {
	net.Listener
	address net.Addr
}

func (s fakeListener) Addr() net.Addr { return s.address }

func atAddress(t *testing.T, text string) net.Listener {
	t.Helper()
	address, err := net.ResolveTCPAddr("tcp", text)
	if err != nil {
		t.Fatal(err)
	}
	return fakeListener{address: address}
}

func TestAuthorityWithoutCertificate(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "acme")
	a, err := certificate.NewAuthority(&certificate.ACMEOptions{Domains: []string{"a.example.org", "b.example.org"}, Dir: folder, Directory: "https://127.0.0.1:1/dir"}, "1.0.0", slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL = &url.URL{Scheme: "x", Opaque: "@evil.example/"}
	w := httptest.NewRecorder()
	if (&Server{ACME: a, site: site{Listener: atAddress(t, "127.0.0.1:8443")}}).sendToTLS(w, r); w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
		t.Errorf("an address without a path: %d to %q, want %v and nothing", w.Code, w.Header().Get("Location"), http.StatusBadRequest)
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v; want Perm %v", info.Mode(), err, 0o700)
	}
	for _, d := range a.Domains {
		close(d.Tried)
	}
	for _, hello := range []*tls.ClientHelloInfo{{ServerName: "b.example.org"}, {}, {ServerName: "other.example.org"}, {ServerName: "other.example.org", SupportedProtos: []string{certificate.ProofProtocol}}} {
		if _, err := a.Get(hello); err == nil {
			t.Errorf("%q certificate loaded, want an error", hello.ServerName)
		}
	}
	if !a.Expiry().IsZero() {
		t.Error("there is an expiry")
	}
	// Plain HTTP requests are redirected, except those with a body.
	s := &Server{ACME: a, site: site{Certificates: a, SecureHost: "a.example.org:8443", Listener: atAddress(t, "127.0.0.1:8443")}}
	for _, c := range []struct {
		method, host, path string
		status             int
		to                 string
	}{
		{http.MethodGet, "b.example.org", "/x?y=1", http.StatusPermanentRedirect, "https://b.example.org:8443/x?y=1"},
		{http.MethodHead, "evil.example.net", "//x", http.StatusPermanentRedirect, "https://a.example.org:8443//x"},
		{http.MethodPost, "a.example.org", "/x", http.StatusBadRequest, ""},
		{http.MethodGet, "a.example.org", "@evil.example/", http.StatusPermanentRedirect, "https://a.example.org:8443/@evil.example/"},
	} {
		t.Run(c.path, func(t *testing.T) {
			r := httptest.NewRequest(c.method, "/", nil)
			r.Host = c.host
			r.URL.Path, r.URL.RawQuery, _ = strings.Cut(c.path, "?")
			w := httptest.NewRecorder()
			s.sendToTLS(w, r)
			if w.Code != c.status || w.Header().Get("Location") != c.to {
				t.Errorf("%s %s%s: %d to %q, want %v and %v", c.method, c.host, c.path, w.Code, w.Header().Get("Location"), c.status, c.to)
			}
		})
	}
}

func TestHealthCertificates(t *testing.T) {
	t.Parallel()
	now := clock.Real{}.Now()
	for name, c := range map[string]struct {
		until time.Time
		ok    bool
	}{"good": {now.Add(time.Hour), true}, "expired": {now.Add(-time.Hour), false}, "missing": {time.Time{}, false}} {
		t.Run(name, func(t *testing.T) {
			s := &Server{site: site{Certificates: until{at: c.until}}}
			if got := s.checkCertificate(); len(got) != 1 || got[0].OK != c.ok || c.ok != (got[0].Hint == "") {
				t.Errorf("%+v, want ok %v", got, c.ok)
			}
		})
	}
	if got := (&Server{}).checkCertificate(); got != nil {
		t.Errorf("without TLS: %+v, want nil", got)
	}
}

type until struct {
	named
	at time.Time
}

func (u until) Expiry() time.Time { return u.at }

func TestEmptyHandshakesAreNotLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := newHTTPLog(slog.New(slog.NewTextHandler(&out, nil)))
	log.Write([]byte("http: TLS handshake error from 127.0.0.1:1: EOF"))
	if out.Len() != 0 {
		t.Errorf("says %s, want Len 0", out.String())
	}
	log.Write([]byte("http: TLS handshake error from 127.0.0.1:1: remote error: tls: bad certificate"))
	if !strings.Contains(out.String(), "bad certificate") {
		t.Errorf("says %q, want \"bad certificate\" in it", out.String())
	}
}
