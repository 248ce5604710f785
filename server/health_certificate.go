package server

import (
	"time"

	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
)

// CheckCertificate looks whether clients will take the certificate; without TLS
// there is nothing to look at.
func (s *Server) CheckCertificate() []check {
	if s.Certificates == nil {
		return nil
	}
	c := check{Name: "certificate", Detail: s.Certificates.About()}
	switch until := s.Certificates.Expiry(); {
	case until.IsZero():
		c.Detail, c.Hint = "none was obtained yet for one of "+c.Detail, "the log says what the authority answered"
	case clock.Real{}.Now().After(until):
		c.Detail, c.Hint = "expired on "+until.UTC().Format(time.DateOnly)+": "+c.Detail, "renew it; the log says why that did not happen by itself"
	default:
		c.OK = true
	}
	return []check{c}
}

// writeCertificate adds when the certificate expires.
func (s *Server) writeCertificate(p *metrics.Page) {
	if s.Certificates == nil {
		return
	}
	until := int64(0)
	if expiry := s.Certificates.Expiry(); !expiry.IsZero() {
		until = expiry.Unix()
	}
	gauge(p, "tls_certificate_expiry_seconds", "When the first certificate expires, in seconds since 1970; 0 = one is missing.", until)
}
