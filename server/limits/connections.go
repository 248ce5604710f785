// Package limits stands before every handler and keeps clients from using up
// the server: by too many connections or requests, by many bodies that arrive
// slowly or all at once, by answers that nobody fetches. What it refuses, it
// refuses with 503 and Retry-After before memory grows. Only bodies that have
// no room wait for it for a while, and small ones never do.
//
// Everything here follows real time, whatever the clock of the service: it is
// about sockets.
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

// Connections bounds how many connections of a listener are open. One more is
// told so in HTTP and closed, which costs less than any request and never
// keeps those that are open from being served.
type Connections struct {
	net.Listener
	limit    int64
	open     atomic.Int64
	refused  atomic.Int64
	turning  chan struct{} // a place for each that is just being told
	speaking *tls.Config   // to them, by TLS; nil = none is spoken

	leaving  atomic.Bool   // Leave was called
	shut     chan struct{} // closed when nobody is let in any more
	shutOnce sync.Once
	mu       sync.Mutex
	opened   map[*connection]struct{} // the connections
	crowd    int                      // how many there were at most since Dispersed was called
	// Dispersed, unless nil, is called on a goroutine of its own when three
	// quarters of at least a thousand connections have gone: what they held is
	// worth giving back. It is set before the first Accept.
	Dispersed func()
	// Alone says that who stops the server is the only one who calls it: at the
	// end nobody is on the way in, and Leave waits for nobody. It is set before
	// the first Accept.
	Alone bool
}

// leastCrowd is how many connections are many.
const leastCrowd = 1000

// maxTurning bounds how many connections are told at the same time why they are
// refused. Those beyond are closed without a word.
const maxTurning = 64

// NewConnections lets at most limit connections of listener be open; 0 is any
// number.
func NewConnections(listener net.Listener, limit int) *Connections {
	prepare(listener)
	return &Connections{
		Listener: listener, limit: int64(limit), turning: make(chan struct{}, maxTurning), shut: make(chan struct{}), opened: map[*connection]struct{}{},
	}
}

// Open is how many connections are open.
func (c *Connections) Open() int64 { return c.open.Load() }

// Refused is how many connections were refused so far.
func (c *Connections) Refused() int64 { return c.refused.Load() }

// Accept returns the next connection that may stay.
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
				c.turnAway(conn)
				<-c.turning
			}()
		default:
			_ = conn.Close()
		}
	}
}

// refusal is the answer in full: no request is read, so nobody else writes it.
var refusal = answer(blueprint.CodeUnavailable, "too many open connections", fmt.Sprintf("Retry-After: %d\r\n", int(retryAfter.Seconds())))

// answer returns a whole answer, the last one of its connection. Each of the
// headers ends its line.
func answer(code blueprint.Code, message, headers string) string {
	body := errorBody(code, message)
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: application/json\r\n%sConnection: close\r\nContent-Length: %d\r\n\r\n%s",
		code.HTTPStatus(), http.StatusText(code.HTTPStatus()), headers, len(body), body)
}

func errorBody(code blueprint.Code, message string) string {
	return fmt.Sprintf(`{"error":{"code":%q,"message":%q}}`, code, message)
}

// lastWord is how long telling somebody why may take.
const lastWord = time.Second

// turnAway tells a client that there is no room.
func (c *Connections) turnAway(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(clock.Real{}.Now().Add(lastWord))
	if told, err := c.introduce(conn); err == nil {
		say(told, refusal)
	}
}

// say writes the last answer of a connection. It reads what the client has sent
// meanwhile: closing a socket with something unread in it would destroy the
// answer on its way.
func say(conn net.Conn, text string) {
	if _, err := io.WriteString(conn, text); err != nil {
		return
	}
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
	_, _ = io.CopyN(io.Discard, conn, 64<<10)
}

// connection leaves room for another when it is closed.
type connection struct {
	net.Conn
	all   *Connections
	once  sync.Once
	heard bool // something has come; for who reads alone

	mu       sync.Mutex
	resting  time.Time // since when no request is under way; zero = one is
	deadline time.Time // of reading, as it was asked for
}

// keep takes in a connection.
func (c *Connections) keep(conn net.Conn) *connection {
	one := &connection{Conn: conn, all: c, resting: clock.Real{}.Now()}
	c.mu.Lock()
	c.opened[one] = struct{}{}
	c.crowd = max(c.crowd, len(c.opened))
	c.mu.Unlock()
	return one
}

// drop forgets a connection.
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

// Close closes it.
func (c *connection) Close() error {
	c.once.Do(func() { c.all.drop(c) })
	return c.Conn.Close()
}

// CloseWrite ends the sending side alone, so that the other side can still read
// what was sent. net/http does so before it closes on a client that is still
// sending.
func (c *connection) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
