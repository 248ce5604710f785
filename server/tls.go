package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/server/certificate"
	"blueprintd/server/limits"
)

// Certificates are the TLS certificates of the server.
type Certificates interface {
	Get(*tls.ClientHelloInfo) (*tls.Certificate, error)
	Expiry() time.Time // the first expiry; zero if a certificate is missing
	Names() []string   // for which they are valid
	About() string     // a description for the operator
}

// secure enables TLS on the main listener, if there are certificates.
func (s *Server) secure() (err error) {
	config := tlsConfig(nil)
	switch o := &s.Options; {
	case o.TLSFiles != nil:
		s.Certificates = o.TLSFiles
		o.TLSFiles.Warn()
	case o.ACME != nil:
		if s.ACME, err = certificate.NewAuthority(o.ACME, o.Version, o.Logger); err != nil {
			return err
		}
		s.Certificates = s.ACME
		config.NextProtos = []string{certificate.ProofProtocol}
		if err := s.listenForChallenges(); err != nil {
			return err
		}
	default:
		return nil
	}
	if strings.HasPrefix(strings.ToLower(s.Options.PublicURL), "http://") {
		s.Options.Logger.Warn("public URL is http but the server serves https: links work only through a proxy",
			"public_url", s.Options.PublicURL, "hint", "--public-url https://...")
	}
	config.GetCertificate = s.Certificates.Get
	s.SecureHost = s.chooseSecureHost()
	s.main.Secure(config)
	s.main.http.TLSConfig = config
	s.main.http.Handler = strict(s.main.http.Handler)
	// Less than the defaults, to limit concurrent streams and buffers of a client.
	s.main.http.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams: 100, MaxReceiveBufferPerConnection: 256 << 10, MaxReceiveBufferPerStream: 128 << 10, WriteByteTimeout: 30 * time.Second,
	}
	return nil
}

func tlsConfig(get func(*tls.ClientHelloInfo) (*tls.Certificate, error)) *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: get}
}

func (s *Server) serveMain() error {
	if s.Certificates != nil {
		return s.main.http.ServeTLS(s.main.Connections, "", "")
	}
	return s.main.http.Serve(s.main.Connections)
}

// strict sets Strict-Transport-Security for a year. Browsers apply it to the name on every
// port, so it is set only if https has its default port and the name is not shared.
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

// isOwnName reports whether the host of a request is a full name without a port.
func isOwnName(host string) bool {
	_, err := netip.ParseAddr(host)
	return err != nil && blueprint.IsMailDomain(strings.ToLower(host)) && strings.Contains(host, ".") && !strings.HasSuffix(strings.ToLower(host), ".localhost")
}

// maxChallenges is the maximum number of connections of the challenge listener.
const maxChallenges = 256

// listenForChallenges opens the listener for ACME HTTP-01 challenges, if there is one.
func (s *Server) listenForChallenges() error {
	address := s.Options.ACME.HTTPAddr
	if address == "" {
		return nil
	}
	listener, err := listen(address)
	if err != nil {
		return blueprint.Hinted("choose another one with --acme-http-addr, or stop what listens there", "cannot listen on %s: %s", address, listenCause(err))
	}
	s.opened.add(listener.Close)
	proofs := s.ACME.Manager.HTTPHandler(http.HandlerFunc(s.sendToTLS))
	s.challengeListener = &httpListener{limits.NewConnections(listener, maxChallenges), s.newHTTP(limits.NewAnswers(maxAnswers, s.Draining).Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := *r
		if host, _, err := net.SplitHostPort(r.Host); err == nil {
			asked.Host = host // the challenge is for the name without a port
		}
		proofs.ServeHTTP(w, &asked)
	})))}
	return nil
}

// sendToTLS redirects GET and HEAD to https. Other methods are refused: their bodies were
// sent unencrypted, and a redirect would hide that.
func (s *Server) sendToTLS(w http.ResponseWriter, r *http.Request) {
	host := s.APIHost()
	if d := s.ACME.Domains[strings.ToLower(r.Host)]; d != nil {
		if _, port, err := net.SplitHostPort(s.LocalAddress()); err == nil && s.Options.PublicURL == "" {
			host = "https://" + withPort(d.Name, port)
		}
	}
	if r.URL.Opaque != "" {
		http.Error(w, "the request has no path", blueprint.CodeBadRequest.HTTPStatus())
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "this port only redirects to "+host+": use that host in the address", blueprint.CodeBadRequest.HTTPStatus())
		return
	}
	to := r.URL.EscapedPath()
	if !strings.HasPrefix(to, "/") {
		to = "/" + to // it must not extend the host
	}
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	http.Redirect(w, r, host+to, http.StatusPermanentRedirect)
}
