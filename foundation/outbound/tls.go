package outbound

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
)

// TLSConfig gives what is needed to speak TLS to a host over a connection of
// DialContext, with the same authorities as for HTTP. It is the caller's.
func (c *Client) TLSConfig(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: c.transport.TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
}

// CertificateProblem says in words why a certificate is not trusted.
func CertificateProblem(err error) string {
	var (
		invalid   x509.CertificateInvalidError
		host      x509.HostnameError
		authority x509.UnknownAuthorityError
	)
	switch {
	case errors.As(err, &host):
		return "it is for another host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "it has expired or is not valid yet"
	case errors.As(err, &authority):
		return "its issuer is not known"
	default:
		return "it is not valid"
	}
}
