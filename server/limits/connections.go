// Package limits bounds the connections, requests, request bodies and unread answers of an
// HTTP server, so that clients cannot exhaust it. Beyond a limit it answers 503 with
// Retry-After before memory grows. Only large bodies wait a while for memory.
//
// All times are in real time, regardless of the clock of the service.
package limits

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
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

	acceptUntil time.Time   // set before draining
	draining    atomic.Bool // Drain was called

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
	refusing := maxRefusing
	if limit > 0 {
		refusing = min(refusing, limit)
	}
	return &Connections{
		Listener: listener, limit: int64(limit), refusing: make(chan struct{}, refusing), closed: make(chan struct{}), opened: map[*connection]struct{}{},
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

// Secure sets the TLS configuration of refusals. Call it before the first Accept; the
// server itself uses http.Server.ServeTLS. Clients that send plain HTTP are answered that
// the port requires TLS.
func (c *Connections) Secure(config *tls.Config) {
	c.tlsConfig = config.Clone()
	c.tlsConfig.NextProtos = []string{"http/1.1"} // that of the refusal
}

// handshake begins TLS for a refusal.
func (c *Connections) handshake(conn net.Conn) (net.Conn, error) {
	if c.tlsConfig == nil {
		return conn, nil
	}
	secure := tls.Server(conn, c.tlsConfig)
	return secure, secure.Handshake()
}

// received marks the connection as active. Under TLS the data is opaque: it extends the idle
// time, and State marks the connection as active.
func (c *connection) received(data []byte) error {
	if c.all.tlsConfig == nil {
		c.markActive()
		return nil
	}
	if !c.begun {
		c.begun = true
		if first := data[0]; first >= 'A' && first <= 'Z' { // of a method; TLS begins otherwise
			c.explain()
			return io.EOF
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.idleSince.IsZero() {
		c.idleSince = clock.Real{}.Now()
		if c.all.draining.Load() {
			_ = c.wait()
		}
	}
	return nil
}

// plain is the answer to a client without TLS.
var plain = answer(blueprint.CodeBadRequest, "this port requires TLS: use https://", "")

// explain answers a client without TLS.
func (c *connection) explain() {
	_ = c.Conn.SetDeadline(clock.Real{}.Now().Add(refusalTime))
	writeLast(c.Conn, plain)
}

// State is an http.Server.ConnState that marks connections as idle or active. HTTP/2
// connections stay active: http.Server.Shutdown ends them.
func State(conn net.Conn, state http.ConnState) {
	secure, isSecure := conn.(*tls.Conn)
	if isSecure {
		conn = secure.NetConn()
	}
	c, ok := conn.(*connection)
	switch {
	case !ok:
	case state == http.StateActive, state == http.StateIdle && isSecure && secure.ConnectionState().NegotiatedProtocol == "h2":
		c.markActive()
	case state == http.StateIdle:
		c.markIdle()
	}
}

const (
	// idleGrace is how long an idle connection stays open when the server stops, from its
	// last answer or its beginning, so that an active client receives an answer with
	// Connection: close instead of a reset.
	idleGrace = 200 * time.Millisecond
	// finalRead is a read deadline for data that has arrived already.
	finalRead = time.Millisecond
	// acceptGrace is how long the listener accepts queued connections, from the last one;
	// acceptMost is how long it does so where the system cannot refuse new ones.
	acceptGrace = 100 * time.Millisecond
	acceptMost  = time.Second
)

// Drain accepts the queued connections, closes the listener, and closes each connection
// once it has been idle for a while. Requests that arrive before that are answered. Drain
// returns when no connection is idle, or when ctx ends; it leaves connections with an
// active request open.
func (c *Connections) Drain(ctx context.Context) {
	c.acceptUntil = clock.Real{}.Now().Add(acceptMost)
	c.draining.Store(true)
	if listener, ok := c.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		refuseNew(c.Listener)
		_ = listener.SetDeadline(clock.Real{}.Now()) // wakes Accept, which does the rest
	} else {
		_ = c.Listener.Close()
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for c.limitIdleAll() > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// limitIdleAll sets the deadlines of idle connections and returns how many there are, plus one
// while the listener is open.
func (c *Connections) limitIdleAll() int {
	idle := 0
	select {
	case <-c.closed:
	default:
		idle++
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for one := range c.opened {
		if one.limitIdle() {
			idle++
		}
	}
	return idle
}

// acceptQueued returns the next queued connection. If there is none it closes the listener.
func (c *Connections) acceptQueued() (net.Conn, error) {
	if listener, ok := c.Listener.(interface{ SetDeadline(time.Time) error }); ok {
		until := clock.Real{}.Now().Add(c.grace(acceptGrace))
		if until.After(c.acceptUntil) {
			until = c.acceptUntil
		}
		_ = listener.SetDeadline(until)
		if conn, err := c.Listener.Accept(); err == nil {
			return conn, nil
		}
	}
	return nil, errors.Join(net.ErrClosed, c.Close())
}

// grace returns patience, or less if c.SingleClient.
func (c *Connections) grace(patience time.Duration) time.Duration {
	if c.SingleClient {
		return min(patience, finalRead)
	}
	return patience
}

// Close closes the listener. It may be called several times, also concurrently.
func (c *Connections) Close() (err error) {
	c.closeOnce.Do(func() {
		err = c.Listener.Close()
		close(c.closed)
	})
	return err
}

func (c *connection) markIdle() {
	c.mu.Lock()
	c.idleSince = clock.Real{}.Now()
	c.mu.Unlock()
}

// limitIdle limits how long the connection may stay idle, and reports whether it is.
func (c *connection) limitIdle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.idleSince.IsZero() {
		return false
	}
	_ = c.wait()
	return true
}

// wait sets the read deadline: the requested one, or an earlier one if the server stops and
// the connection is idle. The caller holds c.mu.
func (c *connection) wait() error {
	until := c.deadline
	if end := c.idleSince.Add(c.all.grace(idleGrace)); !c.idleSince.IsZero() && c.all.draining.Load() && (until.IsZero() || end.Before(until)) {
		until = end
	}
	return c.Conn.SetReadDeadline(until)
}

func (c *connection) SetReadDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = at
	return c.wait()
}

// Read implements net.Conn. When the server stops, an idle connection ends with io.EOF.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.mustEnd() {
		// Data may have arrived before the deadline.
		_ = c.Conn.SetReadDeadline(clock.Real{}.Now().Add(finalRead))
		if n, err = c.Conn.Read(p); n == 0 {
			return 0, io.EOF
		}
	}
	if n > 0 {
		if end := c.received(p[:n]); end != nil {
			return 0, end
		}
	}
	return n, err
}

// mustEnd reports whether the connection is idle and the server stops.
func (c *connection) mustEnd() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.idleSince.IsZero() && c.all.draining.Load()
}

func (c *connection) markActive() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.idleSince.IsZero() {
		c.idleSince = time.Time{}
		if c.all.draining.Load() {
			_ = c.wait()
		}
	}
}
