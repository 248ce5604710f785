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
	// standardTimeout and longestTimeout are the default and the maximum of timeoutMs.
	standardTimeout = time.Minute
	longestTimeout  = time.Hour
	// closeTimeout bounds the request that ends a session.
	closeTimeout = 2 * time.Second
	// maxAnswer bounds a response, after decompression.
	maxAnswer = 10 << 20
	// maxRequests bounds the requests of an exchange: a stream that breaks off is
	// resumed.
	maxRequests = 100
)

// Client opens sessions with MCP servers. It has no state of its own and is safe for
// concurrent use.
type Client struct {
	http    *outbound.Client
	version string
	// Shortened by tests.
	maxAnswer    int64
	closeTimeout time.Duration
}

// New returns a client that sends through http and identifies itself by version.
func New(http *outbound.Client, version string) *Client {
	return &Client{http: http, version: version, maxAnswer: maxAnswer, closeTimeout: closeTimeout}
}

// Check opens and closes a session and returns the server's name.
func (c *Client) Check(ctx context.Context, connection *blueprint.OpenConnection) (server string, err error) {
	session, err := c.Open(ctx, connection)
	if err != nil {
		return "", err
	}
	defer session.Close()
	return session.Server(), nil
}

// Open opens a session over a connection of type mcp-server, which must be closed.
// Errors are *blueprint.Failure with NotSent, *blueprint.Pause, or ctx's when it was
// cancelled.
func (c *Client) Open(ctx context.Context, connection *blueprint.OpenConnection) (*Session, error) {
	address, timeout, err := settings(connection)
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, connection: connection, host: address.Host, address: normalAddress(address), timeout: timeout}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	transport := &recordingTransport{s, &sdk.StreamableClientTransport{
		Endpoint: address.String(), HTTPClient: s.httpClient(), MaxRetries: 2, DisableStandaloneSSE: true, MaxEventSize: int(c.maxAnswer),
	}}

	client := sdk.NewClient(&sdk.Implementation{Name: "blueprintd", Version: c.version}, &sdk.ClientOptions{
		Capabilities: &sdk.ClientCapabilities{}, MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	})
	err = s.exchange(ctx, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, s.end)() // no time is left to close it
		s.sdk, err = client.Connect(ctx, transport, nil)
		return err
	})
	if err != nil {
		s.end()
		return nil, markNotSent(err)
	}
	return s, nil
}

// settings reads the config of a connection. Unknown keys are refused: one may be meant
// to change what the connection does.
func settings(connection *blueprint.OpenConnection) (address *url.URL, timeout time.Duration, err error) {
	if connection.Type != blueprint.ConnectionMCPServer {
		return nil, 0, permanentFailure("connection_unavailable", "the %s is of type %s; this takes one of type %s", connection.Text(), connection.Type, blueprint.ConnectionMCPServer)
	}
	timeout = standardTimeout
	for key, value := range connection.Config {
		switch key {
		case "auth":
		case "url":
			text, _ := value.(string)
			address, err = url.Parse(text)
			if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.Host == "" || address.User != nil {
				return nil, 0, permanentFailure("bad_config", "the url of the %s must begin with http:// or https:// and name a host, without a name and password", connection.Text())
			}
		case "timeoutMs":
			if value == nil {
				continue
			}
			milliseconds, ok := wholeNumber(value)
			if !ok || milliseconds < 1 {
				return nil, 0, permanentFailure("bad_config", "timeoutMs of the %s must be a whole number of at least 1", connection.Text())
			}
			timeout = time.Duration(min(milliseconds, int64(longestTimeout/time.Millisecond))) * time.Millisecond
		default:
			return nil, 0, permanentFailure("bad_config", "the %s has the unknown key %q; an MCP server has url, auth and timeoutMs", connection.Text(), displayText(key, 50))
		}
	}
	if address == nil {
		return nil, 0, permanentFailure("bad_config", "the %s has no url", connection.Text())
	}
	address.Fragment, address.RawFragment = "", ""
	address.Scheme = strings.ToLower(address.Scheme)
	return address, timeout, nil
}
