package mail

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"github.com/emersion/go-smtp"

	"blueprintd/blueprint"
)

// session is one SMTP dialogue.
type session struct {
	server   *Server
	conn     *guardedConn
	envelope blueprint.Envelope
	size     int64    // that was announced; 0 = none was
	to       []string // local parts
}

func (s *Server) newSession(c *smtp.Conn) (smtp.Session, error) {
	g, ok := c.Conn().(*guardedConn)
	if !ok {
		return nil, errors.New("the connection is no guardedConn")
	}
	envelope := blueprint.Envelope{Remote: g.RemoteAddr().String(), Hello: plain(c.Hostname()), TLS: g.tls}
	return &session{server: s, conn: g, envelope: envelope}, nil
}

// answer is what a sender is told instead of 250.
func answer(code int, class, subject, detail int, message string) error {
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{class, subject, detail}, Message: message}
}

const tooLarge = "the message is too large"

var becauseTooLarge = blueprint.Saying(blueprint.ReasonMailTooLarge, tooLarge)

var (
	errNoMailbox  = answer(550, 5, 1, 1, noMailbox[len("550 5.1.1 "):])
	errTooLarge   = answer(552, 5, 3, 4, tooLarge)
	errAnnounced  = answer(554, 5, 3, 4, tooLarge) // 552 is told there to who has too many recipients, and may come again
	errBusy       = answer(452, 4, 3, 1, "too much mail at once; try again later")
	errLater      = answer(451, 4, 3, 0, "this cannot be decided now; try again later")
	errLooking    = answer(421, 4, 7, 0, "too many unknown recipients")
	errBadAddress = answer(553, 5, 1, 7, "that is no address of a sender")
)

// Reset forgets the message.
func (s *session) Reset() { s.envelope.From, s.size, s.to = "", 0, nil }

// Logout ends the dialogue.
func (s *session) Logout() error { return nil }

// Mail takes the address that hears of failures, and the size that was said. One
// that is too large is refused to each recipient, who is to know of it.
func (s *session) Mail(from string, options *smtp.MailOptions) error {
	s.size = 0
	if options != nil {
		s.size = options.Size
	}
	if len(from) > 320 || plain(from) != from {
		return errBadAddress
	}
	s.to = nil
	s.envelope.From = from
	return nil
}

// Rcpt takes a recipient, if there is one.
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
		s.log("a mailbox could not be looked up", err)
		return errLater
	case s.size > s.server.MaxMessage:
		s.note(local, s.size, becauseTooLarge)
		return errAnnounced
	}
	if !slices.Contains(s.to, local) {
		s.to = append(s.to, local)
	}
	return nil
}

func (s *session) refuse() error {
	if s.conn.refused++; s.conn.refused > maxRefused {
		s.conn.dead = true
		return errLooking
	}
	return errNoMailbox
}

// Data reads a message, and has every recipient decide about it.
func (s *session) Data(r io.Reader) error {
	raw, release, err := s.read(r)
	if err != nil {
		size := int64(len(raw))
		raw = nil
		release()
		var final *smtp.SMTPError
		if errors.As(err, &final) && !final.Temporary() {
			rest, _ := io.Copy(io.Discard, r) // it is read to its end anyhow
			why := blueprint.Saying(blueprint.ReasonMessage, final.Message)
			if final == errTooLarge {
				why = becauseTooLarge
			}
			s.noteAll(size+rest, why)
		}
		return err
	}
	defer release()
	mail, err := Parse(raw)
	if err != nil {
		reason := refusedBecause(err)
		s.noteAll(int64(len(raw)), blueprint.Saying(blueprint.ReasonMessage, reason))
		return answer(554, 5, 6, 0, reason)
	}
	return s.deliver(&blueprint.ReceivedMail{Envelope: s.envelope, Raw: raw, Mail: mail, Check: s.check(raw, mail)})
}

// read reads a message. It needs room, which release gives back.
func (s *session) read(r io.Reader) (raw []byte, release func(), err error) {
	room := &lease{room: s.server.room, network: s.conn.network}
	raw, err = room.read(r, s.server.MaxMessage)
	switch {
	case errors.Is(err, errBusy):
	case err != nil:
		err = answer(451, 4, 4, 2, "the message broke off") // there is hardly anybody to hear it
	case s.conn.message == nil && s.conn.flaw != "":
		err = answer(554, 5, 6, 0, "the message "+s.conn.flaw)
	case int64(len(raw)) > s.server.MaxMessage:
		err = errTooLarge
	}
	return raw, room.end, err
}

// deliver has every recipient decide, and gives what the sender is told.
func (s *session) deliver(received *blueprint.ReceivedMail) error {
	var passing, final error
	for _, local := range s.to {
		err := s.server.Receiver.ReceiveMail(context.WithoutCancel(s.server.ctx), local, received)
		switch {
		case err == nil:
		case passes(err):
			passing = later(err)
		default:
			var known *blueprint.Error
			reason := "the message is refused"
			if errors.As(err, &known) {
				reason += ": " + plain(known.Message)
			}
			final = answer(554, 5, 7, 1, reason)
		}
	}
	if passing != nil {
		return passing
	}
	return final
}

// later tells a sender to come again; when it has sent too much, that it has.
func later(err error) error {
	var known *blueprint.Error
	if errors.As(err, &known) && known.Code == blueprint.CodeTooManyRequests {
		return answer(451, 4, 7, 1, plain(known.Message))
	}
	return errLater
}

// passes reports whether an error may be gone when the sender comes again.
func passes(err error) bool {
	switch blueprint.CodeOf(err) {
	case blueprint.CodeUnavailable, blueprint.CodeInternal, blueprint.CodeTimeout, blueprint.CodeTooManyRequests, blueprint.CodeClientClosed:
		return true
	}
	return false
}

// note tells a recipient of a message that is refused before it decides.
func (s *session) note(local string, size int64, why blueprint.Reason) {
	s.server.Receiver.RefuseMail(context.WithoutCancel(s.server.ctx), local, &s.envelope, size, why)
}

func (s *session) noteAll(size int64, why blueprint.Reason) {
	for _, local := range s.to {
		s.note(local, size, why)
	}
}

func (s *session) log(what string, err error) {
	s.server.Logger.Warn(what, "remote", s.envelope.Remote, "error", err)
}

// check asks the DNS who the sender is.
func (s *session) check(raw []byte, mail *blueprint.Mail) blueprint.SenderCheck {
	ctx, cancel := context.WithTimeout(s.server.ctx, s.server.Patience.Check)
	defer cancel()
	remote, _ := netip.ParseAddrPort(s.envelope.Remote)
	c := checker{resolver: bounded(s.server.Resolver), identity: s.server.Domain}
	return c.check(ctx, remote.Addr().Unmap(), &s.envelope, raw, mail.Author)
}

// plain makes one line of printable characters of what somebody sent.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
