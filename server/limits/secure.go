package limits

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

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
