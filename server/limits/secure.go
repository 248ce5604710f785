package limits

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// Secure says that TLS is spoken on the connections, which whoever accepts them
// sees to with a configuration like this one (http.Server.ServeTLS). It is
// called before the first Accept.
//
// Who is refused is told so by TLS as well, for which there is a second and no
// more; who speaks plain HTTP is told what is spoken here.
func (c *Connections) Secure(config *tls.Config) {
	c.speaking = config.Clone()
	c.speaking.NextProtos = []string{"http/1.1"} // the refusal is written in no other
}

// introduce begins TLS with somebody who is then turned away.
func (c *Connections) introduce(conn net.Conn) (net.Conn, error) {
	if c.speaking == nil {
		return conn, nil
	}
	secure := tls.Server(conn, c.speaking)
	return secure, secure.Handshake()
}

// hear takes note of what has come. Under TLS nobody knows here what it is: a
// connection is at work once its request is there (State), and until then each
// piece gives it new time.
func (c *connection) hear(data []byte) error {
	if c.all.speaking == nil {
		c.work()
		return nil
	}
	if !c.heard {
		c.heard = true
		if first := data[0]; first >= 'A' && first <= 'Z' { // of a method; TLS begins otherwise
			c.explain()
			return io.EOF
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.resting.IsZero() {
		c.resting = clock.Real{}.Now()
		if c.all.leaving.Load() {
			_ = c.wait()
		}
	}
	return nil
}

// plain is the answer to who speaks without TLS.
var plain = answer(blueprint.CodeBadRequest, "this port speaks TLS: begin the address with https://", "")

// explain tells a client that it must speak TLS.
func (c *connection) explain() {
	_ = c.Conn.SetDeadline(clock.Real{}.Now().Add(lastWord))
	say(c.Conn, plain)
}

// State is a hook for http.Server.ConnState: it tells when a connection waits
// for its next request, and when it works at one. HTTP/2 says goodbye by
// itself, when http.Server.Shutdown asks it to, and is never cut off here.
func State(conn net.Conn, state http.ConnState) {
	secure, isSecure := conn.(*tls.Conn)
	if isSecure {
		conn = secure.NetConn()
	}
	c, ok := conn.(*connection)
	switch {
	case !ok:
	case state == http.StateActive, state == http.StateIdle && isSecure && secure.ConnectionState().NegotiatedProtocol == "h2":
		c.work()
	case state == http.StateIdle:
		c.rest()
	}
}
