package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"blueprintd/foundation/secret"
)

// Options sets a Client up. The zero value is a good client that reaches only
// the public internet.
type Options struct {
	// Allow lists the ranges that are open besides the public internet.
	Allow []netip.Prefix
	// DialTimeout is for looking a name up and connecting; default 10 s.
	DialTimeout time.Duration
	// TLSTimeout is for the handshake; default 10 s.
	TLSTimeout time.Duration
	// HeaderTimeout is how long an answer may take to begin; default 10 min.
	// Callers set the time for the whole exchange by the request's context.
	HeaderTimeout time.Duration
	// Resolver looks names up; nil means the system's.
	Resolver *net.Resolver
	// RootCAs are the authorities that servers may have their certificates
	// from; nil means the system's.
	RootCAs *x509.CertPool
	// Instead stands in for the network: nothing real is dialled, and so nothing
	// is refused for where it leads, its port or its spelling. Nil means the network itself.
	Network Network
}

// MaxHeaderBytes is how much the headers of an answer may take.
const MaxHeaderBytes = 256 << 10

// ErrHeaders says that the headers of an answer are larger than MaxHeaderBytes.
var ErrHeaders = errors.New("the headers of the answer are too large")

// Client makes guarded connections and HTTP requests. It may be used by any
// number of goroutines.
type Client struct {
	guard     *guard
	instead   Network // nil = the network itself
	dialer    *net.Dialer
	transport *http.Transport
	http      *http.Client
}

// New makes a client. It opens no connection and starts nothing.
func New(options Options) *Client {
	c := &Client{guard: newGuard(options.Allow), instead: options.Network}
	c.dialer = &net.Dialer{
		Timeout:        orDefault(options.DialTimeout, 10*time.Second),
		KeepAlive:      30 * time.Second,
		Resolver:       options.Resolver,
		ControlContext: c.control,
	}
	c.transport = &http.Transport{
		Proxy:                  nil, // a proxy of the environment would connect in our place, unguarded
		DialContext:            c.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: options.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    orDefault(options.TLSTimeout, 10*time.Second),
		ResponseHeaderTimeout:  orDefault(options.HeaderTimeout, 10*time.Minute),
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: MaxHeaderBytes,
		ForceAttemptHTTP2:      true,
		// A request on a connection that was used before may be sent again,
		// unseen, when the other side closes it; a node that acts once must
		// not. And a new one is never found closed.
		DisableKeepAlives: true,
	}
	var base http.RoundTripper = c.transport
	if options.Network != nil {
		base = options.Network
	}
	c.http = &http.Client{Transport: &roundTripper{base, options.Network == nil}, CheckRedirect: checkRedirect}
	return c
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// Do sends a request, as http.Client.Do does. Errors are *RefusedError,
// ErrRedirects, ErrHeaders, or those of net, crypto/tls and context; they never hold the
// address of the request, which may contain a secret.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	response, err := c.http.Do(request)
	if err == nil {
		return response, nil
	}
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	if cause := request.Context().Err(); cause != nil && !errors.Is(err, cause) {
		err = cause
	}
	if tooLong(err) {
		err = ErrHeaders
	}
	return nil, err
}

// tooLong reports whether headers were cut off at MaxHeaderBytes. The error has
// no name in net/http, only these words.
func tooLong(err error) bool {
	text := err.Error()
	return strings.Contains(text, "server response headers exceeded") || strings.Contains(text, "response header list larger than")
}

// DialContext connects to "host:port" over TCP. It is for protocols other than
// HTTP as well. What the guard refuses is a *RefusedError.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, fmt.Errorf("connections over %s are not made", network)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if c.instead != nil {
		return c.instead.DialContext(ctx, network, address)
	}
	if refused := checkSpelling(host); refused != nil {
		return nil, refused
	}
	conn, err := c.dialer.DialContext(ctx, network, address)
	var refused *RefusedError
	if errors.As(err, &refused) {
		named := *refused
		named.Host = host
		return nil, &named
	}
	return conn, err
}

// control looks at the address of a socket that is about to connect.
func (c *Client) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return &RefusedError{Host: address, Reason: "not an address that can be checked"}
	}
	if refused := c.guard.check(target.Addr()); refused != nil {
		return refused
	}
	return nil
}

// Network stands in for the internet: with Options.Instead nothing is looked up
// and nothing is dialled, the Network answers instead. It is asked for each hop
// of a redirect. CallerOf(ctx) tells which node asks. It must be safe for
// concurrent use.
type Network interface {
	// RoundTrip answers one HTTP request, as http.RoundTripper does. A failure
	// may be a *blueprint.Failure, which is told as it is.
	RoundTrip(request *http.Request) (*http.Response, error)
	// DialContext opens a connection to "host:port", for mail.
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// TLSConfig returns what is needed to speak TLS to a host over a connection of
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

// Caller is the node on whose behalf something goes out.
type Caller struct {
	ExecutionID string
	BlueprintID string
	Address     string // of the node
	NodeType    string
	Attempt     int // from 1
	// Secrets gives what masks the secrets of the run, as far as they are known by
	// now; nil = none are. It is safe for concurrent use.
	Secrets interface{ Load() *secret.Masker }
}

type callerKey struct{}

// WithCaller returns a context under which whatever goes out is known to come from
// a node.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf returns the node that a context belongs to; empty when it is none's.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}
