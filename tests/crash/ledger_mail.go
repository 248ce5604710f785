package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/mail"
	"net/textproto"
	"strings"
)

// serveMail accepts mail until the listener is closed.
func (l *ledger) serveMail(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			l.serveSMTP(textproto.NewConn(conn))
		}()
	}
}

// serveSMTP is an SMTP session with one client (RFC 5321) without error handling: a disconnected
// client has sent nothing.
func (l *ledger) serveSMTP(c *textproto.Conn) {
	say := func(format string, args ...any) bool { return c.PrintfLine(format, args...) == nil }
	known := false
	for ok := say("220 ledger"); ok; {
		line, err := c.ReadLine()
		if err != nil {
			return
		}
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO", "HELO":
			ok = say("250-ledger") && say("250-8BITMIME") && say("250 AUTH PLAIN")
		case "AUTH":
			_, secret, _ := strings.Cut(rest, " ")
			plain, _ := base64.StdEncoding.DecodeString(secret)
			if known = string(plain) == "\x00torture\x00"+secretOf("mail"); !known {
				l.recordUnkeyed("mail", fmt.Sprintf("login with wrong credentials %q", plain))
				ok = say("535 authentication failed")
				continue
			}
			ok = say("235 authenticated")
		case "MAIL":
			if !known {
				l.recordUnkeyed("mail", "mail without a login")
			}
			ok = say("250 ok")
		case "DATA":
			if ok = say("354 send the message"); ok {
				data, err := c.ReadDotBytes()
				ok = err == nil && l.receiveEmail(data, say)
			}
		case "QUIT":
			say("221 bye")
			return
		default:
			ok = say("250 ok")
		}
	}
}

// receiveEmail accepts one message and reports whether the session continues.
func (l *ledger) receiveEmail(data []byte, say func(string, ...any) bool) bool {
	e := entry{Kind: "mail"}
	if message, err := mail.ReadMessage(bytes.NewReader(data)); err != nil {
		e.Wrong = "an email that cannot be read: " + err.Error()
	} else {
		e.Key, e.MessageID = markIn(message.Header.Get("Subject")), message.Header.Get("Message-ID")
	}
	if piece := findSecret(string(data)); piece != "" {
		e.Wrong = "an email holds a secret: " + piece
	}
	e.Node = pattern(addressIn(e.Key))
	behavior := "later"
	if hashOf(e.Key)%7 == 0 {
		behavior = "cut"
	}
	if l.handle(context.Background(), &e, behavior); e.Status == 0 {
		return false
	}
	if e.Status == http.StatusTooManyRequests {
		return say("452 try again later")
	}
	return say("250 accepted")
}
