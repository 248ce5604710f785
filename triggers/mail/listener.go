package mail

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"blueprintd/foundation/clock"
)

// connListener hands connections to the SMTP library: those that were admitted, and
// those that begin anew behind TLS.
type connListener struct {
	address net.Addr
	in      chan net.Conn
	closed  chan struct{}
	close   func()
}

func newConnListener(address net.Addr) *connListener {
	d := &connListener{address: address, in: make(chan net.Conn), closed: make(chan struct{})}
	d.close = sync.OnceFunc(func() { close(d.closed) })
	return d
}

// Accept returns the next connection.
func (d *connListener) Accept() (net.Conn, error) {
	select {
	case c := <-d.in:
		return c, nil
	case <-d.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (d *connListener) Close() error { d.close(); return nil }

// Addr is where the server listens.
func (d *connListener) Addr() net.Addr { return d.address }

// pass hands a connection on, unless the listener is closed.
func (d *connListener) pass(c net.Conn) bool {
	select {
	case d.in <- c:
		return true
	case <-d.closed:
		return false
	}
}

// accept lets connections in until the listener closes.
func (s *Server) accept() error {
	for {
		conn, err := s.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			// Too many open files, most likely. It must not spin.
			s.Logger.Warn("a mail connection was not accepted", "error", err)
			wait := time.NewTimer(100 * time.Millisecond)
			<-wait.C
			continue
		}
		g, reason := s.admit(conn)
		if g == nil {
			_ = conn.SetDeadline(clock.Real{}.Now().Add(time.Second))
			_, _ = fmt.Fprintf(conn, "421 4.7.0 %s\r\n", reason)
			conn.Close()
			continue
		}
		if !s.admitted.pass(g) {
			g.Close()
		}
	}
}

// admit makes the guardedConn of a new connection, or says why there is no room.
func (s *Server) admit(conn net.Conn) (*guardedConn, string) {
	g := newGuardedConn(s, conn, networkOf(conn.RemoteAddr()))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return nil, "the server is stopping; try again later"
	case len(s.conns) >= s.MaxConnections:
		return nil, "too many connections; try again later"
	case s.from[g.network] >= s.MaxPerAddress:
		return nil, "too many connections from your address; try again later"
	}
	s.conns[g] = struct{}{}
	s.from[g.network]++
	return g, ""
}

// replace puts one connection in the place of another.
func (s *Server) replace(old, by *guardedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, old)
	s.conns[by] = struct{}{}
	if s.stopping {
		by.hurry()
	}
}

// release forgets a connection.
func (s *Server) release(g *guardedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.conns[g]; !there {
		return
	}
	delete(s.conns, g)
	if s.from[g.network]--; s.from[g.network] <= 0 {
		delete(s.from, g.network)
	}
}

// patience is how long to wait for the next bytes now, where it is patience
// while there is room.
func (s *Server) patience(patience time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if 2*len(s.conns) > s.MaxConnections {
		return min(patience, crowded)
	}
	return patience
}

// networkOf returns what counts as one address: an IPv4 address, an IPv6 /64.
func networkOf(address net.Addr) netip.Prefix {
	parsed, err := netip.ParseAddrPort(address.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := parsed.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	prefix, _ := ip.Prefix(bits)
	return prefix
}

// onlyOnce are the fields of which a message has one at most. Of several, a
// signature covers the lowest, and a reader takes the first (RFC 6376, 8.15):
// whoever got hold of a signed message can put one of his own in front.
var onlyOnce = map[string]bool{
	"from": true, "sender": true, "reply-to": true, "to": true, "cc": true, "date": true, "subject": true, "message-id": true,
	"mime-version": true, "content-type": true, "content-transfer-encoding": true,
}

// repeatedField returns the name of a field that a message may have once and has
// several times, "" when there is none. It takes for a field whatever the check
// of signatures does, which is more than is read otherwise.
func repeatedField(raw []byte) string {
	seen := map[string]bool{}
	for first, rest := true, raw; len(rest) > 0; first = false {
		var line []byte
		if line, rest = cutLine(rest); len(line) == 0 {
			break
		}
		if !first && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		before, _, _ := bytes.Cut(line, []byte(":"))
		name := strings.ToLower(strings.TrimSpace(string(before)))
		if seen[name] && onlyOnce[name] {
			return name
		}
		seen[name] = true
	}
	return ""
}
