// Package smtpsink answers one SMTP dialogue over a connection that somebody
// else made, such as one end of net.Pipe, so that mail can be sent without a
// network. It takes every login and every recipient; what becomes of a message
// is for its caller to say.
package smtpsink

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"strings"
	"sync"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// MaxMessage is how large a message may be, in bytes.
const MaxMessage = 25 << 20

// maxRecipients is how many a message may have.
const maxRecipients = 1000

// Accept decides about a message: code and text are what its sender is
// answered, 250 for one that was taken. Data has its dots taken out, and its
// lines end in CRLF. It is called for one message of a connection at a time.
type Accept func(from string, to []string, data []byte) (code int, text string)

// Serve speaks SMTP over a connection, as the server of the name host, until
// the dialogue ends or somebody closes the connection; it closes the connection
// and returns then. With secure it offers STARTTLS; whoever wants TLS from the
// first byte wraps conn before. Nothing is waited for with a clock: the other
// side, which is of this process, closes the connection when it has had enough.
func Serve(conn net.Conn, host string, secure *tls.Config, accept Accept) {
	ended := newPatient(conn)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{accept: accept}, nil }))
	server.Domain, server.TLSConfig, server.AllowInsecureAuth, server.EnableSMTPUTF8 = host, secure, true, true
	server.MaxMessageBytes, server.MaxRecipients = MaxMessage, maxRecipients
	server.MaxLineLength = MaxMessage // who is refused in the middle of a line is still writing, and would not read why
	server.ErrorLog = log.New(io.Discard, "", 0)
	listener := &single{conn: ended, closed: make(chan struct{})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // it ends with the listener
	}()
	<-ended.done
	_ = server.Close()
	<-served
}

// single is a listener with one connection to give.
type single struct {
	conn   net.Conn
	given  sync.Once
	ending sync.Once
	closed chan struct{}
}

// Accept returns the connection, and then waits for the end.
func (l *single) Accept() (conn net.Conn, err error) {
	l.given.Do(func() { conn = l.conn })
	if conn != nil {
		return conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

// Close ends the waiting.
func (l *single) Close() error {
	l.ending.Do(func() { close(l.closed) })
	return nil
}

// Addr names the other end.
func (l *single) Addr() net.Addr { return l.conn.LocalAddr() }

// session is the message that is on its way.
type session struct {
	accept Accept
	from   string
	to     []string
}

// AuthMechanisms are the ways to log in.
func (*session) AuthMechanisms() []string { return []string{sasl.Plain, sasl.Login} }

// Auth takes any name and password.
func (*session) Auth(mechanism string) (sasl.Server, error) {
	if mechanism == sasl.Login {
		return &login{}, nil
	}
	return sasl.NewPlainServer(func(string, string, string) error { return nil }), nil
}

// login asks for a name and a password, and takes them.
type login struct{ asked int }

// Next takes an answer and asks the next question.
func (l *login) Next(answer []byte) (question []byte, done bool, err error) {
	if answer != nil || l.asked > 0 {
		l.asked++
	}
	switch l.asked {
	case 0:
		return []byte("Username:"), false, nil
	case 1:
		return []byte("Password:"), false, nil
	}
	return nil, true, nil
}

// Reset forgets the message.
func (s *session) Reset() { s.from, s.to = "", nil }

// Logout ends the dialogue.
func (s *session) Logout() error { return nil }

// Mail begins a message.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

// Rcpt adds a recipient.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

// Data takes the message and asks what becomes of it.
func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	code, text := s.accept(s.from, s.to, data)
	if code == 0 {
		return errors.New("no answer")
	}
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: oneLine(text)}
}

// oneLine keeps a text from being taken for several replies.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "done"
	}
	return text
}
