// Package limits bounds the connections, requests, request bodies and unread answers of an
// HTTP server, so that clients cannot exhaust it. Beyond a limit it answers 503 with
// Retry-After before memory grows. Only large bodies wait a while for memory.
//
// All times are in real time, regardless of the clock of the service.
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

// Connections is a listener with a limit on its open connections. Additional ones are
// refused with an HTTP answer and closed, without affecting the open ones.
type Connections struct {
	net.Listener
	limit     int64
	open      atomic.Int64
	refused   atomic.Int64
	refusing  chan struct{} // semaphore of the connections being refused
	tlsConfig *tls.Config   // of refusals; nil = no TLS

	draining  atomic.Bool   // Drain was called
	closed    chan struct{} // closes with the listener
	closeOnce sync.Once
	mu        sync.Mutex
	opened    map[*connection]struct{}
	peak      int // maximum of open connections since OnShrink was called
	// OnShrink, unless nil, is called on its own goroutine when three quarters of at
	// least minPeak connections have closed, so that it can free their memory. Set it
	// before the first Accept.
	OnShrink func()
	// SingleClient means that the only client is the process that stops the server, so that Drain
	// need not wait for connections. Set it before the first Accept.
	SingleClient bool
}

const (
	minPeak     = 1000
	maxRefusing = 64 // concurrent refusals; further connections are closed without an answer
)

// NewConnections limits the open connections of listener; 0 is unlimited.
func NewConnections(listener net.Listener, limit int) *Connections {
	prepare(listener)
	return &Connections{
		Listener: listener, limit: int64(limit), refusing: make(chan struct{}, maxRefusing), closed: make(chan struct{}), opened: map[*connection]struct{}{},
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
		if err != nil && c.draining.Load() {
			conn, err = c.acceptQueued()
		}
		if err != nil {
			return nil, err
		}
		if open := c.open.Add(1); open <= c.limit || c.limit == 0 {
			return c.add(conn), nil
		}
		c.open.Add(-1)
		c.refused.Add(1)
		select {
		case c.refusing <- struct{}{}:
			go func() {
				c.refuse(conn)
				<-c.refusing
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

// writeLast writes the last answer of a connection. It also reads what the client has sent,
// because closing a socket with unread data resets the connection and destroys the answer.
func writeLast(conn net.Conn, text string) {
	if _, err := io.WriteString(conn, text); err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, conn, 64<<10)
}

type connection struct {
	net.Conn
	all   *Connections
	once  sync.Once
	begun bool // data has arrived; used by the reader alone

	mu        sync.Mutex
	idleSince time.Time // since when it is idle; zero = active
	deadline  time.Time // the requested read deadline
}

func (c *Connections) add(conn net.Conn) *connection {
	one := &connection{Conn: conn, all: c, idleSince: clock.Real{}.Now()}
	c.mu.Lock()
	c.opened[one] = struct{}{}
	c.peak = max(c.peak, len(c.opened))
	c.mu.Unlock()
	return one
}

func (c *Connections) remove(one *connection) {
	c.open.Add(-1)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.opened, one)
	if c.peak < minPeak || len(c.opened) > c.peak/4 {
		return
	}
	c.peak = len(c.opened)
	if c.OnShrink != nil {
		go c.OnShrink()
	}
}

func (c *connection) Close() error {
	c.once.Do(func() { c.all.remove(c) })
	return c.Conn.Close()
}

// CloseWrite closes only the sending side, as net/http does before it closes the connection
// of a client that is still sending.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
