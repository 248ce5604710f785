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

	"blueprintd/blueprint"
	"blueprintd/foundation/secret"
)

// Options configures a Client. The zero value reaches only the public internet.
type Options struct {
	// Allow lists ranges that are allowed in addition to the public internet.
	Allow []netip.Prefix
	// DialTimeout bounds the look-up of a name and connecting; default 10 s.
	DialTimeout time.Duration
	// TLSTimeout bounds the handshake; default 10 s.
	TLSTimeout time.Duration
	// HeaderTimeout bounds the wait for the headers of a response; default 10 min. The
	// request's context bounds the whole exchange.
	HeaderTimeout time.Duration
	// Resolver looks names up; nil means the system's.
	Resolver *net.Resolver
	// RootCAs are the trusted certificate authorities; nil means the system's.
	RootCAs *x509.CertPool
	// Network replaces the real network. No connection is made then, so addresses, ports
	// and spellings are not checked. Nil means the real network.
	Network Network
}

// MaxHeaderBytes is the maximum size of the headers of a response.
const MaxHeaderBytes = 256 << 10

// ErrHeaders is returned if the headers of a response are larger than MaxHeaderBytes.
var ErrHeaders = errors.New("the headers of the answer are too large")

// Client makes guarded connections and HTTP requests. It is safe for concurrent use.
type Client struct {
	guard     *guard
	fake      Network // nil = the real network
	dialer    *net.Dialer
	transport *http.Transport
	reusing   *reusing
	http      *http.Client
}

// New returns a client. It opens no connection and starts no goroutine before a request.
func New(options Options) *Client {
	c := &Client{guard: newGuard(options.Allow), fake: options.Network}
	c.dialer = &net.Dialer{
		Timeout:        orDefault(options.DialTimeout, 10*time.Second),
		KeepAlive:      30 * time.Second,
		Resolver:       options.Resolver,
		ControlContext: c.control,
	}
	c.transport = &http.Transport{
		Proxy:                  nil, // a proxy would connect unguarded
		DialContext:            c.DialContext,
		TLSClientConfig:        &tls.Config{RootCAs: options.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    orDefault(options.TLSTimeout, 10*time.Second),
		ResponseHeaderTimeout:  orDefault(options.HeaderTimeout, 10*time.Minute),
		ExpectContinueTimeout:  time.Second,
		MaxResponseHeaderBytes: MaxHeaderBytes,
		ForceAttemptHTTP2:      true,
		// The transport silently repeats a request if the server closes a reused
		// connection, but the request of a node with effect "once" must not be repeated.
		DisableKeepAlives: true,
	}
	c.reusing = newReusing(c.transport)
	var base http.RoundTripper = c.reusing
	if options.Network != nil {
		base = options.Network
	}
	c.http = &http.Client{Transport: &roundTripper{base, options.Network == nil}, CheckRedirect: checkRedirect}
	return c
}

// Close closes the connections that wait for another request. The client can still be used.
func (c *Client) Close() error {
	c.reusing.again.CloseIdleConnections()
	return nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// Do sends a request, as http.Client.Do does. Errors are *RefusedError, ErrRedirects,
// ErrHeaders, or those of net, crypto/tls and context; they never contain the address of
// the request, which may contain a secret.
func (c *Client) Do(request *http.Request) (*http.Response, error) {
	response, err := c.http.Do(request)
	if err == nil {
		return response, nil
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
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

// tooLong reports whether headers exceeded MaxHeaderBytes, which has no error value.
func tooLong(err error) bool {
	text := err.Error()
	return strings.Contains(text, "server response headers exceeded") || strings.Contains(text, "response header list larger than")
}

// DialContext connects to "host:port" over TCP, for any protocol. The error for an
// address that is not allowed is *RefusedError.
func (c *Client) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return nil, fmt.Errorf("network %s is not supported", network)
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if c.fake != nil {
		return c.fake.DialContext(ctx, network, address)
	}
	if refused := checkSpelling(host); refused != nil {
		return nil, refused
	}
	conn, err := c.dialer.DialContext(ctx, network, address)
	if refused, ok := errors.AsType[*RefusedError](err); ok {
		named := *refused
		named.Host = host
		return nil, &named
	}
	return conn, err
}

// control checks the address of a socket before it connects.
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

// Network replaces the internet (Options.Network). It is called for each hop of a redirect;
// CallerOf(ctx) returns the node. It must be safe for concurrent use.
type Network interface {
	// RoundTrip answers one HTTP request, as http.RoundTripper does. A *blueprint.Failure
	// becomes the error of the node.
	RoundTrip(request *http.Request) (*http.Response, error)
	// DialContext opens a connection to "host:port", for mail.
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// TLSConfig returns a new configuration for TLS with a host over a connection of
// DialContext, with the same authorities as for HTTP.
func (c *Client) TLSConfig(host string) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: c.transport.TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
}

// CertificateProblem explains why a certificate is not trusted.
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

// Caller is the node that makes a request.
type Caller struct {
	ExecutionID string
	BlueprintID string
	Address     string // of the node
	NodeType    string
	Effect      blueprint.Effect // of the node; "" = unknown
	Attempt     int              // from 1
	// Secrets loads the Masker of the secrets of the run that are known so far; nil =
	// none. It is safe for concurrent use.
	Secrets interface{ Load() *secret.Masker }
}

type callerKey struct{}

// WithCaller returns a context whose requests are made by caller.
func WithCaller(ctx context.Context, caller Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, caller)
}

// CallerOf returns the caller of a context, the zero Caller without one.
func CallerOf(ctx context.Context) Caller {
	caller, _ := ctx.Value(callerKey{}).(Caller)
	return caller
}

type authorizerKey struct{}

// Authorizer adds credentials to a request that is about to be sent. It returns an error if
// they may not be sent to the host.
type Authorizer func(ctx context.Context, request *http.Request) error

// Authorize returns a context under which authorize adds credentials to every request of a
// Client. They are added to a copy just before it is sent, so redirects do not carry them:
// authorize is called for every hop. If it fails for the first request, nothing is sent. If
// it fails for a redirect, the request is sent without credentials, or not at all if it has
// a body, because the body is not meant for another service. Requests made by authorize
// itself, for a token, are neither authorized nor recorded.
func Authorize(ctx context.Context, authorize Authorizer) context.Context {
	if authorize == nil {
		return ctx
	}
	return context.WithValue(ctx, authorizerKey{}, authorize)
}

// authorized returns a copy of the request with the context's credentials, if any.
func authorized(request *http.Request) (*http.Request, error) {
	authorize, ok := request.Context().Value(authorizerKey{}).(Authorizer)
	if !ok {
		return request, nil
	}
	bare := context.WithValue(context.WithValue(request.Context(), authorizerKey{}, nil), hopsKey{}, nil)
	copied := request.Clone(bare)
	err := authorize(bare, copied)
	switch redirected := request.Response != nil; {
	case err == nil:
		return copied, nil
	case redirected && request.Context().Err() == nil && (request.Body == nil || request.Body == http.NoBody):
		return request, nil
	case redirected:
		return nil, sent(err)
	default:
		return nil, err
	}
}

// sent clears NotSent in a failure, because the redirected request has been sent.
func sent(err error) error {
	var failure *blueprint.Failure
	if !errors.As(err, &failure) || !failure.NotSent {
		return err
	}
	corrected := *failure
	corrected.NotSent = false
	return &corrected
}
