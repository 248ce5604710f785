package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"blueprintd/blueprint"
	"blueprintd/foundation/fileio"
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

// listenCause returns the cause of a listen error, without the address.
func listenCause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
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
