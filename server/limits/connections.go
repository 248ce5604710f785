// Package limits bounds the connections, requests, request bodies and unread answers of an
// HTTP server, so that clients cannot exhaust it. Beyond a limit it answers 503 with
// Retry-After before memory grows. Only large bodies wait a while for room.
//
// All times are real, whatever the clock of the service.
package limits

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// Connections is a listener with a limit on its open connections. Further ones are refused
// with an HTTP answer and closed, without affecting the open ones.
type Connections struct {
	net.Listener
	limit    int64
	open     atomic.Int64
	refused  atomic.Int64
	turning  chan struct{} // semaphore of the connections being refused
	speaking *tls.Config   // of refusals; nil = no TLS

	leaving  atomic.Bool   // Leave was called
	shut     chan struct{} // closes with the listener
	shutOnce sync.Once
	mu       sync.Mutex
	opened   map[*connection]struct{}
	crowd    int // the maximum of open connections since Dispersed was called
	// Dispersed, unless nil, is called on a goroutine of its own when three quarters of at
	// least leastCrowd connections have closed, so that it can free their memory. Set it
	// before the first Accept.
	Dispersed func()
	// Alone says that the only client is the process that stops the server, so that Leave
	// need not wait for connections. Set it before the first Accept.
	Alone bool
}

const (
	leastCrowd = 1000
	maxTurning = 64 // concurrent refusals; further connections are closed without an answer
)

// NewConnections limits the open connections of listener; 0 is unlimited.
func NewConnections(listener net.Listener, limit int) *Connections {
	prepare(listener)
	return &Connections{
		Listener: listener, limit: int64(limit), turning: make(chan struct{}, maxTurning), shut: make(chan struct{}), opened: map[*connection]struct{}{},
	}
}

// Open returns the number of open connections.
func (c *Connections) Open() int64 { return c.open.Load() }

// Refused returns the number of connections refused so far.
func (c *Connections) Refused() int64 { return c.refused.Load() }

// Accept returns the next connection within the limit.
func (c *Connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil && c.leaving.Load() {
			conn, err = c.lastAccepts()
		}
		if err != nil {
			return nil, err
		}
		if open := c.open.Add(1); open <= c.limit || c.limit == 0 {
			return c.keep(conn), nil
		}
		c.open.Add(-1)
		c.refused.Add(1)
		select {
		case c.turning <- struct{}{}:
			go func() {
				c.refuse(conn)
				<-c.turning
			}()
		default:
			_ = conn.Close()
		}
	}
}

// refusal is the whole answer, since no request is read.
var refusal = answer(blueprint.CodeUnavailable, "too many open connections", fmt.Sprintf("Retry-After: %d\r\n", int(retryAfter.Seconds())))

// answer returns a whole HTTP answer that closes its connection. headers are lines.
func answer(code blueprint.Code, message, headers string) string {
	body := errorBody(code, message)
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		code.HTTPStatus(), http.StatusText(code.HTTPStatus()), headers, len(body), body)
}

func errorBody(code blueprint.Code, message string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":%q}}`, code, message)
}

// refusalTime bounds the writing of a refusal.
const refusalTime = time.Second

// refuse answers and closes a connection beyond the limit.
func (c *Connections) refuse(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(clock.Real{}.Now().Add(refusalTime))
	if secure, err := c.handshake(conn); err == nil {
		writeLast(secure, refusal)
	}
}

// writeLast writes the last answer of a connection. It reads what the client has sent:
// closing a socket with unread data resets it and destroys the answer.
func writeLast(conn net.Conn, text string) {
	if _, err := io.WriteString(conn, text); err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, conn, 64<<10)
}

// connection is an open connection.
type connection struct {
	net.Conn
	all   *Connections
	once  sync.Once
	begun bool // data has arrived; used by the reader alone

	mu       sync.Mutex
	resting  time.Time // since when it is idle; zero = active
	deadline time.Time // the requested read deadline
}

func (c *Connections) keep(conn net.Conn) *connection {
	one := &connection{Conn: conn, all: c, resting: clock.Real{}.Now()}
	c.mu.Lock()
	c.opened[one] = struct{}{}
	c.crowd = max(c.crowd, len(c.opened))
	c.mu.Unlock()
	return one
}

func (c *Connections) drop(one *connection) {
	c.open.Add(-1)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.opened, one)
	if c.crowd < leastCrowd || len(c.opened) > c.crowd/4 {
		return
	}
	c.crowd = len(c.opened)
	if c.Dispersed != nil {
		go c.Dispersed()
	}
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.once.Do(func() { c.all.drop(c) })
	return c.Conn.Close()
}

// CloseWrite closes the sending side alone, as net/http does before it closes the
// connection of a client that is still sending.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
