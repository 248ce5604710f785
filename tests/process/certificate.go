package process

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// KeyPair is a certificate for 127.0.0.1 and its key in two PEM files.
type KeyPair struct {
	Cert, Key string         // paths
	Pool      *x509.CertPool // trusts the certificate
}

// NewKeyPair is MakeKeyPair for a test, which an error ends.
func NewKeyPair(t testing.TB, folder string, until time.Time, names ...string) KeyPair {
	t.Helper()
	p, err := MakeKeyPair(folder, until, names...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// MakeKeyPair writes a certificate that is valid until a time to cert.pem and its key to
// key.pem in folder, and overwrites existing files.
func MakeKeyPair(folder string, until time.Time, names ...string) (p KeyPair, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return p, err
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		return p, err
	}
	form := &x509.Certificate{SerialNumber: serial, DNSNames: names, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Unix(0, 0), NotAfter: until, IsCA: true, BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		return p, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return p, err
	}
	certificate, err := x509.ParseCertificate(signed)
	if err != nil {
		return p, err
	}
	p = KeyPair{Cert: filepath.Join(folder, "cert.pem"), Key: filepath.Join(folder, "key.pem"), Pool: x509.NewCertPool()}
	p.Pool.AddCert(certificate)
	for path, block := range map[string]*pem.Block{p.Cert: {Type: "CERTIFICATE", Bytes: signed}, p.Key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			return p, err
		}
	}
	return p, nil
}

// Client returns a client that trusts the certificate.
func (p KeyPair) Client(t testing.TB, http2 bool) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: p.Pool}, ForceAttemptHTTP2: http2}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
