package sandbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"net/url"
	"time"
)

// authority issues the certificates of the fakes.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pool        *x509.CertPool
}

// The validity of certificates, wide enough for any clock.
var (
	notBefore = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
)

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "blueprintd sandbox"}, NotBefore: notBefore, NotAfter: notAfter,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	a := &authority{key: key, pool: x509.NewCertPool()}
	if a.certificate, err = x509.ParseCertificate(encoded); err != nil {
		return nil, err
	}
	a.pool.AddCert(a.certificate)
	return a, nil
}

// config returns the TLS configuration of a host.
func (a *authority) config(host string) (*tls.Config, error) {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "sandbox"}, NotBefore: notBefore, NotAfter: notAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(host); ip != nil {
		template.IPAddresses = []net.IP{ip}
	} else {
		template.DNSNames = []string{host}
	}
	encoded, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &a.key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{encoded}, PrivateKey: a.key}}, MinVersion: tls.VersionTLS12,
		SessionTicketsDisabled: true, // over a pipe, sending one would deadlock with a client that writes first
	}, nil
}

// tokenLife is the lifetime of a token, in seconds.
const tokenLife = 3600

func (s *Sandbox) token(a *received) *reply {
	form, _ := url.ParseQuery(string(a.body)) // parsed before
	// A connection may request a token for several nodes at once: the client identifies it.
	caller := a.caller
	caller.ExecutionID, caller.Address = "", form.Get("client_id")+" "+a.host
	source := s.stream("token", &caller)
	answer := map[string]any{"access_token": "sandbox-" + source.Token(32), "token_type": "Bearer", "expires_in": tokenLife}
	if form.Get("grant_type") != "client_credentials" {
		answer["refresh_token"] = "sandbox-refresh-" + source.Token(32)
	}
	if scope := form.Get("scope"); scope != "" {
		answer["scope"] = scope
	}
	return ok(answer)
}
