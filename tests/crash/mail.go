package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/textproto"
	"regexp"
	"strings"
	"sync"
	"time"
)

// post is the address where the server receives mail; "" = it is down.
type post struct {
	mu sync.Mutex
	at string
}

func (p *post) open(address string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at = address
}

func (p *post) address() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at
}

// write writes a letter with one or two attachments.
func (s *sender) write(d *delivery) {
	d.id = fmt.Sprintf("<%s@torture.example>", d.id)
	const border = "=_torture"
	var b bytes.Buffer
	fmt.Fprintf(&b, "Message-ID: %s\r\nFrom: Ada <ada@torture.example>\r\nTo: <%s>\r\nSubject: A letter\r\nDate: Sat, 01 Mar 2025 12:00:00 +0000\r\nMIME-Version: 1.0\r\n", d.id, s.of.address)
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

// mostToTalk bounds an SMTP session.
const mostToTalk = 30 * time.Second

// mail sends a letter and reports whether it was accepted. It cuts some connections
// off before the response; the caller sends the same letter again.
func (s *sender) mail(d *delivery) (taken bool) {
	address := s.post.address()
	if address == "" {
		return false
	}
	s.book.count(func(n *counts) { n.Requests++ })
	lost := func() bool {
		s.book.count(func(n *counts) { n.Lost++ })
		return false
	}
	conn, err := net.DialTimeout("tcp", address, 5*time.Second)
	if err != nil {
		return lost()
	}
	defer conn.Close()
	conn.SetDeadline(now().Add(mostToTalk))
	c := textproto.NewConn(conn)
	code, text, err := s.say(c, 220, "")
	for _, step := range []struct {
		want int
		line string
	}{
		{250, "EHLO torture.example"}, {250, "MAIL FROM:<ada@torture.example>"},
		{550, "RCPT TO:<unknown" + s.of.address + ">"}, {250, "RCPT TO:<" + s.of.address + ">"}, {354, "DATA"},
	} {
		if err == nil {
			code, text, err = s.say(c, step.want, step.line)
		}
	}
	if err == nil {
		w := c.DotWriter()
		if _, err = w.Write(d.body); err == nil {
			err = w.Close()
		}
	}
	if cut := s.random.IntN(5) == 0; cut && err == nil {
		s.book.count(func(n *counts) { n.Cut++ })
		return false // and the connection is closed
	}
	if err == nil {
		code, text, err = s.say(c, 250, "")
	}
	switch {
	case err == nil:
		d.taken++
		s.book.count(func(n *counts) { n.Letters++ })
		return true
	case code == 0:
		return lost()
	case code < 500:
		s.book.count(func(n *counts) { n.Refused++ })
		return false
	}
	s.book.violated("I10", "", "the letter %s was refused: %d %s", d.id, code, text)
	return false
}

// say sends a line, unless it is empty, and reads the reply, which must have a code. The
// returned code is 0 without a reply.
func (s *sender) say(c *textproto.Conn, want int, line string) (code int, text string, err error) {
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

var itemNumber = regexp.MustCompile(`\[[^\]]*\]`)

// pattern returns the place of a node in its blueprint, "each/call", for its address in a
// run, "each[3]/call".
func pattern(address string) string { return itemNumber.ReplaceAllString(address, "") }

// beside returns the address of another node in the graph of an address. Both places are
// patterns of the same graph.
func beside(address, place string) string {
	return address[:strings.LastIndex(address, "/")+1] + idOf(place)
}

// around returns the address of the for-each node whose item contains a node, "" for a node
// of the run's own graph.
func around(address string) string {
	at := strings.LastIndex(address, "/")
	if at < 0 {
		return ""
	}
	return address[:strings.LastIndex(address[:at], "[")]
}

// after returns the address in a key, which follows the id of the run.
func after(key string) string {
	_, address, _ := strings.Cut(key, "/")
	return address
}

// idOf returns the id of the node of an address.
func idOf(address string) string { return address[strings.LastIndex(address, "/")+1:] }

// before returns the id of the run in a key.
func before(key string) string {
	id, _, _ := strings.Cut(key, "/")
	return id
}
