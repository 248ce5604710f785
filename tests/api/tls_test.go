package api

import (
	"blueprintd/server/certificate"
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
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blueprintd/command"
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
		{[]string{"--acme-email", "a@b.example"}, "--acme-email requires --acme-domain"},
		{[]string{"--acme-domain", "*.example.org"}, "without wildcards"},
		{[]string{"--acme-domain", "127.0.0.1"}, "full domain name"},
		{[]string{"--acme-domain", "localhost"}, "full domain name"},
		{[]string{domain, "--ephemeral"}, "--ephemeral stores nothing"},
		{[]string{domain, "--acme-email", "ada"}, "is not a mail address"},
		{[]string{domain, "--acme-directory", "http://ca.example.org/dir"}, "write an https address"},
		{[]string{domain, "--acme-http-addr", "80"}, "write HOST:PORT"},
	} {
		stdout, stderr := &lockedBuffer{}, &lockedBuffer{}
		code := run(append([]string{"blueprintd", "serve", "--addr", "127.0.0.1:0"}, c.flags...), nil, stdout, stderr)
		if text := stderr.String(); code != command.ExitUsage || !process.ContainsAll(text, c.want, "\nhint: ") {
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
		{"a good pair comes", func() { makePair(t, folder, time.Now().Add(time.Hour), "second.example.org") }, "second.example.org", "certificate reloaded"},
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
