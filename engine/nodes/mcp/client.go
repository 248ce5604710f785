package mcp

import (
	"context"
	"net/url"
	"strings"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// standardTimeout bounds an exchange when the connection sets nothing,
	// longestTimeout whatever it sets.
	standardTimeout = time.Minute
	longestTimeout  = time.Hour
	// goodbye bounds the request that ends a session.
	goodbye = 2 * time.Second
	// maxAnswer is how many bytes one answer may have, after decompression.
	maxAnswer = 10 << 20
	// maxRequests is how many requests one exchange may make: a stream that
	// breaks off is taken up again.
	maxRequests = 100
)

// Client opens sessions with MCP servers. It keeps nothing between them and is
// safe for concurrent use.
type Client struct {
	http    *outbound.Client
	version string
	// The bounds, which tests narrow.
	maxAnswer int64
	goodbye   time.Duration
}

// New makes a client that sends through http and tells servers its version.
func New(http *outbound.Client, version string) *Client {
	return &Client{http: http, version: version, maxAnswer: maxAnswer, goodbye: goodbye}
}

// Check opens a session and closes it again. It returns the server's own name.
func (c *Client) Check(ctx context.Context, connection *blueprint.OpenConnection) (server string, err error) {
	session, err := c.Open(ctx, connection)
	if err != nil {
		return "", err
	}
	defer session.Close()
	return session.Server(), nil
}

// Open begins a session over a connection of the type mcp-server. The session
// must be closed. Errors are *blueprint.Failure
// with NotSent, *blueprint.Pause, or ctx's when it was cancelled.
func (c *Client) Open(ctx context.Context, connection *blueprint.OpenConnection) (*Session, error) {
	address, timeout, err := settings(connection)
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, connection: connection, host: address.Host, address: normalAddress(address), timeout: timeout}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	transport := &recording{s, &sdk.StreamableClientTransport{
		Endpoint: address.String(), HTTPClient: s.httpClient(), MaxRetries: 2, DisableStandaloneSSE: true, MaxEventSize: int(c.maxAnswer),
	}}
	// No capability is announced and no request of a server is answered: who
	// calls a tool here is nobody that could be asked.
	client := sdk.NewClient(&sdk.Implementation{Name: "blueprintd", Version: c.version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	err = s.exchange(ctx, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, s.end)() // out of time, there is nothing left to say goodbye to
		s.sdk, err = client.Connect(ctx, transport, nil)
		return err
	})
	if err != nil {
		s.end()
		return nil, nothingCalled(err)
	}
	return s, nil
}

// settings reads the config of a connection. A key that is not known is
// refused: it may have been meant to change what the connection does.
func settings(connection *blueprint.OpenConnection) (address *url.URL, timeout time.Duration, err error) {
	if connection.Type != blueprint.ConnectionMCPServer {
		return nil, 0, fail("connection_unavailable", "the %s is of type %s; this takes one of type %s", connection.Text(), connection.Type, blueprint.ConnectionMCPServer)
	}
	timeout = standardTimeout
	for key, value := range connection.Config {
		switch key {
		case "auth":
		case "url":
			text, _ := value.(string)
			address, err = url.Parse(text)
			if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.User != nil {
				return nil, 0, fail("bad_config", "the url of the %s must begin with http:// or https:// and name a host, without a name and password", connection.Text())
			}
		case "timeoutMs":
			if value == nil {
				continue
			}
			milliseconds, ok := wholeNumber(value)
			if !ok || milliseconds < 1 {
				return nil, 0, fail("bad_config", "timeoutMs of the %s must be a whole number of at least 1", connection.Text())
			}
			timeout = time.Duration(min(milliseconds, int64(longestTimeout/time.Millisecond))) * time.Millisecond
		default:
			return nil, 0, fail("bad_config", "the %s has the key %q, which an MCP server's has not; there are url, auth and timeoutMs", connection.Text(), shown(key, 50))
		}
	}
	if address == nil {
		return nil, 0, fail("bad_config", "the %s has no url", connection.Text())
	}
	address.Fragment, address.RawFragment = "", ""
	address.Scheme = strings.ToLower(address.Scheme)
	return address, timeout, nil
}
