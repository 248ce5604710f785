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
	maxCommand  = 2048 // bytes of a command line
	maxCommands = 1000 // per connection
	maxRefused  = 20   // unknown recipients per connection
)

// guardedConn is a connection that enforces line endings, limits and timeouts
// below the SMTP library. The library reads one command at a time, and of a
// message only whole, well-formed lines. Only Close and interrupt are safe for
// concurrent use.
type guardedConn struct {
	net.Conn
	server  *Server
	network netip.Prefix
	tls     bool

	in            *bufio.Reader
	pending       []byte // read, but not yet returned to the library
	message       *reception
	defect        string // of the last message; "" = none
	skipsGreeting bool   // after STARTTLS
	ended         bool   // nothing more is read

	commands, refused int

	waiting  atomic.Bool // for a command
	stopping atomic.Bool
	upgraded atomic.Bool // another guardedConn owns Conn
	once     sync.Once
}

func newGuardedConn(s *Server, conn net.Conn, network netip.Prefix) *guardedConn {
	return &guardedConn{Conn: conn, server: s, network: network, in: bufio.NewReaderSize(conn, maxCommand)}
}

// Close closes the connection, unless STARTTLS passed it to another guardedConn.
func (g *guardedConn) Close() (err error) {
	g.once.Do(func() {
		if !g.upgraded.Load() {
			g.server.release(g)
			err = g.Conn.Close()
		}
	})
	return err
}

// interrupt ends the wait for a command.
func (g *guardedConn) interrupt() {
	g.stopping.Store(true)
	if g.waiting.Load() {
		_ = g.Conn.SetReadDeadline(time.Unix(1, 0))
	}
}

// Read returns the next command, or part of a message.
func (g *guardedConn) Read(b []byte) (int, error) {
	if len(g.pending) == 0 {
		var err error
		switch {
		case g.ended:
			err = io.EOF
		case g.message != nil:
			err = g.readMessage()
		default:
			err = g.readCommand()
		}
		if err != nil {
			g.ended, g.pending = true, nil
			return 0, err
		}
	}
	n := copy(b, g.pending)
	g.pending = g.pending[n:]
	return n, nil
}

// Write sends one line of a reply; the library writes each line with its own call.
// CHUNKING is not announced, because the library accepts a truncated BDAT chunk.
func (g *guardedConn) Write(b []byte) (int, error) {
	line := b
	switch {
	case g.skipsGreeting:
		g.skipsGreeting = false
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
		g.defect = ""
	}
	if err := g.Conn.SetWriteDeadline(after(g.server.Timeouts.Block)); err != nil {
		return 0, err
	}
	if _, err := g.Conn.Write(line); err != nil {
		return 0, err
	}
	return len(b), nil
}

func after(d time.Duration) time.Time { return clock.Real{}.Now().Add(d) }

// reply answers a command that the library does not see.
func (g *guardedConn) reply(format string, args ...any) {
	_ = g.Conn.SetWriteDeadline(after(g.server.Timeouts.Block))
	_, _ = fmt.Fprintf(g.Conn, format+"\r\n", args...)
}

// end sends a last reply and returns io.EOF.
func (g *guardedConn) end(format string, args ...any) error {
	g.reply(format, args...)
	return io.EOF
}

// readCommand reads commands until there is one for the library.
func (g *guardedConn) readCommand() error {
	for {
		line, err := g.readLine()
		if err != nil {
			return err
		}
		if g.commands++; g.commands > maxCommands {
			return g.end("421 4.7.0 too many commands; open a new connection")
		}
		verb, argument, _ := strings.Cut(string(line[:len(line)-2]), " ")
		verb = strings.ToUpper(verb)
		switch {
		case strings.HasPrefix(verb, "STARTTLS"):
			if err := g.startTLS(verb, argument); err != nil {
				return err
			}
		case verb == "BDAT":
			return g.end("502 5.5.1 BDAT is not supported") // its data must not be read as commands
		case verb == "AUTH":
			g.reply("502 5.5.1 AUTH is not supported")
		case verb == "RCPT" && !isPlainRecipient(argument):
			if g.countRefused() {
				return g.end("421 4.7.0 " + tooManyUnknown)
			}
			g.reply("550 5.1.1 " + noMailbox)
		default:
			g.pending = line
			return nil
		}
	}
}

const (
	noMailbox      = "no such mailbox; this server does not relay mail"
	tooManyUnknown = "too many unknown recipients"
)

// countRefused counts an unknown recipient and reports whether there were too
// many, as when a client guesses addresses.
func (g *guardedConn) countRefused() bool {
	g.refused++
	return g.refused > maxRefused
}

// readLine reads a line including its CR LF.
func (g *guardedConn) readLine() ([]byte, error) {
	g.waiting.Store(true)
	defer g.waiting.Store(false)
	if err := g.Conn.SetReadDeadline(after(g.server.timeout(g.server.Timeouts.Command))); err != nil {
		return nil, err
	}
	if g.stopping.Load() {
		return nil, g.end("421 4.3.2 the server is stopping; try again later")
	}
	line, err := g.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, g.end("500 5.5.6 the line is longer than %d bytes", maxCommand)
	case isTimeout(err) && g.stopping.Load():
		return nil, g.end("421 4.3.2 the server is stopping; try again later")
	case isTimeout(err):
		return nil, g.end(timeoutReply)
	case err != nil:
		return nil, io.EOF
	case len(line) < 2 || line[len(line)-2] != '\r' || bytes.ContainsAny(line[:len(line)-2], "\r\x00"):
		return nil, g.end("500 5.5.2 lines must end with CR LF and contain no other CR, LF or NUL")
	}
	return line, nil
}

const timeoutReply = "421 4.4.2 timeout"

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// startTLS passes the connection to a new guardedConn with TLS, which starts
// without the state of this one (RFC 3207), and returns io.EOF. It returns nil if
// STARTTLS was refused and this connection goes on.
func (g *guardedConn) startTLS(verb, argument string) error {
	switch {
	case verb != "STARTTLS" || argument != "":
		g.reply("501 5.5.4 STARTTLS takes no argument")
		return nil
	case g.tls:
		g.reply("503 5.5.1 TLS is already active")
		return nil
	case g.server.TLS == nil:
		g.reply("502 5.5.1 STARTTLS is not supported")
		return nil
	case g.in.Buffered() > 0:
		// It would be read as if it had been sent with TLS (CVE-2011-0411).
		return g.end("554 5.5.1 no data may follow STARTTLS before its reply")
	}
	g.reply("220 2.0.0 ready to start TLS")
	handshake, cancel := context.WithTimeout(context.Background(), g.server.Timeouts.Block)
	defer cancel()
	_ = g.Conn.SetDeadline(after(g.server.Timeouts.Block))
	secured := tls.Server(g.Conn, g.server.TLS)
	if err := secured.HandshakeContext(handshake); err != nil {
		return io.EOF
	}
	upgraded := newGuardedConn(g.server, secured, g.network)
	upgraded.tls, upgraded.skipsGreeting, upgraded.commands, upgraded.refused = true, true, g.commands, g.refused
	g.upgraded.Store(true)
	g.server.replace(g, upgraded)
	if !g.server.admitted.pass(upgraded) {
		upgraded.Close()
	}
	return io.EOF
}
