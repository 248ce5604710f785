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

// DialContext returns a connection to a mail server that takes every message.
// Rules answer to a message by their status, which is then the number of the
// server's reply: 4xx to try again, 5xx for good. Only those that let no connection
// come about are about the connection.
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
	a := &asked{
		caller: outbound.CallerOf(ctx), host: strings.ToLower(address), url: target,
		request: blueprint.ExchangeRequest{Method: methodMail, URL: target.String()},
	}
	rule := s.rules.takeOf(a, (*answer).before)
	note := s.calls.begin(&a.caller, a.request, 0)
	if rule != nil {
		s.expectations.saw(a)
	}
	if err := s.unanswered(ctx, rule, a, note); err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	p := &post{sandbox: s, note: note, asked: a, conn: ours}
	go p.serve(host, secure)
	return &named{Conn: theirs, address: address}, nil
}

// post is one talk with the mail server.
type post struct {
	sandbox *Sandbox
	note    *call
	asked   *asked
	conn    net.Conn
	seen    bool // a message was taken
}

func (p *post) serve(host string, secure *tls.Config) {
	conn, encrypted, err := sniff(p.conn)
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
		p.sandbox.expectations.saw(p.asked)
		p.note.answered(&reply{status: 220, body: "no mail was sent"}, false)
	}
}

// accept takes a message, unless a rule says otherwise.
func (p *post) accept(from string, to []string, data []byte) (int, string) {
	s, a := p.sandbox, p.asked
	if p.seen { // a second one over the same connection is a call of its own
		p.note = s.calls.begin(&a.caller, a.request, 0)
	}
	p.seen = true
	a.request = s.letter(a.request.URL, from, to, data)
	p.note.mail(a.request, len(data))
	s.expectations.saw(a)
	rule := s.rules.takeOf(a, func(one *answer) bool { return !one.before() })
	_ = rule.wait(context.Background()) // the other side closes the connection when it has had enough
	r := &reply{status: 250, body: "queued by the sandbox"}
	if rule.answers() {
		r.status, r.body = rule.status, rule.body
		if r.status < 400 {
			r.status = 250
		}
	}
	if rule != nil && rule.cut {
		p.note.failed("the connection is cut")
		p.conn.Close()
		return 421, "cut"
	}
	p.note.answered(r, false)
	return r.status, messageOf(r.body)
}

// letter returns a mail as the list of calls has it. The headers are from and to
// as the server was told them, subject, and the names of attachments.
func (s *Sandbox) letter(address, from string, to []string, data []byte) blueprint.ExchangeRequest {
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

// sniff finds out, without a clock, whether the other side of a pipe wants to
// hear a greeting or speaks TLS at once: over a pipe nothing can be written
// before somebody reads it, so the first byte to get across tells.
func sniff(conn net.Conn) (net.Conn, bool, error) {
	type first struct {
		b   [1]byte
		err error
	}
	heard := make(chan first, 1)
	var greeted atomic.Bool // nobody says anything before the rest of the greeting
	go func() {
		var f first
		if _, f.err = conn.Read(f.b[:]); !greeted.Load() {
			_ = conn.SetWriteDeadline(time.Unix(1, 0)) // nobody listens to a greeting
		}
		heard <- f
	}()
	if n, _ := conn.Write([]byte{greeting}); n == 1 {
		greeted.Store(true)
		return &begun{Conn: conn, heard: func() ([]byte, error) { f := <-heard; return f.b[:], f.err }, greeted: true}, false, nil
	}
	f := <-heard
	if f.err != nil {
		return nil, false, f.err
	}
	if err := conn.SetWriteDeadline(time.Time{}); err != nil {
		return nil, false, err
	}
	return &begun{Conn: conn, heard: func() ([]byte, error) { return f.b[:], nil }}, true, nil
}

// greeting is the first byte of what a mail server says.
const greeting = '2'

// begun is a connection of which the first byte in each direction may be gone.
// Its reader and its writer are one goroutine each.
type begun struct {
	net.Conn
	heard   func() ([]byte, error) // the first byte that came
	read    bool
	greeted bool
}

// Read returns that byte first.
func (c *begun) Read(p []byte) (int, error) {
	if c.read || len(p) == 0 {
		return c.Conn.Read(p)
	}
	c.read = true
	b, err := c.heard()
	if err != nil {
		return 0, err
	}
	return copy(p, b), nil
}

// Write leaves the first byte of the greeting out: it is there.
func (c *begun) Write(p []byte) (int, error) {
	if !c.greeted || len(p) == 0 {
		return c.Conn.Write(p)
	}
	c.greeted = false
	n, err := c.Conn.Write(p[1:])
	return n + 1, err
}

// named is a connection whose other end has an address as over TCP.
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
