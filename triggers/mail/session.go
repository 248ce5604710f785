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

// session is one SMTP session.
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

// check authenticates the sender.
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
