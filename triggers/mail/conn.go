package mail

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"blueprintd/foundation/clock"
)

const (
	maxCommand  = 2048 // bytes of a line with a command
	maxCommands = 1000 // of a connection
	maxRefused  = 20   // recipients of a connection that nobody is
)

// guardedConn stands between a connection and the SMTP library. It hands over one
// command at a time, and of a message nothing but whole lines that end as they
// must. One goroutine uses it; only Close and hurry are for others.
type guardedConn struct {
	net.Conn
	server  *Server
	network netip.Prefix
	tls     bool

	in      *bufio.Reader
	pending []byte // of what the library has not read yet
	message *reception
	flaw    string // of the last message; "" = it was in order
	quiet   bool   // the greeting has been said
	dead    bool   // nothing more is read

	commands, refused int

	waiting  atomic.Bool // for a command
	stopping atomic.Bool
	handed   atomic.Bool // another guardedConn has the connection
	once     sync.Once
}

func newGuardedConn(s *Server, conn net.Conn, network netip.Prefix) *guardedConn {
	return &guardedConn{Conn: conn, server: s, network: network, in: bufio.NewReaderSize(conn, maxCommand)}
}

// Close closes the connection, unless another guardedConn has it.
func (g *guardedConn) Close() (err error) {
	g.once.Do(func() {
		if !g.handed.Load() {
			g.server.release(g)
			err = g.Conn.Close()
		}
	})
	return err
}

// hurry ends the wait for a command.
func (g *guardedConn) hurry() {
	g.stopping.Store(true)
	if g.waiting.Load() {
		_ = g.Conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// Read gives the library the next command, or a piece of a message.
func (g *guardedConn) Read(b []byte) (int, error) {
	if len(g.pending) == 0 {
		var err error
		switch {
		case g.dead:
			err = io.EOF
		case g.message != nil:
			err = g.readMessage()
		default:
			err = g.readCommand()
		}
		if err != nil {
			g.dead, g.pending = true, nil
			return 0, err
		}
	}
	n := copy(b, g.pending)
	g.pending = g.pending[n:]
	return n, nil
}

// Write sends a line of an answer. The library writes each with a call of its
// own. Of what it offers, BDAT is left out: it takes a chunk that breaks off
// for a whole one.
func (g *guardedConn) Write(b []byte) (int, error) {
	line := b
	switch {
	case g.quiet:
		g.quiet = false
		return len(b), nil
	case bytes.Equal(b, []byte("250-CHUNKING\r\n")):
		if g.tls || g.server.TLS == nil {
			return len(b), nil
		}
		line = []byte("250-STARTTLS\r\n")
	case bytes.HasPrefix(b, []byte("250-SIZE ")):
		line = fmt.Appendf(nil, "250-SIZE %d\r\n", g.server.MaxMessage)
	case bytes.HasPrefix(b, []byte("354 ")):
		g.message = newReception(g.server)
		g.flaw = ""
	}
	if err := g.Conn.SetWriteDeadline(within(g.server.Patience.Block)); err != nil {
		return 0, err
	}
	if _, err := g.Conn.Write(line); err != nil {
		return 0, err
	}
	return len(b), nil
}

// within returns the instant at which patience ends.
func within(patience time.Duration) time.Time { return clock.Real{}.Now().Add(patience) }

// say answers in place of the library.
func (g *guardedConn) say(format string, args ...any) {
	_ = g.Conn.SetWriteDeadline(within(g.server.Patience.Block))
	_, _ = fmt.Fprintf(g.Conn, format+"\r\n", args...)
}

// end answers for the last time.
func (g *guardedConn) end(format string, args ...any) error {
	g.say(format, args...)
	return io.EOF
}

// readCommand waits for a command that is one for the library.
func (g *guardedConn) readCommand() error {
	for {
		line, err := g.readLine()
		if err != nil {
			return err
		}
		if g.commands++; g.commands > maxCommands {
			return g.end("421 4.7.0 too many commands; connect anew")
		}
		verb, argument, _ := strings.Cut(string(line[:len(line)-2]), " ")
		verb = strings.ToUpper(verb)
		switch {
		case strings.HasPrefix(verb, "STARTTLS"):
			if err := g.startTLS(verb, argument); err != nil {
				return err
			}
		case verb == "BDAT":
			return g.end("502 5.5.1 BDAT is not offered") // its bytes must not be taken for commands
		case verb == "AUTH":
			g.say("502 5.5.1 there is nobody to sign in as")
		case verb == "RCPT" && !isPlainRecipient(argument):
			if err := g.refuse(); err != nil {
				return err
			}
			g.say(noMailbox)
		default:
			g.pending = line
			return nil
		}
	}
}

const noMailbox = "550 5.1.1 no such mailbox here, and nothing is passed on"

// refuse counts recipients that nobody is: who tries many is looking for some.
func (g *guardedConn) refuse() error {
	if g.refused++; g.refused > maxRefused {
		return g.end("421 4.7.0 too many unknown recipients")
	}
	return nil
}

// readLine reads a line with its CR LF.
func (g *guardedConn) readLine() ([]byte, error) {
	g.waiting.Store(true)
	defer g.waiting.Store(false)
	if err := g.Conn.SetReadDeadline(within(g.server.patience(g.server.Patience.Command))); err != nil {
		return nil, err
	}
	if g.stopping.Load() {
		return nil, g.end("421 4.3.2 the server is stopping; try again later")
	}
	line, err := g.in.ReadSlice('\n')
	var late net.Error
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, g.end("500 5.5.6 the line is longer than %d bytes", maxCommand)
	case errors.As(err, &late) && late.Timeout() && g.stopping.Load():
		return nil, g.end("421 4.3.2 the server is stopping; try again later")
	case errors.As(err, &late) && late.Timeout():
		return nil, g.end("421 4.4.2 that took too long")
	case err != nil:
		return nil, io.EOF
	case len(line) < 2 || line[len(line)-2] != '\r' || bytes.IndexByte(line[:len(line)-2], '\r') >= 0 || bytes.IndexByte(line, 0) >= 0:
		return nil, g.end("500 5.5.2 a line ends with CR LF and has none of them, and no NUL, within")
	}
	return line, nil
}

// startTLS begins the connection anew behind TLS: nothing of what was said in
// clear text counts any more (RFC 3207). It returns nil when it does not come to
// that and the connection goes on.
func (g *guardedConn) startTLS(verb, argument string) error {
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
	anew := newGuardedConn(g.server, secured, g.network)
	anew.tls, anew.quiet, anew.commands, anew.refused = true, true, g.commands, g.refused
	g.handed.Store(true)
	g.server.replace(g, anew)
	if !g.server.admitted.pass(anew) {
		anew.Close()
	}
	return io.EOF
}
