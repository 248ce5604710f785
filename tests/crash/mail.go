package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// mailAddress is the address where the server receives mail; "" = it is down.
type mailAddress struct {
	mu      sync.Mutex
	address string
}

func (p *mailAddress) set(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.address = address
}

func (p *mailAddress) get() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.address
}

// composeEmail writes an email with one or two attachments.
func (s *sender) composeEmail(d *delivery) {
	d.id = fmt.Sprintf("<%s@torture.example>", d.id)
	const border = "=_torture"
	var b bytes.Buffer
	fmt.Fprintf(&b, "Message-ID: %s\r\nFrom: Ada <ada@torture.example>\r\nTo: <%s>\r\nSubject: An email\r\nDate: Sat, 01 Mar 2025 12:00:00 +0000\r\nMIME-Version: 1.0\r\n", d.id, s.source.address)
	fmt.Fprintf(&b, "Content-Type: multipart/mixed; boundary=\"%s\"\r\n\r\n--%s\r\nContent-Type: text/plain\r\n\r\nHello.\r\n.\r\nBye.\r\n", border, border)
	for i := range 1 + s.random.IntN(2) {
		content := make([]byte, 1+s.random.IntN(30_000))
		for j := range content {
			content[j] = byte(s.random.Uint32())
		}
		d.files = append(d.files, content)
		fmt.Fprintf(&b, "--%s\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=\"file-%d.bin\"\r\nContent-Transfer-Encoding: base64\r\n\r\n", border, i)
		for text := base64.StdEncoding.EncodeToString(content); text != ""; {
			n := min(76, len(text))
			b.WriteString(text[:n] + "\r\n")
			text = text[n:]
		}
	}
	fmt.Fprintf(&b, "--%s--\r\n", border)
	d.body = b.Bytes()
}

// maxSMTPSession bounds an SMTP session.
const maxSMTPSession = 30 * time.Second

// sendEmail sends an email and reports whether it was accepted. It cuts some connections
// off before the response; the caller sends the same email again.
func (s *sender) sendEmail(d *delivery) (accepted bool) {
	address := s.mailServer.get()
	if address == "" {
		return false
	}
	s.history.count(func(n *counts) { n.Requests++ })
	lost := func() bool {
		s.history.count(func(n *counts) { n.Lost++ })
		return false
	}
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return lost()
	}
	defer conn.Close()
	conn.SetDeadline(now().Add(maxSMTPSession))
	c := textproto.NewConn(conn)
	code, text, err := s.command(c, 220, "")
	for _, step := range []struct {
		want int
		line string
	}{
		{250, "EHLO torture.example"}, {250, "MAIL FROM:<ada@torture.example>"},
		{550, "RCPT TO:<unknown" + s.source.address + ">"}, {250, "RCPT TO:<" + s.source.address + ">"}, {354, "DATA"},
	} {
		if err == nil {
			code, text, err = s.command(c, step.want, step.line)
		}
	}
	if err == nil {
		w := c.DotWriter()
		if _, err = w.Write(d.body); err == nil {
			err = w.Close()
		}
	}
	if cut := s.random.IntN(5) == 0; cut && err == nil {
		s.history.count(func(n *counts) { n.EmailsCutOff++ })
		return false // and the connection is closed
	}
	if err == nil {
		code, text, err = s.command(c, 250, "")
	}
	switch {
	case err == nil:
		d.accepted++
		s.history.count(func(n *counts) { n.Emails++ })
		return true
	case code == 0:
		return lost()
	case code < 500:
		s.history.count(func(n *counts) { n.Refused++ })
		return false
	}
	s.history.violated("I10", "", "the email %s was refused: %d %s", d.id, code, text)
	return false
}

// command sends a line, unless it is empty, and reads the reply, which must have a code. The
// returned code is 0 without a reply.
func (s *sender) command(c *textproto.Conn, want int, line string) (code int, text string, err error) {
	if line != "" {
		if err := c.PrintfLine("%s", line); err != nil {
			return 0, "", err
		}
	}
	code, text, err = c.ReadResponse(want)
	if _, answered := err.(*textproto.Error); err != nil && !answered {
		code = 0
	}
	return code, strings.TrimSpace(text), err
}
