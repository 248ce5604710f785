package api

import (
	"blueprintd/server/certificate"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/command"
	"blueprintd/foundation/clock"
	"blueprintd/server"
	"blueprintd/tests/process"
)

// keyPair is a certificate and its key in two files.
type keyPair struct {
	cert, key string
	pool      *x509.CertPool // trusts it
}

// makePair writes a new pair over what is in the folder.
func makePair(t *testing.T, folder string, until time.Time, names ...string) keyPair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: serial, DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Unix(0, 0), NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	made, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p := keyPair{cert: filepath.Join(folder, "cert.pem"), key: filepath.Join(folder, "key.pem"), pool: x509.NewCertPool()}
	certificate, _ := x509.ParseCertificate(made)
	p.pool.AddCert(certificate)
	write(t, p.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made}))
	write(t, p.key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return p
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// client trusts the pair.
func (p keyPair) client(t *testing.T, http2 bool) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.pool}, ForceAttemptHTTP2: http2}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func TestFlagsOfTLS(t *testing.T) {
	t.Parallel()
	tomorrow := time.Now().Add(24 * time.Hour)
	one, other, folder := makePair(t, t.TempDir(), tomorrow), makePair(t, t.TempDir(), tomorrow), t.TempDir()
	junk, missing := filepath.Join(folder, "junk.pem"), filepath.Join(folder, "missing.pem")
	write(t, junk, []byte("junk"))
	const domain = "--acme-domain=flows.example.org"
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--tls-cert", one.cert}, "--tls-cert and --tls-key go together"},
		{[]string{"--tls-key", one.key}, "go together"},
		{[]string{"--tls-cert", missing, "--tls-key", one.key}, "--tls-cert " + missing + ": no such file"},
		{[]string{"--tls-cert", one.cert, "--tls-key", missing}, "--tls-key " + missing + ": no such file"},
		{[]string{"--tls-cert", folder, "--tls-key", one.key}, "--tls-cert " + folder + ": it is a folder"},
		{[]string{"--tls-cert", junk, "--tls-key", one.key}, "--tls-cert " + junk + ": holds no certificate"},
		{[]string{"--tls-cert", one.key, "--tls-key", one.cert}, "--tls-cert " + one.key + ": holds no certificate"},
		{[]string{"--tls-cert", one.cert, "--tls-key", junk}, "--tls-key " + junk + ": holds no private key"},
		{[]string{"--tls-cert", one.cert, "--tls-key", other.key}, "--tls-key " + other.key + ": is not the key of the certificate"},
		{[]string{"--tls-cert", one.cert, "--tls-key", one.key, domain}, "--tls-cert names a certificate, and --acme-domain obtains one"},
		{[]string{"--acme-email", "a@b.example"}, "--acme-email is of no use without --acme-domain"},
		{[]string{"--acme-domain", "*.example.org"}, "without a star"},
		{[]string{"--acme-domain", "127.0.0.1"}, "full name"},
		{[]string{"--acme-domain", "localhost"}, "full name"},
		{[]string{domain, "--ephemeral"}, "--ephemeral keeps nothing"},
		{[]string{domain, "--acme-email", "ada"}, "is no mail address"},
		{[]string{domain, "--acme-directory", "http://ca.example.org/dir"}, "write an https address"},
		{[]string{domain, "--acme-http-addr", "80"}, "write HOST:PORT"},
	} {
		stdout, stderr := &lockedBuffer{}, &lockedBuffer{}
		code := run(append([]string{"blueprintd", "serve", "--addr", "127.0.0.1:0"}, c.flags...), nil, stdout, stderr)
		if text := stderr.String(); code != command.ExitUsage || !containsAll(text, c.want, "\nhint: ") {
			t.Errorf("%v: exit code %d, want %q in\n%s", c.flags, code, c.want, text)
		}
	}
}

func TestServedByTLS(t *testing.T) {
	t.Parallel()
	pair := makePair(t, t.TempDir(), time.Now().Add(time.Hour), "flows.example.org")
	p := process.Serve(t, "--ephemeral", "--tls-cert", pair.cert, "--tls-key", pair.key)
	if !strings.HasPrefix(p.Host, "https://127.0.0.1:") {
		t.Fatalf("it is at %s", p.Host)
	}
	for _, major := range []int{1, 2} {
		client := pair.client(t, major == 2)
		request, err := http.NewRequest(http.MethodGet, p.Host+"/api/trpc/apiKey.list", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+testKey)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusOK || response.ProtoMajor != major || response.Header.Get("Strict-Transport-Security") != "" {
			t.Errorf("HTTP/%d: status %d by %s, header %v", major, response.StatusCode, response.Proto, response.Header)
		}
		request, _ = http.NewRequest(http.MethodGet, p.Host+"/healthz", nil)
		request.Host = "flows.example.org"
		if response, err = client.Do(request); err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Strict-Transport-Security"); got != "max-age=31536000" {
			t.Errorf("under its own name it says %q", got)
		}
	}
	response, err := http.Post("http"+strings.TrimPrefix(p.Host, "https")+"/api/trpc/x", "application/json", strings.NewReader(strings.Repeat("x", 1<<16)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusBadRequest || !strings.Contains(string(text), "https://") {
		t.Errorf("plain HTTP is answered %d %s", response.StatusCode, text)
	}
	old := &tls.Config{RootCAs: pair.pool, MaxVersion: tls.VersionTLS11}
	if conn, err := tls.Dial("tcp", strings.TrimPrefix(p.Host, "https://"), old); err == nil {
		conn.Close()
		t.Error("TLS 1.1 is spoken")
	}
	p.Stop()
}

func TestChangedCertificatesAreReadAnew(t *testing.T) {
	t.Parallel()
	folder, log := t.TempDir(), &lockedBuffer{}
	first := makePair(t, folder, time.Now().Add(time.Hour), "first.example.org")
	f := &certificate.Files{CertPath: first.cert, KeyPath: first.key, Logger: slog.New(slog.NewTextHandler(log, nil)), Look: 1}
	if _, err := f.Load(); err != nil {
		t.Fatal(err)
	}
	name := func() string {
		pair, err := f.Get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.DNSNames[0]
	}
	good, err := os.ReadFile(first.key)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what       string
		do         func()
		want, said string
	}{
		{"nothing has changed", func() {}, "first.example.org", ""},
		{"a key is half written", func() { write(t, first.key, good[:20]) }, "first.example.org", "cannot be used"},
		{"and stays so", func() {}, "first.example.org", ""},
		{"it is missing for a moment", func() { os.Remove(first.key) }, "first.example.org", ""},
		{"a good pair comes", func() { makePair(t, folder, time.Now().Add(time.Hour), "second.example.org") }, "second.example.org", "read the new certificate"},
		{"an old pair comes", func() { makePair(t, folder, time.Now().Add(-time.Hour), "third.example.org") }, "third.example.org", "has expired"},
	} {
		step.do()
		before := len(log.String())
		if got := name(); got != step.want {
			t.Errorf("%s: shows %s, want %s", step.what, got, step.want)
		}
		if said := log.String()[before:]; !strings.Contains(said, step.said) || step.said == "" && said != "" {
			t.Errorf("%s: says %q, want %q", step.what, said, step.said)
		}
	}
}

func TestAddressUnderWhichTheCertificateFits(t *testing.T) {
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
		s := &server.Server{Listener: atAddress(t, c.address), Certificates: named(c.names)}
		if got := s.ChooseSecureHost(); got != c.want {
			t.Errorf("%s with %v: %s, want %s", c.address, c.names, got, c.want)
		}
	}
}

func TestUnencryptedKeysAreToldOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		address, publicURL string
		certificates       server.Certificates
		want               bool
	}{
		{"127.0.0.1:8787", "", nil, false},
		{"[::1]:8787", "", nil, false},
		{"0.0.0.0:8787", "", nil, true},
		{"192.0.2.1:8787", "http://flows.example.org", nil, true},
		{"[::]:8787", "https://flows.example.org", nil, false},
		{"0.0.0.0:8787", "", named{"flows.example.org"}, false},
	} {
		s := &server.Server{Options: server.Options{Network: server.Network{PublicURL: c.publicURL}}, Listener: atAddress(t, c.address), Certificates: c.certificates}
		if got := s.Exposed() != ""; got != c.want {
			t.Errorf("%+v: told %v, want %v", c, got, c.want)
		}
	}
	for address, want := range map[string]bool{"127.0.0.1:8787": false, "0.0.0.0:8787": true} {
		out := &lockedBuffer{}
		s := &server.Server{Options: server.Options{Database: server.Database{Ephemeral: true}, Out: out}, Listener: atAddress(t, address)}
		if err := s.Announce(); err != nil || strings.Contains(out.String(), "WARNING") != want || want && !containsAll(out.String(), address, "--tls-cert", "--acme-domain", "--public-url https://") {
			t.Errorf("on %s the start says: %v\n%s", address, err, out)
		}
	}
}

func TestStrictOnlyUnderOwnNames(t *testing.T) {
	t.Parallel()
	handler := server.Strict(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for host, want := range map[string]bool{
		"flows.example.org": true, "Flows.Example.org": true, "flows.example.org:8787": false, "localhost": false, "a.localhost": false, "127.0.0.1": false, "[::1]": false, "box": false,
	} {
		for _, secure := range []bool{true, false} {
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = host
			if secure {
				r.TLS = &tls.ConnectionState{}
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if got := w.Header().Get("Strict-Transport-Security") != ""; got != (want && secure) {
				t.Errorf("%s, TLS %v: told %v", host, secure, got)
			}
		}
	}
}

// named are certificates of which only the names count.
type named []string

func (named) Get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }
func (named) Expiry() time.Time                                  { return time.Time{} }
func (n named) Names() []string                                  { return n }
func (named) About() string                                      { return "" }

// standing is a listener that only has an address.
type standing struct {
	net.Listener
	address net.Addr
}

func (s standing) Addr() net.Addr { return s.address }

func atAddress(t *testing.T, text string) net.Listener {
	t.Helper()
	address, err := net.ResolveTCPAddr("tcp", text)
	if err != nil {
		t.Fatal(err)
	}
	return standing{address: address}
}

func TestAuthorityThatGaveNothingYet(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "acme")
	a, err := certificate.NewAuthority(&certificate.ACMEOptions{Domains: []string{"a.example.org", "b.example.org"}, Dir: folder, Directory: "https://127.0.0.1:1/dir"}, version, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.URL = &url.URL{Scheme: "x", Opaque: "@evil.example/"}
	w := httptest.NewRecorder()
	if (&server.Server{ACME: a, Listener: atAddress(t, "127.0.0.1:8443")}).SendToTLS(w, r); w.Code != http.StatusBadRequest || w.Header().Get("Location") != "" {
		t.Errorf("an address without a path: %d to %q", w.Code, w.Header().Get("Location"))
	}
	if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info.Mode(), err)
	}
	for _, d := range a.Domains {
		close(d.Tried)
	}
	for _, hello := range []*tls.ClientHelloInfo{{ServerName: "b.example.org"}, {}, {ServerName: "other.example.org"}, {ServerName: "other.example.org", SupportedProtos: []string{certificate.ProofProtocol}}} {
		if _, err := a.Get(hello); err == nil {
			t.Errorf("%q has a certificate", hello.ServerName)
		}
	}
	if !a.Expiry().IsZero() {
		t.Error("there is an expiry")
	}
	// What came by plain http is led on, and what was sent there is not taken.
	s := &server.Server{ACME: a, Certificates: a, SecureHost: "a.example.org:8443", Listener: atAddress(t, "127.0.0.1:8443")}
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
		r := httptest.NewRequest(c.method, "/", nil)
		r.Host = c.host
		r.URL.Path, r.URL.RawQuery, _ = strings.Cut(c.path, "?")
		w := httptest.NewRecorder()
		s.SendToTLS(w, r)
		if w.Code != c.status || w.Header().Get("Location") != c.to {
			t.Errorf("%s %s%s: %d to %q", c.method, c.host, c.path, w.Code, w.Header().Get("Location"))
		}
	}
}

func TestHealthTellsOfCertificates(t *testing.T) {
	t.Parallel()
	now := clock.Real{}.Now()
	for name, c := range map[string]struct {
		until time.Time
		ok    bool
	}{"good": {now.Add(time.Hour), true}, "expired": {now.Add(-time.Hour), false}, "missing": {time.Time{}, false}} {
		s := &server.Server{Certificates: until{at: c.until}}
		if got := s.CheckCertificate(); len(got) != 1 || got[0].OK != c.ok || c.ok != (got[0].Hint == "") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := (&server.Server{}).CheckCertificate(); got != nil {
		t.Errorf("without TLS: %+v", got)
	}
}

type until struct {
	named
	at time.Time
}

func (u until) Expiry() time.Time { return u.at }

func TestHandshakesThatSayNothingAreNotLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := server.NewHTTPLog(slog.New(slog.NewTextHandler(&out, nil)))
	log.Write([]byte("http: TLS handshake error from 127.0.0.1:1: EOF"))
	if out.Len() != 0 {
		t.Errorf("says %s", out.String())
	}
	log.Write([]byte("http: TLS handshake error from 127.0.0.1:1: remote error: tls: bad certificate"))
	if !strings.Contains(out.String(), "bad certificate") {
		t.Errorf("says %q", out.String())
	}
}
