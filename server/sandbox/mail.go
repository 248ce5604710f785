package sandbox

import (
	"context"
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"blueprintd/blueprint"
	"blueprintd/foundation/outbound"
	"blueprintd/foundation/smtpsink"
)

// methodMail is the method of a mail among the calls.
const methodMail = "MAIL"

// DialContext returns a connection to a mail server that accepts every message. The status of
// a matching rule is the reply code for the message: 4xx temporary, 5xx permanent. Rules that
// pause or fail to connect apply to the connection.
func (s *Sandbox) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	secure, err := s.authority.config(host)
	if err != nil {
		return nil, err
	}
	target := &url.URL{Scheme: "smtp", Host: address}
	a := &received{
		caller: outbound.CallerOf(ctx), host: strings.ToLower(address), url: target,
		request: blueprint.ExchangeRequest{Method: methodMail, URL: target.String()},
	}
	rule := s.rules.takeOf(a, (*answer).before)
	note := s.calls.begin(&a.caller, a.request, 0)
	if rule != nil {
		s.expectations.observe(a)
	}
	if err := s.unanswered(ctx, rule, a, note); err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	p := &mailSession{sandbox: s, note: note, received: a, conn: ours}
	go p.serve(host, secure)
	return &named{Conn: theirs, address: address}, nil
}

type mailSession struct {
	sandbox  *Sandbox
	note     *call
	received *received
	conn     net.Conn
	seen     bool // a message was accepted
}

func (p *mailSession) serve(host string, secure *tls.Config) {
	conn, encrypted, err := detectTLS(p.conn)
	if err != nil {
		p.conn.Close()
		p.note.failed("the connection was closed before a mail was sent")
		return
	}
	if encrypted {
		smtpsink.Serve(tls.Server(conn, secure), host, nil, p.accept)
	} else {
		smtpsink.Serve(conn, host, secure, p.accept)
	}
	if !p.seen {
		p.sandbox.expectations.observe(p.received)
		p.note.answered(&reply{status: 220, body: "no mail was sent"}, false)
	}
}

// accept accepts a message, unless a rule refuses it.
func (p *mailSession) accept(from string, to []string, data []byte) (int, string) {
	s, a := p.sandbox, p.received
	if p.seen { // further messages of the connection are calls of their own
		p.note = s.calls.begin(&a.caller, a.request, 0)
	}
	p.seen = true
	a.request = s.mailRequest(a.request.URL, from, to, data)
	p.note.mail(a.request, len(data))
	s.expectations.observe(a)
	rule := s.rules.takeOf(a, func(one *answer) bool { return !one.before() })
	_ = rule.wait(context.Background()) // the client closes the connection when it times out
	r := &reply{status: 250, body: "queued by the sandbox"}
	if rule.answers() {
		r.status, r.body = rule.status, rule.body
		if r.status < 400 {
			r.status = 250
		}
	}
	if rule != nil && rule.cut {
		p.note.failed("the connection was closed by a rule")
		p.conn.Close()
		return 421, "cut"
	}
	p.note.answered(r, false)
	return r.status, messageOf(r.body)
}

// mailRequest returns a mail for the list of calls. Its headers are from and to of the
// envelope, subject, and the names of the attachments.
func (s *Sandbox) mailRequest(address, from string, to []string, data []byte) blueprint.ExchangeRequest {
	out := blueprint.ExchangeRequest{Method: methodMail, URL: address, Headers: map[string]string{"from": from, "to": strings.Join(to, ", ")}}
	mail, err := s.Parse(data)
	if err != nil {
		out.Body = shownBody("", data)
		return out
	}
	out.Headers["subject"] = mail.Subject
	var names []string
	for _, file := range mail.Attachments {
		names = append(names, file.Name)
	}
	if names != nil {
		out.Headers["attachments"] = strings.Join(names, ", ")
	}
	if out.Body = mail.Text; mail.Text == "" && mail.HTML != "" {
		out.Body = mail.HTML
	}
	return out
}

// detectTLS reports whether the client at the other end of a pipe starts with TLS or waits
// for a greeting. A write to a pipe blocks until it is read, so the first byte that is
// transferred in either direction decides; no timeout is needed.
func detectTLS(conn net.Conn) (net.Conn, bool, error) {
	type first struct {
		b   [1]byte
		err error
	}
	firstByte := make(chan first, 1)
	var greeted atomic.Bool // the client sends nothing before the rest of the greeting
	go func() {
		var f first
		if _, f.err = conn.Read(f.b[:]); !greeted.Load() {
			_ = conn.SetWriteDeadline(time.Unix(1, 0)) // the client does not wait for a greeting
		}
		firstByte <- f
	}()
	if n, _ := conn.Write([]byte{greeting}); n == 1 {
		greeted.Store(true)
		return &startedConn{Conn: conn, firstByte: func() ([]byte, error) { f := <-firstByte; return f.b[:], f.err }, greeted: true}, false, nil
	}
	f := <-firstByte
	if f.err != nil {
		return nil, false, f.err
	}
	if err := conn.SetWriteDeadline(time.Time{}); err != nil {
		return nil, false, err
	}
	return &startedConn{Conn: conn, firstByte: func() ([]byte, error) { return f.b[:], nil }}, true, nil
}

// greeting is the first byte of a mail server's greeting.
const greeting = '2'

// startedConn is a connection whose first byte in each direction may have been transferred
// already. It is for one reader and one writer.
type startedConn struct {
	net.Conn
	firstByte func() ([]byte, error) // the first byte received
	read      bool
	greeted   bool
}

// Read returns the first byte, then reads from the connection.
func (c *startedConn) Read(p []byte) (int, error) {
	if c.read || len(p) == 0 {
		return c.Conn.Read(p)
	}
	c.read = true
	b, err := c.firstByte()
	if err != nil {
		return 0, err
	}
	return copy(p, b), nil
}

// Write omits the first byte of the greeting if it has been sent.
func (c *startedConn) Write(p []byte) (int, error) {
	if !c.greeted || len(p) == 0 {
		return c.Conn.Write(p)
	}
	c.greeted = false
	n, err := c.Conn.Write(p[1:])
	return n + 1, err
}

// named is a connection with a TCP remote address.
type named struct {
	net.Conn
	address string
}

// RemoteAddr returns the requested address; a documentation address for a name.
func (c *named) RemoteAddr() net.Addr {
	host, _, _ := net.SplitHostPort(c.address)
	ip := net.ParseIP(host)
	switch {
	case ip != nil:
	case host == "localhost":
		ip = net.IPv4(127, 0, 0, 1)
	default:
		ip = net.IPv4(192, 0, 2, 1)
	}
	return &net.TCPAddr{IP: ip}
}
