package mail

import (
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
)

// Receiver decides about mail. It is safe for concurrent use. Errors with
// CodeUnavailable, CodeInternal, CodeTimeout and CodeTooManyRequests may pass;
// the sender tries again then.
type Receiver interface {
	// Mailbox is nil when somebody takes mail at a local part now, which is in
	// lower case, and CodeNotFound when nobody does.
	Mailbox(ctx context.Context, local string, envelope *blueprint.Envelope) error
	// ReceiveMail decides about a mail for a local part. The decision is
	// durable when it returns nil. It must not change the mail, which several
	// recipients share.
	ReceiveMail(ctx context.Context, local string, received *blueprint.ReceivedMail) error
	// RefuseMail takes note of a mail for a local part that this server refuses
	// for a reason of its own: size is how many bytes it has, as far as that is
	// known.
	RefuseMail(ctx context.Context, local string, envelope *blueprint.Envelope, size int64, why blueprint.Reason)
}

// Options are what a Server needs. Listener, Domain, Receiver, Resolver and
// Logger are required.
type Options struct {
	Listener net.Listener
	Domain   string // behind the @ of every mailbox
	Receiver Receiver
	Resolver Resolver
	Logger   *slog.Logger
	TLS      *tls.Config // nil = STARTTLS is not offered
	// Lost closes when nothing can be decided any more: there is no point in
	// waiting for messages under way then. Nil = that never happens.
	Lost <-chan struct{}

	MaxMessage     int64 // bytes; 0 = 25 MiB
	MaxMemory      int64 // bytes of all messages at once; 0 = 128 MiB, or four of the largest messages if that is more
	MaxLarge       int   // messages beyond 1 MiB at once; 0 = 8
	MaxLargeFrom   int   // of them from one address, or one IPv6 /64; 0 = 2
	MaxRecipients  int   // of a message; 0 = 20
	MaxConnections int   // 0 = 200
	MaxPerAddress  int   // connections of one address, or of one IPv6 /64; 0 = 20
	Patience       Patience
}

// Patience bounds waiting, in real time.
type Patience struct {
	Command time.Duration // for a command; 0 = 5 minutes
	Block   time.Duration // for the next bytes of a message, and for a handshake; 0 = 3 minutes
	Slow    time.Duration // for as many KiB of a message as it has seconds, or its end; 0 = 30 seconds
	Message time.Duration // for a whole message; 0 = 15 minutes
	Check   time.Duration // for all questions about a sender; 0 = 10 seconds
	Stop    time.Duration // for messages under way when the server stops; 0 = 10 seconds
}

// crowded is how long a command, or the next bytes of a message, may take while
// more than half of the connections are taken.
const crowded = 20 * time.Second

const (
	largeMessage = 1 << 20 // bytes; those beyond need leave
	slowest      = 1 << 10 // bytes of a message a second
)

// Server is an SMTP server that receives for its own mailboxes only.
type Server struct {
	Options
	smtp     *smtp.Server
	admitted *connListener
	room     *room
	ctx      context.Context // of Run

	mu       sync.Mutex
	conns    map[*guardedConn]struct{}
	from     map[netip.Prefix]int // how many of them are of one address
	stopping bool
}

// New makes a server; nothing goes on before Run.
func New(options Options) *Server {
	choose(&options.MaxMessage, 25<<20)
	choose(&options.MaxMemory, max(128<<20, 4*options.MaxMessage))
	choose(&options.MaxLarge, 8)
	choose(&options.MaxLargeFrom, 2)
	choose(&options.MaxRecipients, 20)
	choose(&options.MaxConnections, 200)
	choose(&options.MaxPerAddress, 20)
	p := &options.Patience
	choose(&p.Command, 5*time.Minute)
	choose(&p.Block, 3*time.Minute)
	choose(&p.Slow, 30*time.Second)
	choose(&p.Message, 15*time.Minute)
	choose(&p.Check, 10*time.Second)
	choose(&p.Stop, 10*time.Second)
	options.Domain = strings.ToLower(options.Domain)
	s := &Server{
		Options: options, ctx: context.Background(),
		room:  &room{memory: options.MaxMemory, large: options.MaxLarge, largeFrom: options.MaxLargeFrom, from: map[netip.Prefix]int{}},
		conns: map[*guardedConn]struct{}{}, from: map[netip.Prefix]int{},
	}
	s.admitted = newConnListener(options.Listener.Addr())
	s.smtp = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.smtp.Domain = options.Domain
	s.smtp.MaxRecipients = options.MaxRecipients
	s.smtp.MaxMessageBytes = 1 << 40 // the session has the limit, and knows whom to tell; see guardedConn.Write
	s.smtp.MaxLineLength = 0         // the guardedConn sees to lines, and to time
	s.smtp.ErrorLog = smtpLog{options.Logger}
	return s
}

func choose[T int | int64 | time.Duration](value *T, otherwise T) {
	if *value <= 0 {
		*value = otherwise
	}
}

// Run receives mail until ctx ends. Messages under way then may end, all else
// is told to come again. It closes the listener.
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
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = s.smtp.Shutdown(context.WithoutCancel(ctx))
	}()
	patience := time.NewTimer(s.Patience.Stop)
	defer patience.Stop()
	select {
	case <-ended:
	case <-patience.C:
	case <-s.Lost:
	}
	s.breakOff()
	<-ended // what is being decided is decided first
	<-served
	return err
}

// stop lets nobody in any more and tells those who wait for the next command.
func (s *Server) stop() {
	s.mu.Lock()
	s.stopping = true
	for g := range s.conns {
		g.hurry()
	}
	s.mu.Unlock()
	if err := s.Listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		s.Logger.Warn("the mail port did not close", "error", err)
	}
}

// breakOff closes what is still open.
func (s *Server) breakOff() {
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

// smtpLog takes what the library has to say.
type smtpLog struct{ logger *slog.Logger }

// Printf logs a line. Most are about peers that went away, or panics of ours.
func (l smtpLog) Printf(format string, v ...any) {
	if strings.HasPrefix(format, "panic") {
		l.logger.Error("receiving mail failed", "error", fmt.Sprintf(format, v...))
		return
	}
	l.logger.Debug("a mail connection failed", "error", fmt.Sprintf(format, v...))
}

// Println logs a line.
func (l smtpLog) Println(v ...any) { l.Printf("%s", fmt.Sprint(v...)) }
