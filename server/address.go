package server

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
	"blueprintd/server/certificate"
	"blueprintd/server/limits"
)

func listen(address string) (net.Listener, error) {
	var listening net.ListenConfig
	listening.SetMultipathTCP(false) // its sockets cannot refuse connections
	return listening.Listen(context.Background(), "tcp", address)
}

// APIHost returns the root URL of the server for clients.
func (s *site) APIHost() string {
	if s.Options.PublicURL != "" {
		return s.Options.PublicURL
	}
	if s.Certificates != nil {
		return "https://" + s.SecureHost
	}
	return "http://" + s.LocalAddress()
}

// LocalAddress returns the host and port of the listener, loopback if unspecified.
func (s *site) LocalAddress() string {
	address, ok := s.Listener.Addr().(*net.TCPAddr)
	if !ok || !address.IP.IsUnspecified() {
		return s.Listener.Addr().String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(address.Port))
}

// cannotListen returns the error for an address, given by a flag, that cannot be listened on.
func cannotListen(flag, address string, err error) error {
	hint := "choose another one with " + flag + ", or stop what listens there"
	switch {
	case errors.Is(err, fs.ErrPermission):
		hint = blueprint.SeeDocs("choose a port above 1023 with "+flag+", or permit this one", "deploying")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		hint = "choose an address of this machine with " + flag
	}
	if op, ok := errors.AsType[*net.OpError](err); ok {
		err = op.Err
	}
	return blueprint.Hinted(hint, "cannot listen on %s: %s", address, err)
}

// chooseSecureHost returns the host, and the port unless it is 443, for which the
// certificate is valid: the address itself if possible, else the first name.
func (s *site) chooseSecureHost() string {
	host, port, err := net.SplitHostPort(s.LocalAddress())
	if err != nil {
		return s.LocalAddress()
	}
	if slices.Contains(s.Certificates.Names(), host) {
		return withPort(host, port)
	}
	for _, name := range s.Certificates.Names() {
		if _, err := netip.ParseAddr(name); err != nil && !strings.HasPrefix(name, "*") {
			return withPort(name, port)
		}
	}
	return withPort(host, port)
}

func withPort(host, port string) string {
	if port != "443" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func (s *site) scheme() string {
	if s.Certificates != nil {
		return "https"
	}
	return "http"
}

// exposed returns a warning if other machines can connect without TLS, "" otherwise.
func (s *site) exposed() string {
	if s.Certificates != nil || strings.HasPrefix(s.Options.PublicURL, "https://") || s.loopbackOnly() {
		return ""
	}
	return "keys and data travel unencrypted on " + s.Listener.Addr().String() + ": anything on the network path can read them"
}

var exposedHint = blueprint.SeeDocs("use --tls-cert and --tls-key, or --acme-domain, or a proxy with TLS and --public-url https://...", "deploying")

// underPath returns a warning if the public URL has a path, "" otherwise.
func (s *site) underPath() string {
	u, err := url.Parse(s.Options.PublicURL)
	if err != nil || u.Path == "" || u.Path == "/" {
		return ""
	}
	return "the dashboard and the docs work only at the root of a host, not under " + u.Path
}

var underPathHint = blueprint.SeeDocs("give the server a host name of its own, such as https://flows.example.org", "deploying")

// loopbackOnly reports whether the server listens only on loopback.
func (s *site) loopbackOnly() bool {
	address, err := netip.ParseAddrPort(s.Listener.Addr().String())
	return err != nil || address.Addr().Unmap().IsLoopback()
}

// predictableKeys returns a warning if other machines can reach a server whose keys and
// links are derived from --seed-ids, "" otherwise.
func (s *site) predictableKeys() string {
	if s.Options.SeedIDs == nil || s.loopbackOnly() && s.Options.PublicURL == "" {
		return ""
	}
	return "keys, ids and links follow from --seed-ids: knowing or guessing the number is enough to get them"
}

var predictableKeysHint = blueprint.SeeDocs("listen on 127.0.0.1 without --public-url, or leave --seed-ids out", "fake-backend")

// ReadyOnOutput is the name of standard output as the ready file: one line of JSON replaces
// the text for users.
const ReadyOnOutput = "-"

// readyInfo is the content of the ready file.
type readyInfo struct {
	BaseURL      string  `json:"baseUrl"`
	APIHost      string  `json:"apiHost"`
	DashboardURL string  `json:"dashboardUrl"`
	SMTPAddr     string  `json:"smtpAddr,omitempty"`
	APIKey       string  `json:"apiKey,omitempty"`
	Seed         *seeded `json:"seed,omitempty"`
	PID          int     `json:"pid"`
}

func (s *Server) readyInfo() readyInfo {
	return readyInfo{s.APIHost() + "/api/trpc", s.APIHost(), s.APIHost() + "/", s.SMTPAddress(), s.Bootstrap.APIKey, s.Bootstrap.Seeded, os.Getpid()}
}

// announceToProgram writes the ready file to standard output.
func (s *Server) announceToProgram() error {
	data, err := json.Marshal(s.readyInfo())
	if err != nil {
		return err
	}
	_, err = s.Options.Out.Write(append(data, '\n'))
	return err
}

func (s *Server) writeReadyFile() error {
	if s.Options.ReadyFile == "" {
		return nil
	}
	data, err := blueprint.EncodeIndented(s.readyInfo())
	if err != nil {
		return err
	}
	if err := fileio.Write(s.Options.ReadyFile, data, false); err != nil {
		return blueprint.Hinted("name a file in a folder that exists", "the ready file %s cannot be written: %s", s.Options.ReadyFile, fileio.Cause(err))
	}
	return nil
}

// removeReadyFile removes the ready file, unless another server has replaced it.
func (s *Server) removeReadyFile() {
	if s.Options.ReadyFile == "" || s.Options.ReadyFile == ReadyOnOutput {
		return
	}
	data, err := fileio.Read(s.Options.ReadyFile, 1<<16)
	if err == nil && strings.Contains(string(data), fmt.Sprintf("\"pid\": %d\n", os.Getpid())) {
		os.Remove(s.Options.ReadyFile)
	}
}

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
		return cannotListen("--acme-http-addr", address, err)
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
