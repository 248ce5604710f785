package server

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// listen takes a port.
func listen(address string) (net.Listener, error) {
	var listening net.ListenConfig
	listening.SetMultipathTCP(false) // whose sockets cannot be told to admit no more connections
	return listening.Listen(context.Background(), "tcp", address)
}

// APIHost is the host root under which others reach this server.
func (s *site) APIHost() string {
	if s.Options.PublicURL != "" {
		return s.Options.PublicURL
	}
	if s.Certificates != nil {
		return "https://" + s.SecureHost
	}
	return "http://" + s.LocalAddress()
}

// LocalAddress is where the server can be reached on this machine: an address
// that stands for all of them is none that anybody could call.
func (s *site) LocalAddress() string {
	address, ok := s.Listener.Addr().(*net.TCPAddr)
	if !ok || !address.IP.IsUnspecified() {
		return s.Listener.Addr().String()
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(address.Port))
}

// listenCause returns the reason why a port could not be taken, without the
// address that the message names already.
func listenCause(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// chooseSecureHost returns the host, and the port unless it is the usual one,
// under which a client finds the certificate to fit: the address itself when it
// is good for that, else the first name.
func (s *site) chooseSecureHost() string {
	host, port, err := net.SplitHostPort(s.LocalAddress())
	if err != nil {
		return s.LocalAddress()
	}
	for _, name := range s.Certificates.Names() {
		if name == host {
			return withPort(host, port)
		}
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

// scheme is what is spoken on the address of the server.
func (s *site) scheme() string {
	if s.Certificates != nil {
		return "https"
	}
	return "http"
}

// exposed is what to say when keys travel so that others can read them: neither
// the server nor a proxy before it speaks TLS, and more than this machine can
// connect. "" = they do not.
func (s *site) exposed() string {
	if s.Certificates != nil || strings.HasPrefix(s.Options.PublicURL, "https://") {
		return ""
	}
	if s.onlyHere() {
		return ""
	}
	return "keys and data travel unencrypted on " + s.Listener.Addr().String() + ": whoever listens on the way can read them"
}

// exposedHint is what to do about it.
const exposedHint = "use --tls-cert and --tls-key, or --acme-domain, or a proxy with TLS and --public-url https://..."

// onlyHere reports whether the server listens to this machine alone.
func (s *site) onlyHere() bool {
	address, err := netip.ParseAddrPort(s.Listener.Addr().String())
	return err != nil || address.Addr().Unmap().IsLoopback()
}

// guessable is what to say when others can reach a server whose keys and links
// follow from a number; "" = they cannot, or they do not.
func (s *site) guessable() string {
	if s.Options.SeedIDs == nil || s.onlyHere() && s.Options.PublicURL == "" {
		return ""
	}
	return "keys, ids and links follow from --seed-ids: whoever knows or guesses the number has them"
}

// guessableHint is what to do about it.
const guessableHint = "listen on 127.0.0.1 without --public-url, or leave --seed-ids out"
