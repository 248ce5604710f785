// Package smtpsink is an SMTP server for one existing connection, such as an end of
// net.Pipe, so that mail can be sent without a network. It accepts every login and
// recipient; the caller decides about messages.
package smtpsink

import (
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// MaxMessage is the maximum size of a message in bytes.
const MaxMessage = 25 << 20

const maxRecipients = 1000

// Accept decides about a message and returns the reply, with code 250 to accept. data
// is the message without dot-stuffing, with lines ending in CRLF. Calls for one
// connection are sequential.
type Accept func(from string, to []string, data []byte) (code int, text string)

// Serve serves SMTP on a connection as the server host until the session ends or the
// connection is closed, and closes it. With secure it offers STARTTLS; for implicit
// TLS the caller wraps conn. There are no time-outs: the client is in this process
// and closes the connection.
func Serve(conn net.Conn, host string, secure *tls.Config, accept Accept) {
	ended := newBufferedConn(conn)
	server := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{accept: accept}, nil }))
	server.Domain, server.TLSConfig, server.AllowInsecureAuth, server.EnableSMTPUTF8 = host, secure, true, true
	server.MaxMessageBytes, server.MaxRecipients = MaxMessage, maxRecipients
	server.MaxLineLength = MaxMessage // a client that is refused within a line still writes and would not read the reply
	server.ErrorLog = log.New(io.Discard, "", 0)
	listener := &single{conn: ended, closed: make(chan struct{})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // ends with the listener
	}()
	<-ended.done
	_ = server.Close()
	<-served
}

type single struct {
	conn   net.Conn
	accept sync.Once
	close  sync.Once
	closed chan struct{}
}

// Accept returns the connection once, then blocks until Close.
func (l *single) Accept() (conn net.Conn, err error) {
	l.accept.Do(func() { conn = l.conn })
	if conn != nil {
		return conn, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *single) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

func (l *single) Addr() net.Addr { return l.conn.LocalAddr() }

// session is a smtp.Session with the message being sent.
type session struct {
	accept Accept
	from   string
	to     []string
}

func (*session) AuthMechanisms() []string { return []string{sasl.Plain, sasl.Login} }

// Auth accepts any name and password.
func (*session) Auth(mechanism string) (sasl.Server, error) {
	if mechanism == sasl.Login {
		return &login{}, nil
	}
	return sasl.NewPlainServer(func(string, string, string) error { return nil }), nil
}

// login is the server side of LOGIN, which accepts everything.
type login struct{ answers int }

func (l *login) Next(answer []byte) (question []byte, done bool, err error) {
	if answer != nil || l.answers > 0 {
		l.answers++
	}
	switch l.answers {
	case 0:
		return []byte("Username:"), false, nil
	case 1:
		return []byte("Password:"), false, nil
	}
	return nil, true, nil
}

func (s *session) Reset() { s.from, s.to = "", nil }

func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

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

// oneLine joins the lines of a text, which would be several replies.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "done"
	}
	return text
}

// bufferedConn is a connection whose writes do not block. A net.Pipe has no buffer: if
// both sides write at the same time, they deadlock.
type bufferedConn struct {
	net.Conn
	done chan struct{} // closed after Close, once everything is written or writing has failed

	mu      sync.Mutex
	more    *sync.Cond
	unsent  []byte
	closing bool
}

func newBufferedConn(conn net.Conn) *bufferedConn {
	p := &bufferedConn{Conn: conn, done: make(chan struct{})}
	p.more = sync.NewCond(&p.mu)
	go p.send()
	return p
}

func (p *bufferedConn) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closing {
		return 0, net.ErrClosed
	}
	p.unsent = append(p.unsent, data...)
	p.more.Signal()
	return len(data), nil
}

// Close closes the connection once everything is written. It discards further input.
func (p *bufferedConn) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closing {
		p.closing = true
		p.more.Signal()
		go func() { _, _ = io.Copy(io.Discard, p.Conn) }()
	}
	return nil
}

// SetWriteDeadline does nothing: writes do not block, and the deadline that TLS sets
// when it closes would discard buffered data.
func (p *bufferedConn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline sets the deadline for reads.
func (p *bufferedConn) SetDeadline(at time.Time) error { return p.Conn.SetReadDeadline(at) }

func (p *bufferedConn) send() {
	defer close(p.done)
	defer p.Conn.Close()
	for {
		p.mu.Lock()
		for len(p.unsent) == 0 && !p.closing {
			p.more.Wait()
		}
		data := p.unsent
		p.unsent = nil
		p.mu.Unlock()
		if len(data) == 0 {
			return
		}
		if _, err := p.Conn.Write(data); err != nil {
			_ = p.Close()
			return
		}
	}
}
