package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
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
		return "its issuer is not known" + missingRoots(err)
	default:
		return "it is not valid"
	}
}

// missingRoots explains an unknown issuer on a machine that knows none; "" on any other. For
// a recorded error, it is about the machine of the recording.
func missingRoots(err error) string {
	if recorded, ok := errors.AsType[*recordedError](err); ok {
		return recorded.fault.Reason
	}
	if pool, err := x509.SystemCertPool(); err == nil && !pool.Equal(x509.NewCertPool()) {
		return ""
	}
	return "; this machine has no root certificates: install ca-certificates, or set SSL_CERT_FILE"
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

// MaxRedirects is the maximum number of redirects of one request.
const MaxRedirects = 5

// ErrRedirects is returned after more than MaxRedirects redirects.
var ErrRedirects = errors.New("too many redirects")

// roundTripper sends one request: the first, or that of a redirect.
type roundTripper struct {
	base http.RoundTripper
	real bool // base uses the real network
}

// RoundTrip checks the URL, sends the request and records it without credentials.
func (r *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	hop := recordOf(request.Context()).begin(request.URL)
	if refused := checkURL(request.URL, r.real); refused != nil {
		closeBody(request)
		return record(request, func() bool { return false }, func(*http.Request) (*http.Response, error) { return nil, refused })
	}
	sent, err := authorized(request)
	if err != nil {
		closeBody(request)
		return nil, err
	}
	seen := witness(request)
	var connected atomic.Bool
	ctx := httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			connected.Store(true)
			hop.sent()
			seen.connected()
		},
	})
	response, err := record(request.WithContext(ctx), connected.Load, func(copied *http.Request) (*http.Response, error) {
		sent := sent.WithContext(context.WithValue(ctx, bareKey{}, request))
		sent.Body = copied.Body
		return r.base.RoundTrip(sent)
	})
	if err != nil {
		return nil, err
	}
	hop.answered(response.StatusCode)
	seen.answered(response)
	response.Request = request // not the copy, which holds credentials
	return response, nil
}

type bareKey struct{}

// WithoutCredentials returns the request of a Network as it was before credentials
// were added. Its body must not be read.
func WithoutCredentials(sent *http.Request) *http.Request {
	if request, ok := sent.Context().Value(bareKey{}).(*http.Request); ok {
		return request
	}
	return sent
}

func closeBody(request *http.Request) {
	if request.Body != nil {
		request.Body.Close()
	}
}

// checkURL refuses URLs without a look-up. Ports matter only on the real network.
func checkURL(u *url.URL, real bool) *RefusedError {
	host := u.Hostname()
	if u.Scheme != "http" && u.Scheme != "https" {
		return &RefusedError{Host: host, Reason: fmt.Sprintf("behind %q, and only http and https are followed", u.Scheme)}
	}
	if host == "" {
		return &RefusedError{Host: "an address without a host", Reason: "not one that can be reached"}
	}
	if port := u.Port(); port != "" {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return &RefusedError{Host: host, Reason: "asked for at a port that does not exist"}
		}
		if real && closedPorts[uint16(number)] {
			return &RefusedError{Host: host, Reason: fmt.Sprintf("asked for at port %d, which belongs to another service than HTTP", number)}
		}
	}
	return nil
}

// closedPorts are those of services that may interpret the text of an HTTP request
// as commands: remote shells, mail, chat, file sharing, caches and databases.
var closedPorts = portSet(
	1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113, 115,
	117, 119, 123, 135, 137, 138, 139, 143, 161, 162, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554,
	556, 563, 587, 601, 636, 873, 989, 990, 993, 995, 1433, 1521, 1719, 1720, 1723, 2049, 3306, 3389, 3659, 4045, 5060, 5061, 5432,
	6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080, 11211, 27017,
)

func portSet(ports ...uint16) map[uint16]bool {
	set := make(map[uint16]bool, len(ports))
	for _, port := range ports {
		set[port] = true
	}
	return set
}

// checkRedirect implements http.Client.CheckRedirect. The round tripper and the
// dialer check the address.
func checkRedirect(request *http.Request, via []*http.Request) error {
	if len(via) > MaxRedirects {
		return ErrRedirects
	}
	request.URL.User = nil
	request.Header.Del("Referer")
	for _, earlier := range append(via[1:len(via):len(via)], request) {
		if !SameHost(via[0].URL, earlier.URL) {
			dropPrivate(request.Header)
			break
		}
	}
	return nil
}

// SameHost reports whether headers for one URL may be sent to the other: the same
// scheme, host and port, or https instead of http.
func SameHost(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	if a.Scheme == "http" && b.Scheme == "https" && portOf(a) == "80" && portOf(b) == "443" {
		return true
	}
	return a.Scheme == b.Scheme && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}

// public are the headers that another host may see. Any other may be a credential.
var public = map[string]bool{
	"Accept": true, "Accept-Language": true, "User-Agent": true,
	"Content-Type": true, "Content-Language": true, "Content-Encoding": true,
}

func dropPrivate(header http.Header) {
	for name := range header {
		if !public[textproto.CanonicalMIMEHeaderKey(name)] {
			delete(header, name)
		}
	}
}

// ErrTooLarge is returned for a body that exceeds the limit.
var ErrTooLarge = errors.New("the answer is too large")

// ReadAll reads a body of at most limit bytes and returns ErrTooLarge for a larger one. The
// limit applies after decompression, and bounds it.
func ReadAll(body io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(body, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, ErrTooLarge
	}
	return data, nil
}
