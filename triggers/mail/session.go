package mail

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/emersion/go-smtp"

	"blueprintd/blueprint"
)

type session struct {
	server   *Server
	conn     *guardedConn
	envelope blueprint.Envelope
	size     int64    // announced by MAIL; 0 = unknown
	to       []string // local parts
}

func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	g, ok := c.Conn().(*guardedConn)
	if !ok {
		return nil, errors.New("the connection is not a guardedConn")
	}
	envelope := blueprint.Envelope{Remote: g.RemoteAddr().String(), Hello: plain(c.Hostname()), TLS: g.tls}
	return &session{server: s, conn: g, envelope: envelope}, nil
}

func reply(code int, class, subject, detail int, message string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{class, subject, detail}, Message: message}
}

const tooLarge = "the message is too large"

var reasonTooLarge = blueprint.MessageReason(blueprint.ReasonMailTooLarge, tooLarge)

var (
	errNoMailbox  = reply(550, 5, 1, 1, noMailbox)
	errTooLarge   = reply(552, 5, 3, 4, tooLarge)
	errAnnounced  = reply(554, 5, 3, 4, tooLarge) // at RCPT, 552 would mean "too many recipients", a temporary error
	errBusy       = reply(452, 4, 3, 1, "too much mail at once; try again later")
	errLater      = reply(451, 4, 3, 0, "temporary failure; try again later")
	errGuessing   = reply(421, 4, 7, 0, tooManyUnknown)
	errBadAddress = reply(553, 5, 1, 7, "invalid sender address")
)

func (s *session) Reset()        { s.envelope.From, s.size, s.to = "", 0, nil }
func (s *session) Logout() error { return nil }

// Mail starts a message. Rcpt refuses one whose announced size is too large, so
// that the refusal is reported to its recipients.
func (s *session) Mail(from string, options *smtp.MailOptions) error {
	s.size = 0
	if options != nil {
		s.size = options.Size
	}
	if len(from) > maxAddress || plain(from) != from {
		return errBadAddress
	}
	s.to = nil
	s.envelope.From = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	local, ok := localPart(to, s.server.Domain)
	if !ok {
		return s.refuse()
	}
	err := s.server.Receiver.Mailbox(s.server.ctx, local, &s.envelope)
	switch {
	case blueprint.CodeOf(err) == blueprint.CodeNotFound:
		return s.refuse()
	case blueprint.CodeOf(err) == blueprint.CodeUnavailable:
		return errLater
	case err != nil:
		s.server.Logger.Warn("mailbox lookup failed", "remote", s.envelope.Remote, "error", err)
		return errLater
	case s.size > s.server.MaxMessage:
		s.recordRefusal(local, s.size, reasonTooLarge)
		return errAnnounced
	}
	if !slices.Contains(s.to, local) {
		s.to = append(s.to, local)
	}
	return nil
}

func (s *session) refuse() error {
	if s.conn.countRefused() {
		s.conn.ended = true
		return errGuessing
	}
	return errNoMailbox
}

// Data reads a message and passes it to every recipient.
func (s *session) Data(r io.Reader) error {
	raw, release, err := s.read(r)
	if err != nil {
		size := int64(len(raw))
		raw = nil
		release()
		if permanent, ok := errors.AsType[*smtp.SMTPError](err); ok && !permanent.Temporary() {
			rest, _ := io.Copy(io.Discard, r) // the library would discard it as well
			why := blueprint.MessageReason(blueprint.ReasonMessage, permanent.Message)
			if permanent == errTooLarge {
				why = reasonTooLarge
			}
			s.recordRefusals(size+rest, why)
		}
		return err
	}
	defer release()
	mail, err := Parse(raw)
	if err != nil {
		s.recordRefusals(int64(len(raw)), blueprint.MessageReason(blueprint.ReasonMessage, messageOf(err)))
		return reply(554, 5, 6, 0, messageOf(err))
	}
	return s.deliver(&blueprint.ReceivedMail{Envelope: s.envelope, Raw: raw, Mail: mail, Check: s.check(raw, mail)})
}

// read reads a message into reserved memory, which release frees.
func (s *session) read(r io.Reader) (raw []byte, release func(), err error) {
	reserved := &reservation{memory: s.server.memory, network: s.conn.network}
	raw, err = reserved.read(r, s.server.MaxMessage)
	switch {
	case errors.Is(err, errBusy):
	case err != nil:
		err = reply(451, 4, 4, 2, "the message is incomplete")
	case s.conn.message == nil && s.conn.defect != "":
		err = reply(554, 5, 6, 0, "the message "+s.conn.defect)
	case int64(len(raw)) > s.server.MaxMessage:
		err = errTooLarge
	}
	return raw, reserved.release, err
}

// deliver passes a message to every recipient. It returns the reply for the
// sender; a temporary error takes precedence over a permanent one.
func (s *session) deliver(received *blueprint.ReceivedMail) error {
	var temporary, permanent error
	for _, local := range s.to {
		err := s.server.Receiver.ReceiveMail(context.WithoutCancel(s.server.ctx), local, received)
		switch code := blueprint.CodeOf(err); {
		case err == nil:
		case code == blueprint.CodeTooManyRequests:
			temporary = reply(451, 4, 7, 1, messageOf(err))
		case slices.Contains(temporaryCodes, code):
			temporary = errLater
		default:
			permanent = reply(554, 5, 7, 1, "the message is refused: "+messageOf(err))
		}
	}
	if temporary != nil {
		return temporary
	}
	return permanent
}

var temporaryCodes = []blueprint.Code{blueprint.CodeUnavailable, blueprint.CodeInternal, blueprint.CodeTimeout, blueprint.CodeClientClosed}

// messageOf returns the message of an error for the sender.
func messageOf(err error) string {
	if known, ok := errors.AsType[*blueprint.Error](err); ok {
		return plain(known.Message)
	}
	return "the message cannot be processed"
}

func (s *session) recordRefusal(local string, size int64, why blueprint.Reason) {
	s.server.Receiver.RefuseMail(context.WithoutCancel(s.server.ctx), local, &s.envelope, size, why)
}

func (s *session) recordRefusals(size int64, why blueprint.Reason) {
	for _, local := range s.to {
		s.recordRefusal(local, size, why)
	}
}

func (s *session) check(raw []byte, mail *blueprint.Mail) blueprint.SenderCheck {
	ctx, cancel := context.WithTimeout(s.server.ctx, s.server.Timeouts.Check)
	defer cancel()
	remote, _ := netip.ParseAddrPort(s.envelope.Remote)
	c := checker{resolver: &limitedResolver{Resolver: s.server.Resolver}, identity: s.server.Domain}
	return c.check(ctx, remote.Addr().Unmap(), &s.envelope, raw, mail.Author)
}

// plain removes control and bidirectional formatting characters from text.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// maxLocal is the maximum length of a local part, in bytes.
const maxLocal = 64

// isPlainRecipient reports whether the argument of RCPT has the only supported
// form, TO:<letters and digits@domain>, with optional blanks before the bracket
// and parameters after it. This excludes routes, quoted local parts, comments and
// everything else that some servers interpret as a request to relay.
func isPlainRecipient(argument string) bool {
	const prefix = "TO:"
	if len(argument) < len(prefix) || !strings.EqualFold(argument[:len(prefix)], prefix) {
		return true // the library replies with a syntax error
	}
	path := strings.TrimLeft(argument[len(prefix):], " ")
	inside, parameters, closed := strings.Cut(path, ">")
	inside, opened := strings.CutPrefix(inside, "<")
	if !opened || !closed || parameters != "" && parameters[0] != ' ' {
		return false
	}
	local, domain, found := strings.Cut(inside, "@")
	return found && isWord(local) && domain != "" && !strings.ContainsFunc(domain, func(r rune) bool {
		return !isWordLetter(r) && r != '.' && r != '-'
	})
}

// localPart returns the local part of an address in domain, in lower case.
func localPart(address, domain string) (local string, ok bool) {
	local, host, found := strings.Cut(address, "@")
	if !found || !strings.EqualFold(host, domain) || !isWord(local) {
		return "", false
	}
	return strings.ToLower(local), true
}

func isWord(text string) bool {
	return text != "" && len(text) <= maxLocal && !strings.ContainsFunc(text, func(r rune) bool { return !isWordLetter(r) })
}

func isWordLetter(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}

const (
	maxLine      = 64 << 10 // bytes of a message line
	largeMessage = 1 << 20  // bytes; the number of larger ones is limited
	minRate      = 1 << 10  // bytes of a message per second
)

// reception is the state of reading one message, which ends at CR LF . CR LF.
type reception struct {
	deadline time.Time // of the whole message
	since    time.Time // start of the interval in which the rate is measured
	recent   int64     // bytes in that interval
	received int64     // bytes
	limit    int64     // of received
	state    lineState
	line     int    // bytes of the current line
	defect   string // why the message will be refused; the rest of it is discarded
	piece    []byte // buffer of the next piece for the library
	atBreak  bool   // what was passed on ends with CR LF
}

// lineState is the position of the next byte within a line.
type lineState int

const (
	atBegin  lineState = iota
	atDot              // after a dot at the beginning
	atDotCR            // after such a dot and CR
	atMiddle           // after any other byte
	atCR               // after CR
)

func newReception(s *Server) *reception {
	return &reception{atBreak: true, limit: 2*s.MaxMessage + maxLine, since: after(0), deadline: after(s.Timeouts.Message), piece: make([]byte, 0, 4096)}
}

// nextDeadline returns when the next bytes must have arrived. The rate is measured
// per interval, so that a fast start does not allow a client to hold the memory of
// a large message for long.
func (m *reception) nextDeadline(s *Server) time.Time {
	if m.recent >= minRate*int64(s.Timeouts.Slow/time.Millisecond)/1000 {
		m.since, m.recent = after(0), 0
	}
	deadlines := []time.Time{after(s.timeout(s.Timeouts.Block)), m.deadline, m.since.Add(s.Timeouts.Slow)}
	return slices.MinFunc(deadlines, time.Time.Compare)
}

// readMessage makes a piece of the message pending. After a defect it discards the rest.
func (g *guardedConn) readMessage() error {
	m := g.message
	g.pending = m.piece[:0]
	for len(g.pending) == 0 || len(g.pending) < 4000 && g.in.Buffered() > 0 {
		if g.in.Buffered() == 0 {
			if err := g.Conn.SetReadDeadline(m.nextDeadline(g.server)); err != nil {
				return err
			}
		}
		c, err := g.in.ReadByte()
		if err == nil {
			m.recent++
			if m.received++; m.received > m.limit {
				err = errors.New("the message does not end")
			}
		}
		if err != nil {
			if isTimeout(err) {
				g.reply(timeoutReply)
			}
			return io.ErrUnexpectedEOF
		}
		done := false
		if g.pending, done = m.consume(c, g.pending); done {
			// If line endings are ambiguous, so is the end of the message: the data after
			// it must not be read as commands.
			g.defect, g.message, g.ended = m.defect, nil, m.defect != ""
			return nil
		}
	}
	return nil
}

// consume processes the next byte of a message. It appends to out what is passed
// on to the library and reports whether the message is complete.
func (m *reception) consume(c byte, out []byte) (_ []byte, done bool) {
	if m.line++; m.line > maxLine {
		m.defect = "has a line that is too long"
	}
	before := m.state
	switch {
	case before == atDotCR && c == '\n':
		if !m.atBreak { // a defect cut the output within a line
			out = append(out, '\r', '\n')
		}
		return append(out, '.', '\r', '\n'), true
	case (before == atDotCR || before == atCR) && c != '\n':
		m.defect = "has a CR without an LF"
		if m.state = atMiddle; c == '\r' {
			m.state = atCR
		}
	case before == atCR:
		m.state, m.line = atBegin, 0
		out = m.emit(out, '\r', '\n')
	case c == '\n':
		m.defect = "has an LF without a CR"
		m.state = atMiddle
	case c == '\r' && before == atDot:
		m.state = atDotCR
	case c == '\r':
		m.state = atCR
	case c == '.' && before == atBegin:
		m.state = atDot
	case before == atDot:
		m.state = atMiddle
		out = m.emit(out, '.', c)
	default:
		m.state = atMiddle
		out = m.emit(out, c)
	}
	return out, false
}

func (m *reception) emit(out []byte, bytes ...byte) []byte {
	if m.defect != "" {
		return out
	}
	m.atBreak = bytes[len(bytes)-1] == '\n'
	return append(out, bytes...)
}

// memory limits the memory for messages being received or decided.
type memory struct {
	mu        sync.Mutex
	free      int64 // bytes
	large     int   // further messages beyond largeMessage
	largeFrom int   // maximum of them per network
	networks  map[netip.Prefix]int
}

// reservation is the memory reserved for one message.
type reservation struct {
	memory  *memory
	network netip.Prefix
	bytes   int64
	large   bool
}

// grow extends the reservation to a size and reports whether the limits allow it.
func (r *reservation) grow(bytes int64) bool {
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	more, becomesLarge := bytes-r.bytes, bytes > largeMessage && !r.large
	if more > m.free || becomesLarge && (m.large < 1 || m.networks[r.network] >= m.largeFrom) {
		return false
	}
	if becomesLarge {
		r.large = true
		m.large--
		m.networks[r.network]++
	}
	m.free -= more
	r.bytes = bytes
	return true
}

func (r *reservation) release() {
	m := r.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.free += r.bytes
	if r.large {
		m.large++
		decrement(m.networks, r.network)
	}
	r.bytes, r.large = 0, false
}

// read reads a message of at most limit bytes, or the first limit+1 bytes of a
// longer one. It reserves memory for what was received, not for what was announced.
func (r *reservation) read(source io.Reader, limit int64) (raw []byte, err error) {
	for size := min(16<<10, limit+1); ; size = min(2*size, limit+1) {
		if !r.grow(size) {
			return nil, errBusy
		}
		raw = append(make([]byte, 0, size), raw...)
		for int64(len(raw)) < size {
			n, err := source.Read(raw[len(raw):size])
			raw = raw[:len(raw)+n]
			switch {
			case err == io.EOF:
				return raw, nil
			case err != nil:
				return raw, err
			}
		}
		if size > limit {
			return raw, nil
		}
	}
}
