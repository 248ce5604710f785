package connections

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/ids"
	"blueprintd/foundation/outbound"
)

// Store stores connections, tokens and sign-ins. CodeNotFound means that the object does not
// exist or that the user may not use it.
type Store interface {
	// ConnectionForUse returns a connection with its secrets: CodeNotFound when the
	// principal may not use it, *blueprint.MissingGrant when a version's author may not.
	ConnectionForUse(ctx context.Context, authority blueprint.Authority, id string) (*blueprint.Connection, error)
	// Authorize is like ConnectionForUse for other resources.
	Authorize(ctx context.Context, authority blueprint.Authority, resource blueprint.Resource) error
	// GrantVersions grants versions on behalf of a user who has signed in for them.
	GrantVersions(ctx context.Context, userID string, versions []blueprint.VersionRef) error
	// Token returns the stored token, nil for none.
	Token(ctx context.Context, connectionID, userID string) ([]byte, error)
	// SaveToken replaces the token that was read before (nil for none). CodeConflict means
	// that it has changed since. If ctx has an actor, the sign-in is noted in the audit log.
	SaveToken(ctx context.Context, connectionID, userID string, token, replaced []byte) error
	DeleteToken(ctx context.Context, connectionID, userID string) error
	// Claim waits until no other process on the database holds a claim, and holds it until
	// release is called. Where there is one process it does nothing.
	Claim(ctx context.Context, name string) (release func(), err error)
	// BeginSignIn stores the state of a sign-in; CodeTooManyRequests beyond a limit.
	BeginSignIn(ctx context.Context, signIn blueprint.SignIn) error
	// OpenTicket returns the open ticket of the connection, user, run and node, or stores
	// the given one. If there are too many it is one without a run.
	OpenTicket(ctx context.Context, ticket blueprint.SignIn) (blueprint.SignIn, error)
	// FindSignIn returns a sign-in or a ticket by the hash of its state.
	FindSignIn(ctx context.Context, stateHash []byte) (blueprint.SignIn, error)
	// TakeSignIn returns a sign-in by the hash of its state and deletes it.
	TakeSignIn(ctx context.Context, stateHash []byte) (blueprint.SignIn, error)
	// WaitingSignIns returns a user's unexpired sign-ins of a connection, without secrets.
	WaitingSignIns(ctx context.Context, connectionID, userID string) ([]blueprint.SignIn, error)
	// User returns the user with the id.
	User(ctx context.Context, userID string) (blueprint.User, error)
}

// Options configures a Service. Key, Probe, RewriteURL and Logger are optional.
type Options struct {
	Store Store
	HTTP  *outbound.Client
	Clock clock.Clock
	IDs   *ids.Source
	// Key signs the cookies and links of sign-ins: a page of one process is accepted by all
	// with the same key, also after a restart. Nil = a random one.
	Key []byte
	// APIHost returns the public root URL of this server, without a trailing slash.
	APIHost func() string
	// Resume resumes a node that waits for a sign-in, and does nothing otherwise.
	Resume func(ctx context.Context, executionID, address string) error
	// Probe starts a session with an MCP server and returns the name that it reports; nil
	// disables tests of MCP servers.
	Probe func(ctx context.Context, open *blueprint.OpenConnection) (server string, err error)
	// RewriteURL replaces the authorization URL of a service; nil keeps it.
	RewriteURL func(page string) string
	// Logger may be nil.
	Logger *slog.Logger
}

// Service opens connections. It is safe for concurrent use.
type Service struct {
	Options
	flights singleflight.Group // requests in progress

	mu     sync.Mutex
	styles map[string]style // by token URL and client
	tokens map[string]token // of the client credentials flow, by connection and config
	names  map[string]channelName
}

// maxCached limits the size of each cache of a Service.
const maxCached = 1000

// New returns a Service.
func New(o Options) *Service {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Key == nil {
		o.Key = o.IDs.Bytes(secretSize)
	}
	return &Service{Options: o, styles: map[string]style{}, tokens: map[string]token{}, names: map[string]channelName{}}
}

// cachePut caches a value in one of the maps. A full map is cleared.
func cachePut[V any](s *Service, cache map[string]V, key string, value V) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(cache) >= maxCached {
		clear(cache)
	}
	cache[key] = value
}

func cacheGet[V any](s *Service, cache map[string]V, key string) (V, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, ok := cache[key]
	return value, ok
}

func hashOf(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// textAt returns the string at a key, "" for none.
func textAt(config map[string]any, key string) string {
	text, _ := config[key].(string)
	return text
}

// address parses an http or https URL of a config; nil for anything else.
func address(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil
	}
	return u
}

func hostPort(u *url.URL) string {
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return host + ":" + port
}

// isLoopback reports whether a host is this machine. Names below localhost are not: a
// resolver may return any address for them.
func isLoopback(host string) bool {
	host = strings.ToLower(host)
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return host == "localhost"
}

// isSafe reports whether secrets may be sent to a URL: over TLS, or to this machine.
func isSafe(u *url.URL) bool { return u.Scheme == "https" || isLoopback(u.Hostname()) }

// The codes of the failures that this package reports.
const (
	codeUnavailable = "connection_unavailable"
	codeHost        = "host_not_allowed"
	codeToken       = "token_refused"
	codeConnect     = "connect_failed"
	codeTimeout     = "timeout"
	codeRefused     = "address_refused"
)

// unusable returns the failure for a connection that cannot be used with its config.
func unusable(format string, args ...any) *blueprint.Failure {
	return &blueprint.Failure{Code: codeUnavailable, Message: fmt.Sprintf(format, args...), Permanent: true, NotSent: true}
}

// unreachable returns the failure for a server that did not answer.
func unreachable(err error, host string) *blueprint.Failure {
	var (
		refused *outbound.RefusedError
		timeout net.Error
		name    *net.DNSError
	)
	f := &blueprint.Failure{NotSent: true}
	switch {
	case errors.As(err, &refused):
		f.Code, f.Message = codeRefused, refused.Error()
	case errors.As(err, &name) && name.IsNotFound:
		f.Code, f.Message = codeConnect, fmt.Sprintf("no host named %s is known", host)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		f.Code, f.Message = codeTimeout, fmt.Sprintf("%s did not answer in time", host)
	default:
		f.Code, f.Message = codeConnect, fmt.Sprintf("cannot reach %s", host)
	}
	return f
}
