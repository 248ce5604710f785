package main

import (
	"crypto/tls"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// certificates are what the server shows of itself to who speaks TLS.
type certificates interface {
	// get gives one that fits, soon.
	get(*tls.ClientHelloInfo) (*tls.Certificate, error)
	// expiry is when the first of them expires; the zero time when one is missing.
	expiry() time.Time
	// names gives the names that they are for.
	names() []string
	// about says in words for people what they are.
	about() string
}

// secure has TLS spoken on the address of the server, when that was chosen.
func (s *server) secure() (err error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	switch o := &s.options; {
	case o.tlsFiles != nil:
		s.certificates = o.tlsFiles
		o.tlsFiles.warn()
	case o.acme != nil:
		if s.acme, err = newAuthority(o.acme, o.version, o.logger); err != nil {
			return err
		}
		s.certificates = s.acme
		config.NextProtos = []string{proofProtocol}
		if err := s.listenForProofs(); err != nil {
			return err
		}
	default:
		return nil
	}
	if strings.HasPrefix(strings.ToLower(s.options.publicURL), "http://") {
		s.options.logger.Warn("the public address is an http one, and this server speaks https alone: links that it gives lead nowhere unless a proxy stands before it",
			"public_url", s.options.publicURL, "hint", "--public-url https://...")
	}
	config.GetCertificate = s.certificates.get
	s.secureHost = s.chooseSecureHost()
	s.doors.Secure(config)
	s.http.TLSConfig = config
	s.http.Handler = strict(s.http.Handler)
	// What one client can have under way, and what the server holds of it
	// unread, is less than what HTTP/2 allows by default.
	s.http.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 256 << 10, MaxReceiveBufferPerStream: 128 << 10, WriteByteTimeout: 30 * time.Second,
	}
	return nil
}

// serveDoors answers on the address of the server.
func (s *server) serveDoors() error {
	if s.certificates != nil {
		return s.http.ServeTLS(s.doors, "", "")
	}
	return s.http.Serve(s.doors)
}

// strict tells browsers for a year to come by https only. They remember it of
// the name, whatever its port, so it is only said when https has its usual port
// and the name is one that others do not share.
func strict(next http.Handler) http.Handler {
	const year = 365 * 24 * time.Hour
	value := "max-age=" + strconv.Itoa(int(year.Seconds()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil && isOwnName(r.Host) {
			w.Header().Set("Strict-Transport-Security", value)
		}
		next.ServeHTTP(w, r)
	})
}

// isOwnName tells whether the host of a request is a full name without a port.
func isOwnName(host string) bool {
	_, err := netip.ParseAddr(host)
	return err != nil && isMailDomain(strings.ToLower(host)) && strings.Contains(host, ".") && !strings.HasSuffix(strings.ToLower(host), ".localhost")
}

// isMailDomain tells whether a text can stand behind an @: labels of letters,
// digits and hyphens.
func isMailDomain(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
	}
	return len(text) <= 253
}
