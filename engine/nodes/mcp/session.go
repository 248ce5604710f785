package mcp

import (
	"cmp"
	"context"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Session is a connection with one MCP server. It is safe for concurrent use until
// Close.
type Session struct {
	client     *Client
	connection *blueprint.OpenConnection
	host       string
	address    string // see Address
	timeout    time.Duration
	ctx        context.Context // of all requests
	end        context.CancelFunc
	sdk        *sdk.ClientSession
	version    atomic.Value // negotiated protocol version, a string
}

// Server returns the server's name, or its host if it has none.
func (s *Session) Server() string {
	name := ""
	if result := s.sdk.InitializeResult(); result != nil && result.ServerInfo != nil {
		name = ShownName(result.ServerInfo.Name)
	}
	return cmp.Or(name, s.host)
}

// Address returns the normalized address of the server, without a fragment: two
// connections with one address reach one server.
func (s *Session) Address() string { return s.address }

func normalAddress(u *url.URL) string {
	n := *u
	n.Host = strings.ToLower(n.Host)
	if port := n.Port(); n.Scheme == "https" && port == "443" || n.Scheme == "http" && port == "80" {
		n.Host = strings.TrimSuffix(n.Host, ":"+port)
	}
	n.Path = cmp.Or(n.Path, "/")
	return n.String()
}

// maxName bounds displayed names of servers and tools, in bytes.
const maxName = 200

// Close ends the session and all its work. It waits for the server for at most 2 s, and
// may be called twice.
func (s *Session) Close() error {
	defer s.end()
	patience := time.AfterFunc(s.client.closeTimeout, s.end)
	defer patience.Stop()
	_ = s.sdk.Close() // the server expires the session anyway
	return nil
}

// exchange calls f within the session's time limit and converts its error. f has
// succeeded once its response arrived, whatever error the SDK returned.
func (s *Session) exchange(ctx context.Context, f func(ctx context.Context) error) error {
	_, err := s.recorded(ctx, f)
	return err
}

// recorded is exchange with the unaltered response to the last request of f.
func (s *Session) recorded(ctx context.Context, f func(ctx context.Context) error) (answer []byte, err error) {
	record := &exchangeRecord{}
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	limited, hops := outbound.RecordHops(context.WithValue(limited, recordKey{}, record))
	err = f(limited)
	if answer = record.result(); answer != nil || err == nil {
		return answer, nil
	}
	return nil, s.failure(ctx, limited, record, hops, err)
}
