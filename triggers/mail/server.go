package mail

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-smtp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// Receiver decides about mail. It is safe for concurrent use. Errors with CodeUnavailable,
// CodeInternal, CodeTimeout and CodeTooManyRequests are temporary: the sender is asked to
// retry.
type Receiver interface {
	// Mailbox returns nil if the local part, which is in lower case, accepts mail
	// now, and CodeNotFound if it does not.
	Mailbox(ctx context.Context, local string, envelope *blueprint.Envelope) error
	// ReceiveMail decides about a message for a local part. The decision is
	// durable when it returns nil. Several recipients share the message, read-only.
	ReceiveMail(ctx context.Context, local string, received *blueprint.ReceivedMail) error
	// RefuseMail records a message for a local part that the server refuses itself.
	// Size is the number of bytes known to be in the message.
	RefuseMail(ctx context.Context, local string, envelope *blueprint.Envelope, size int64, why blueprint.Reason)
}

// Options configure a Server. Listener, Domain, Receiver, Resolver and Logger are required.
type Options struct {
	Listener net.Listener
	Domain   string // of every mailbox
	Receiver Receiver
	Resolver Resolver
	Logger   *slog.Logger
	TLS      *tls.Config // nil = STARTTLS is not offered
	// Lost is closed when no decision can be made any more. Run then aborts
	// transfers instead of waiting for them. Nil = never.
	Lost <-chan struct{}

	MaxMessage     int64 // bytes; 0 = 25 MiB
	MaxMemory      int64 // bytes of all messages in memory; 0, and at most: 128 MiB, or four messages of MaxMessage if that is more
	MaxLarge       int   // simultaneous messages beyond 1 MiB; 0 = 8
	MaxLargeFrom   int   // the same per IPv4 address or IPv6 /64; 0 = 2
	MaxRecipients  int   // per message; 0 = 20
	MaxConnections int   // 0 = 200
	MaxPerAddress  int   // connections per IPv4 address or IPv6 /64; 0 = 20
	Timeouts       Timeouts
}

// Timeouts are measured in real time.
type Timeouts struct {
	Command time.Duration // for the next command; 0 = 5 minutes
	Block   time.Duration // for the next bytes of a message, and for a TLS handshake; 0 = 3 minutes
	Slow    time.Duration // for a number of KiB of a message equal to its seconds; 0 = 30 seconds
	Message time.Duration // for a whole message; 0 = 15 minutes
	Check   time.Duration // for authenticating a sender; 0 = 10 seconds
	Stop    time.Duration // for transfers in progress when the server stops; 0 = 10 seconds
}

// crowdedTimeout replaces longer timeouts while more than half of MaxConnections are open.
const crowdedTimeout = 20 * time.Second

// Server is an SMTP server that only accepts mail for its own mailboxes.
type Server struct {
	Options
	smtp     *smtp.Server
	admitted *connListener
	memory   *memory
	ctx      context.Context // of Run

	mu       sync.Mutex
	conns    map[*guardedConn]struct{}
	networks map[netip.Prefix]int // number of conns
	stopping bool
}

// New returns a server that Run starts.
func New(options Options) *Server {
	o, t := &options, &options.Timeouts
	o.Domain = strings.ToLower(o.Domain)
	o.MaxMessage = cmp.Or(o.MaxMessage, 25<<20)
	most := max(128<<20, 4*o.MaxMessage)
	o.MaxMemory = min(cmp.Or(o.MaxMemory, most), most)
	o.MaxLarge = cmp.Or(o.MaxLarge, 8)
	o.MaxLargeFrom = cmp.Or(o.MaxLargeFrom, 2)
	o.MaxRecipients = cmp.Or(o.MaxRecipients, 20)
	o.MaxConnections = cmp.Or(o.MaxConnections, 200)
	o.MaxPerAddress = cmp.Or(o.MaxPerAddress, 20)
	t.Command = cmp.Or(t.Command, 5*time.Minute)
	t.Block = cmp.Or(t.Block, 3*time.Minute)
	t.Slow = cmp.Or(t.Slow, 30*time.Second)
	t.Message = cmp.Or(t.Message, 15*time.Minute)
	t.Check = cmp.Or(t.Check, 10*time.Second)
	t.Stop = cmp.Or(t.Stop, 10*time.Second)
	s := &Server{
		Options: options, ctx: context.Background(),
		memory: &memory{free: o.MaxMemory, large: o.MaxLarge, largeFrom: o.MaxLargeFrom, networks: map[netip.Prefix]int{}},
		conns:  map[*guardedConn]struct{}{}, networks: map[netip.Prefix]int{},
	}
	s.admitted = newConnListener(o.Listener.Addr())
	s.smtp = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.smtp.Domain = o.Domain
	s.smtp.MaxRecipients = o.MaxRecipients
	s.smtp.MaxMessageBytes = 1 << 40 // the session enforces MaxMessage, to report the refusal to the recipients
	s.smtp.MaxLineLength = 0         // guardedConn enforces it
	s.smtp.ErrorLog = smtpLog{o.Logger}
	return s
}

// Run receives mail until ctx ends or the listener closes, then closes the
// listener, lets transfers in progress finish within Timeouts.Stop, and asks other
// clients to retry later.
func (s *Server) Run(ctx context.Context) error {
	s.ctx = ctx
	accepted, served := make(chan error, 1), make(chan error, 1)
	go func() { served <- s.smtp.Serve(s.admitted) }()
	go func() { accepted <- s.accept() }()
	var err error
	select {
	case err = <-accepted:
		accepted <- nil
	case <-ctx.Done():
	}
	s.stop()
	<-accepted
	s.admitted.close()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_ = s.smtp.Shutdown(context.WithoutCancel(ctx))
	}()
	timeout := time.NewTimer(s.Timeouts.Stop)
	defer timeout.Stop()
	select {
	case <-drained:
	case <-timeout.C:
	case <-s.Lost:
	}
	s.closeConns()
	<-drained // decisions in progress are not interrupted
	<-served
	return err
}

// stop refuses new connections and interrupts those that wait for a command.
func (s *Server) stop() {
	s.mu.Lock()
	s.stopping = true
	for g := range s.conns {
		g.interrupt()
	}
	s.mu.Unlock()
	if err := s.Listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.Logger.Warn("closing the mail listener failed", "error", err)
	}
}

func (s *Server) closeConns() {
	s.mu.Lock()
	open := make([]*guardedConn, 0, len(s.conns))
	for g := range s.conns {
		open = append(open, g)
	}
	s.mu.Unlock()
	for _, g := range open {
		g.Close()
	}
}

// accept admits connections until the listener closes.
func (s *Server) accept() error {
	for {
		conn, err := s.Listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case err != nil: // most likely too many open files
			s.Logger.Warn("accepting a mail connection failed, retrying", "error", err)
			<-time.NewTimer(100 * time.Millisecond).C
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

// admit registers a new connection, or returns the reason for refusing it.
func (s *Server) admit(conn net.Conn) (*guardedConn, string) {
	g := newGuardedConn(s, conn, networkOf(conn.RemoteAddr()))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping:
		return nil, "the server is stopping; try again later"
	case len(s.conns) >= s.MaxConnections:
		return nil, "too many connections; try again later"
	case s.networks[g.network] >= s.MaxPerAddress:
		return nil, "too many connections from your address; try again later"
	}
	s.conns[g] = struct{}{}
	s.networks[g.network]++
	return g, ""
}

// replace registers a connection in place of the one that it was upgraded from.
func (s *Server) replace(old, upgraded *guardedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, old)
	s.conns[upgraded] = struct{}{}
	if s.stopping {
		upgraded.interrupt()
	}
}

func (s *Server) release(g *guardedConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.conns[g]; open {
		delete(s.conns, g)
		decrement(s.networks, g.network)
	}
}

func decrement(counts map[netip.Prefix]int, network netip.Prefix) {
	if counts[network]--; counts[network] <= 0 {
		delete(counts, network)
	}
}

// timeout returns d, or crowdedTimeout if that is shorter and applies.
func (s *Server) timeout(d time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if 2*len(s.conns) > s.MaxConnections {
		return min(d, crowdedTimeout)
	}
	return d
}

// networkOf returns the network of a connection: an IPv4 address or an IPv6 /64.
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

// connListener passes connections to the SMTP library: those that were admitted,
// and those that start over after STARTTLS.
type connListener struct {
	address net.Addr
	conns   chan net.Conn
	closed  chan struct{}
	close   func()
}

func newConnListener(address net.Addr) *connListener {
	l := &connListener{address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	return l
}

func (l *connListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *connListener) Close() error   { l.close(); return nil }
func (l *connListener) Addr() net.Addr { return l.address }

// pass reports whether the library accepted the connection before Close.
func (l *connListener) pass(c net.Conn) bool {
	select {
	case l.conns <- c:
		return true
	case <-l.closed:
		return false
	}
}

// smtpLog logs what the SMTP library reports: its own panics as errors, failures
// of connections at debug level.
type smtpLog struct{ logger *slog.Logger }

func (l smtpLog) Printf(format string, v ...any) {
	if strings.HasPrefix(format, "panic") {
		l.logger.Error("mail session panicked", "error", fmt.Sprintf(format, v...))
		return
	}
	l.logger.Debug("mail connection failed", "error", fmt.Sprintf(format, v...))
}

func (l smtpLog) Println(v ...any) { l.Printf("%s", fmt.Sprint(v...)) }

const (
	maxCommand  = 2048 // bytes of a command line
	maxCommands = 1000 // per connection
	maxRefused  = 20   // unknown recipients per connection
)

// guardedConn is a connection that enforces line endings, limits and timeouts
// below the SMTP library. The library reads one command at a time, and of a
// message only whole, well-formed lines. Close and interrupt may be concurrent.
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

// startTLS passes the connection to a new guardedConn with TLS, which starts without the
// state of this one (RFC 3207), and returns io.EOF. It returns nil if STARTTLS was refused
// and this connection continues.
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
		// It would be read as if it had been sent over TLS (CVE-2011-0411).
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
