package main

import (
	"time"

	"blueprintd/foundation/clock"
	"blueprintd/foundation/metrics"
)

// checkCertificate looks whether clients will take the certificate; without TLS
// there is nothing to look at.
func (s *server) checkCertificate() []check {
	if s.certificates == nil {
		return nil
	}
	c := check{Name: "certificate", Detail: s.certificates.about()}
	switch until := s.certificates.expiry(); {
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
func (s *server) writeCertificate(p *metrics.Page) {
	if s.certificates == nil {
		return
	}
	until := int64(0)
	if expiry := s.certificates.expiry(); !expiry.IsZero() {
		until = expiry.Unix()
	}
	gauge(p, "tls_certificate_expiry_seconds", "When the first certificate expires, in seconds since 1970; 0 = one is missing.", until)
}
