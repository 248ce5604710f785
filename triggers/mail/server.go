package mail

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-smtp"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
)

// Receiver decides what happens to mail. It is safe for concurrent use. Errors
// with CodeUnavailable, CodeInternal, CodeTimeout and CodeTooManyRequests are
// temporary: the sender is asked to retry.
type Receiver interface {
	// Mailbox returns nil if the local part, which is in lower case, accepts mail
	// now, and CodeNotFound if it does not.
	Mailbox(ctx context.Context, local string, envelope *blueprint.Envelope) error
	// ReceiveMail decides about a message for a local part. The decision is
	// durable when it returns nil. It must not modify the message, which several
	// recipients share.
	ReceiveMail(ctx context.Context, local string, received *blueprint.ReceivedMail) error
	// RefuseMail records a message for a local part that the server refuses itself.
	// Size is the number of bytes known to be in the message.
	RefuseMail(ctx context.Context, local string, envelope *blueprint.Envelope, size int64, why blueprint.Reason)
}

// Options configure a Server. Listener, Domain, Receiver, Resolver and Logger are
// required.
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
	MaxMemory      int64 // bytes of all messages in memory; 0 = 128 MiB, or four messages of MaxMessage if that is more
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
	Slow    time.Duration // for as many KiB of a message as it has seconds; 0 = 30 seconds
	Message time.Duration // for a whole message; 0 = 15 minutes
	Check   time.Duration // for authenticating a sender; 0 = 10 seconds
	Stop    time.Duration // for transfers in progress when the server stops; 0 = 10 seconds
}

// crowdedTimeout replaces longer timeouts while more than half of MaxConnections
// are open.
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
	o.MaxMemory = cmp.Or(o.MaxMemory, max(128<<20, 4*o.MaxMessage))
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

// networkOf returns the network for which connections are counted: an IPv4
// address or an IPv6 /64.
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
