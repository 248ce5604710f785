package mail

import (
	"context"
	"crypto/tls"
	"io"
)

// startTLS begins the connection anew behind TLS: nothing of what was said in
// clear text counts any more (RFC 3207). It gives nil when it does not come to
// that and the connection goes on.
func (g *gate) startTLS(verb, argument string) error {
	switch {
	case verb != "STARTTLS" || argument != "":
		g.say("501 5.5.4 STARTTLS stands alone")
		return nil
	case g.tls:
		g.say("503 5.5.1 TLS is there already")
		return nil
	case g.server.TLS == nil:
		g.say("502 5.5.1 TLS is not offered")
		return nil
	case g.in.Buffered() > 0:
		// It would be taken for something that was said behind TLS.
		return g.end("554 5.5.1 nothing may follow STARTTLS before the answer")
	}
	g.say("220 2.0.0 go ahead")
	shaken, cancel := context.WithTimeout(context.Background(), g.server.Patience.Block)
	defer cancel()
	_ = g.Conn.SetDeadline(within(g.server.Patience.Block))
	secured := tls.Server(g.Conn, g.server.TLS)
	if err := secured.HandshakeContext(shaken); err != nil {
		return io.EOF // the peer left, or speaks no TLS; there is no answer to that
	}
	anew := newGate(g.server, secured, g.network)
	anew.tls, anew.quiet, anew.commands, anew.refused = true, true, g.commands, g.refused
	g.handed.Store(true)
	g.server.replace(g, anew)
	if !g.server.door.pass(anew) {
		anew.Close()
	}
	return io.EOF
}
