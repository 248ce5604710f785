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

// Session is a conversation with one MCP server. Its methods may be called at
// the same time, but not after Close.
type Session struct {
	client     *Client
	connection *blueprint.OpenConnection
	host       string
	address    string // as Address returns it
	timeout    time.Duration
	ctx        context.Context // of everything that the session sends; ends with it
	end        context.CancelFunc
	sdk        *sdk.ClientSession
	version    atomic.Value // of the protocol, a string, once it is agreed upon
}

// Server returns the name by which the server calls itself, or its host when it
// does not.
func (s *Session) Server() string {
	name := ""
	if result := s.sdk.InitializeResult(); result != nil && result.ServerInfo != nil {
		name = ShownName(result.ServerInfo.Name)
	}
	return cmp.Or(name, s.host)
}

// Address returns the address of the server without a fragment, in a form that
// is the same for every spelling of it: two connections to one address reach one
// server.
func (s *Session) Address() string { return s.address }

// normalAddress is an address as Session.Address returns it.
func normalAddress(u *url.URL) string {
	n := *u
	n.Host = strings.ToLower(n.Host)
	if port := n.Port(); n.Scheme == "https" && port == "443" || n.Scheme == "http" && port == "80" {
		n.Host = strings.TrimSuffix(n.Host, ":"+port)
	}
	if n.Path == "" {
		n.Path = "/"
	}
	return n.String()
}

// maxName is how many bytes the name of a server or a tool is shown with.
const maxName = 200

// Close tells the server that the session is over, waiting 2 s for it at most,
// and ends all that the session started. It may be called twice.
func (s *Session) Close() error {
	defer s.end()
	patience := time.AfterFunc(s.client.goodbye, s.end)
	defer patience.Stop()
	// What goes wrong now changes nothing: the server forgets us sooner or later.
	_ = s.sdk.Close()
	return nil
}

// exchange does something with the server within the session's time limit and
// gives what went wrong in our words. f is done when its answer came, whatever
// error the SDK made of it.
func (s *Session) exchange(ctx context.Context, f func(ctx context.Context) error) error {
	record := &record{}
	_, err := s.recorded(ctx, record, f)
	return err
}

// recorded is exchange for who wants to see the answer itself: of the last
// request in f, as it came.
func (s *Session) recorded(ctx context.Context, record *record, f func(ctx context.Context) error) (answer []byte, err error) {
	limited, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	limited, hops := outbound.RecordHops(context.WithValue(limited, recordKey{}, record))
	err = f(limited)
	if answer = record.result(); answer != nil || err == nil {
		return answer, nil
	}
	return nil, s.failure(ctx, limited, record, hops, err)
}
