package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
	"blueprintd/engine/nodes/smtp"
)

const hello = `{"to": "Grace <grace@example.org>", "subject": "Hello", "text": "Good day."}`

func TestSendEmail(t *testing.T) {
	cases := []struct {
		name    string
		stub    func(*mailStub)
		connect func(map[string]any)
		config  string
		want    []string // commands, by their beginnings, but for EHLO and QUIT
		mail    []string // what the message holds
	}{
		{
			name: "starttls and plain", config: hello,
			want: []string{"STARTTLS", "AUTH PLAIN ", "MAIL FROM:<ada@sender.example>", "RCPT TO:<grace@example.org>", "DATA"},
			mail: []string{"From: \"Ada L.\" <ada@sender.example>\r\n", "To: \"Grace\" <grace@example.org>\r\n", "Subject: Hello\r\n", "Date: Sat, 31 Jan 2026 12:00:00 +0000\r\n", "Auto-Submitted: auto-generated\r\n", "\r\n\r\nGood day.\r\n"},
		},
		{
			name: "tls from the start, login", config: hello,
			stub:    func(s *mailStub) { s.implicit, s.offers = true, []string{"AUTH LOGIN XOAUTH2"} },
			connect: func(c map[string]any) { c["tls"] = "tls" },
			want:    []string{"AUTH LOGIN", "MAIL FROM:<ada@sender.example>", "RCPT", "DATA"},
		},
		{
			name: "unencrypted on loopback", config: hello,
			stub:    func(s *mailStub) { s.offers = []string{"AUTH PLAIN"} },
			connect: func(c map[string]any) { c["tls"] = "none" },
			want:    []string{"AUTH PLAIN ", "MAIL", "RCPT", "DATA"},
		},
		{
			name: "no login, and STARTTLS in spite of no word about it", config: hello,
			connect: func(c map[string]any) { delete(c, "username"); delete(c, "tls") },
			want:    []string{"STARTTLS", "MAIL", "RCPT", "DATA"},
		},
		{
			name:   "everybody once",
			config: `{"to": ["a@x.org", "B <b@x.org>, c@x.org"], "cc": "d@x.org, a@x.org", "bcc": ["e@x.org"], "replyTo": "r@x.org", "subject": "x", "text": ""}`,
			want:   []string{"STARTTLS", "AUTH", "MAIL", "RCPT TO:<a@x.org>", "RCPT TO:<b@x.org>", "RCPT TO:<c@x.org>", "RCPT TO:<d@x.org>", "RCPT TO:<e@x.org>", "DATA"},
			mail:   []string{"To: a@x.org, \"B\" <b@x.org>, c@x.org\r\n", "Cc: d@x.org, a@x.org\r\n", "Reply-To: r@x.org\r\n"},
		},
		{
			name:   "addresses beyond ASCII",
			config: `{"to": "Éva <éva@bücher.example>", "subject": "x", "text": "x"}`,
			want:   []string{"STARTTLS", "AUTH", "MAIL FROM:<ada@sender.example> SMTPUTF8 BODY=8BITMIME", "RCPT TO:<éva@bücher.example>", "DATA"},
			mail:   []string{"To: =?utf-8?b?w4l2YQ==?= <éva@bücher.example>\r\n"},
		},
		{
			name: "empty lists", config: `{"to": "a@x.org", "cc": "", "bcc": [], "replyTo": null, "subject": "", "text": "x", "html": null}`,
			want: []string{"STARTTLS", "AUTH", "MAIL", "RCPT", "DATA"}, mail: []string{"Subject:\r\n", "Content-Type: text/plain; charset=utf-8\r\n"},
		},
		{
			name: "a server that hangs at the end", config: hello, stub: func(s *mailStub) { s.replies["QUIT"] = "close" },
			want: []string{"STARTTLS", "AUTH", "MAIL", "RCPT", "DATA"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newMailStub(t, c.stub)
			connection := s.connection()
			if c.connect != nil {
				c.connect(connection)
			}
			kind, task := s.sending(t, c.config, connection)
			result, err := kind.Run(t.Context(), task)
			if err != nil {
				t.Fatal(err)
			}
			id, _ := result.Output.(map[string]any)["messageId"].(string)
			mail := s.received()
			if !strings.Contains(mail, "Message-ID: "+id+"\r\n") || !strings.HasPrefix(id, "<") || !strings.HasSuffix(id, "@sender.example>") {
				t.Errorf("id %q, want %q in it, \"<\" at the start and \"@sender.example>\" at the end", id, "Message-ID: "+id+"\r\n")
			}
			if strings.Contains(strings.ToLower(mail), "bcc") || strings.Contains(mail, "e@x.org") {
				t.Error("the message reveals the hidden recipients")
			}
			for _, part := range c.mail {
				if !strings.Contains(mail, part) {
					t.Errorf("%q is not in\n%s", part, mail)
				}
			}
			var commands []string
			for _, command := range s.said("") {
				if !strings.HasPrefix(command, "EHLO ") && command != "QUIT" && command != "" && strings.Contains("STARTTLS AUTH MAIL RCPT DATA", strings.SplitN(command, " ", 2)[0]) {
					commands = append(commands, command)
				}
			}
			if !slices.EqualFunc(commands, c.want, strings.HasPrefix) {
				t.Errorf("commands %q, want %q", commands, c.want)
			}
			if name := s.said("EHLO"); name[0] != "EHLO [127.0.0.1]" {
				t.Errorf("%q, want EHLO [127.0.0.1]", name)
			}
			// Another attempt is the same message.
			task.Attempt, task.Now = 2, now.AddDate(0, 0, 1)
			s.mu.Lock()
			s.mails = nil
			s.mu.Unlock()
			if again, err := kind.Run(t.Context(), task); err != nil || again.Output.(map[string]any)["messageId"] != id {
				t.Errorf("another attempt: %v %v, want messageId %v", again.Output, err, id)
			}
		})
	}
}

func TestSendEmailFails(t *testing.T) {
	reply := func(key, text string) func(*mailStub) {
		return func(s *mailStub) { s.replies[key] = text }
	}
	cases := []struct {
		name      string
		stub      func(*mailStub)
		connect   func(map[string]any)
		config    string
		code      string
		permanent bool
		unknown   bool // the outcome
		message   string
	}{
		{name: "no STARTTLS", stub: func(s *mailStub) { s.offers = []string{"AUTH PLAIN"} }, code: codeCertificate, permanent: true, message: "does not offer STARTTLS"},
		{name: "STARTTLS refused", stub: reply("STARTTLS", "454 4.7.0 not now"), code: smtp.CodeRejected, message: "454 4.7.0 not now"},
		{name: "unknown certificate", stub: func(s *mailStub) { s.roots = nil }, code: codeCertificate, message: "its issuer is not known"},
		{name: "unknown certificate, tls", stub: func(s *mailStub) { s.roots, s.implicit = nil, true }, connect: func(c map[string]any) { c["tls"] = "tls" }, code: codeCertificate, message: "not trusted"},
		{name: "no TLS there", stub: func(s *mailStub) { s.lenient = true }, connect: func(c map[string]any) { c["tls"] = "tls" }, code: codeCertificate, message: `set tls of the connection to "starttls"`},
		{name: "wrong password", connect: func(c map[string]any) { c["password"] = "wrong" }, code: smtp.CodeLogin, permanent: true, message: "(535 5.7.8)"},
		{name: "login later", stub: reply("AUTH", "454 4.7.0 later"), code: smtp.CodeLogin, message: "(454 4.7.0)"},
		{name: "no login there", stub: func(s *mailStub) { s.offers = []string{"STARTTLS"} }, code: smtp.CodeLogin, permanent: true, message: "offers no way to log in"},
		{name: "asks for more", stub: reply("AUTH", "334 bW9yZQ=="), code: codeConnect, message: "closed the connection"},
		{name: "busy", stub: reply("greeting", "421 4.3.2 too many of you"), code: smtp.CodeRejected, message: "421 4.3.2 too many of you"},
		{name: "not for us", stub: reply("greeting", "554 no mail here"), code: smtp.CodeRejected, permanent: true, message: "554 no mail here"},
		{name: "no mail server", stub: reply("greeting", "HTTP/1.1 400 Bad Request"), code: codeConnect, message: "does not speak SMTP"},
		{name: "silent", stub: reply("greeting", "close"), code: codeConnect, message: "closed the connection"},
		{name: "talkative", stub: reply("greeting", "220-"+strings.Repeat("x", 2<<20)), code: codeTooLarge, message: "too much data"},
		{name: "sender", stub: reply("MAIL", "550 5.7.1 not as that\x07 sender"), code: smtp.CodeRejected, permanent: true, message: "550 5.7.1 not as that sender"},
		{name: "one recipient", stub: reply("RCPT TO:<b@", "550 5.1.1 unknown"), config: `{"to": "a@x.org, b@x.org, c@x.org", "subject": "x", "text": "x"}`, code: smtp.CodeRecipients, permanent: true, message: "the message was not sent: b@x.org (550 5.1.1 unknown)"},
		{name: "grey", stub: reply("RCPT", "451 4.7.1 later"), config: `{"to": "a@x.org, b@x.org", "subject": "x", "text": "x"}`, code: smtp.CodeRecipients, message: "a@x.org (451 4.7.1 later); b@x.org (451 4.7.1 later)"},
		{name: "leaves", stub: reply("RCPT", "421 bye"), config: `{"to": "a@x.org, b@x.org", "subject": "x", "text": "x"}`, code: smtp.CodeRecipients, message: "a@x.org (421 bye)"},
		{name: "gone at a recipient", stub: reply("RCPT", "close"), code: codeConnect, message: "closed the connection"},
		{name: "no data", stub: reply("DATA", "554 5.5.1 no"), code: smtp.CodeRejected, permanent: true, message: "554 5.5.1 no"},
		{name: "gone at data", stub: reply("DATA", "close"), code: codeConnect, message: "nothing was sent"},
		{name: "refused at the end", stub: reply("end", "552 5.3.4 too big"), code: smtp.CodeRejected, permanent: true, message: "552 5.3.4 too big"},
		{name: "later at the end", stub: reply("end", "451 4.3.0 disk full"), code: smtp.CodeRejected, message: "451 4.3.0 disk full"},
		{name: "gone at the end", stub: reply("end", "close"), code: smtp.CodeUnknown, unknown: true, message: "may have been sent"},
		{name: "nonsense at the end", stub: reply("end", "all right"), code: smtp.CodeUnknown, unknown: true, message: "may have been sent"},
		{name: "odd at the end", stub: reply("end", "354 more"), code: smtp.CodeUnknown, unknown: true, message: "may have been sent"},
		{name: "too large", config: `{"to": "a@x.org", "subject": "x", "text": "` + strings.Repeat("x", 100_000) + `"}`, code: codeTooLarge, permanent: true, message: "100000 bytes"},
		{name: "ASCII only", stub: func(s *mailStub) { s.offers = allOffers[:2] }, config: `{"to": "a@bücher.example", "subject": "é", "text": "é"}`, code: smtp.CodeRejected, permanent: true, message: "xn--"},
		{name: "refused address", connect: func(c map[string]any) { c["host"] = "10.0.0.1" }, code: codeRefused, message: "a private address"},
		{name: "closed port", connect: func(c map[string]any) { c["port"] = closedPort(c) }, code: codeConnect, message: "connection refused"},
		{name: "no host", connect: func(c map[string]any) { delete(c, "host") }, code: codeConnection, permanent: true, message: "its host"},
		{name: "no port", connect: func(c map[string]any) { c["port"] = "25" }, code: codeConnection, permanent: true, message: "its port"},
		{name: "bad tls", connect: func(c map[string]any) { c["tls"] = "ssl" }, code: codeConnection, permanent: true, message: "its tls"},
		{name: "bad from", connect: func(c map[string]any) { c["from"] = "ada" }, code: codeConnection, permanent: true, message: "its from"},
		{name: "two senders", connect: func(c map[string]any) { c["from"] = "a@x.org, b@x.org" }, code: codeConnection, permanent: true, message: "one address"},
		{name: "bad password", connect: func(c map[string]any) { c["password"] = "a\x00b" }, code: codeConnection, permanent: true, message: "cannot be sent"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := newMailStub(t, c.stub)
			connection := s.connection()
			if c.connect != nil {
				c.connect(connection)
			}
			if c.config == "" {
				c.config = hello
			}
			kind, task := s.sending(t, c.config, connection)
			_, err := kind.Run(t.Context(), task)
			var f *blueprint.Failure
			if !errors.As(err, &f) {
				t.Fatalf("%v", err)
			}
			if f.Code != c.code || f.Permanent != c.permanent || f.NotSent == c.unknown || !strings.Contains(f.Message, c.message) {
				t.Errorf("%+v, want %s, permanent %t, unknown %t, %q", f, c.code, c.permanent, c.unknown, c.message)
			}
			if strings.Contains(f.Message, "secret-of-ada") || strings.ContainsAny(f.Message, "\r\n\x07") {
				t.Errorf("%q", f.Message)
			}
			if s.received() != "" {
				t.Error("a message was sent anyway")
			}
		})
	}
}

// closedPort returns a port without a listener.
func closedPort(map[string]any) json.Number {
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return json.Number(port)
}

func TestSendEmailInTime(t *testing.T) {
	for _, c := range []struct{ at, code string }{{"greeting", codeTimeout}, {"EHLO", codeTimeout}, {"STARTTLS", codeTimeout}, {"AUTH", codeTimeout}, {"MAIL", codeTimeout}, {"DATA", codeTimeout}, {"end", smtp.CodeUnknown}} {
		t.Run(c.at, func(t *testing.T) {
			s := newMailStub(t, func(s *mailStub) { s.replies[c.at] = "hang" })
			kind, task := s.sending(t, hello, s.connection())
			_, err := kind.Run(expiring{t.Context(), s.hung}, task)
			var f *blueprint.Failure
			if !errors.As(err, &f) || f.Code != c.code || f.NotSent != (c.code == codeTimeout) {
				t.Errorf("%+v, want code %v", err, c.code)
			}
		})
	}
	// A server that speaks TLS from the start waits for the other side to begin.
	waits := newMailStub(t, func(s *mailStub) { s.replies["greeting"] = "hang" })
	port, _ := strconv.ParseInt(string(waits.connection()["port"].(json.Number)), 10, 64)
	server := &smtp.Server{Host: "127.0.0.1", Port: port, TLS: smtp.StartTLS, GreetingTimeout: 50 * time.Millisecond}
	var f *blueprint.Failure
	if err := smtp.Send(t.Context(), waits.client(), server, &smtp.Message{}, nil); !errors.As(err, &f) || f.Code != codeTimeout || !f.NotSent || !strings.Contains(f.Message, `set tls of the connection to "tls"`) {
		t.Errorf("%v, want Code %v, NotSent and set tls of the connection to \"tls\" in it", err, codeTimeout)
	}
	s := newMailStub(t, func(s *mailStub) { s.replies["end"] = "hang" })
	kind, task := s.sending(t, hello, s.connection())
	ctx, cancel := context.WithCancel(t.Context())
	defer context.AfterFunc(expiring{t.Context(), s.hung}, cancel)()
	if _, err := kind.Run(ctx, task); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, want %v", err, context.Canceled)
	}
}

// expiring is a context whose time is over when a channel closes.
type expiring struct {
	context.Context
	over chan struct{}
}

func (e expiring) Done() <-chan struct{} { return e.over }

func (e expiring) Err() error {
	select {
	case <-e.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func TestSendEmailConfig(t *testing.T) {
	kind := sendEmail(Dependencies{})
	cases := []struct{ config, static, run string }{
		{hello, "", ""},
		{`{"to": "{{x}}", "cc": ["{{x}}", "a@b"], "subject": "{{x}}", "text": 1}`, "", ""},
		{`{"to": "", "subject": "", "text": ""}`, "to: must have at least one address", "to: must have at least one address"},
		{`{"to": [], "subject": "", "text": ""}`, "to: must have at least one address", "to: must have at least one address"},
		{`{"to": null, "subject": "", "text": ""}`, "to: must have at least one address", "to: must have at least one address"},
		{`{"subject": "", "text": ""}`, "to: required", "to: required"},
		{`{"to": "a@b"}`, "subject: required; text: required", "subject: required; text: required"},
		{`{"to": "a@b\r\nBcc: c@d", "subject": "", "text": ""}`, "to: must be one line", "to: must be one line"},
		{`{"to": ["a@b", "c d"], "subject": "", "text": ""}`, "to[1]: must be an address", "to[1]: must be an address"},
		{`{"to": ["a@b", null], "subject": "", "text": ""}`, "to[1]: must be an address, as a string", "to[1]: must be an address, as a string"},
		{`{"to": 7, "subject": "", "text": ""}`, "to: must be a string", "to: must be a string"},
		{`{"to": "\"a@b> x\"@c.org", "subject": "", "text": ""}`, "to: ", "to: "},
		{`{"to": "a@b", "subject": "Hi\r\nBcc: c@d", "text": ""}`, "subject: must be one line", "subject: must be one line"},
		{`{"to": "a@b", "subject": "Hi\u0000", "text": ""}`, "subject: must be one line", "subject: must be one line"},
		{`{"to": "a@b", "subject": "` + strings.Repeat("x", 1001) + `", "text": ""}`, "subject: must be at most", "subject: must be at most"},
		{`{"to": "a@b", "replyTo": "x\ny@z", "subject": "", "text": ""}`, "replyTo: must be one line", "replyTo: must be one line"},
		{`{"to": "a@b", "cc": "` + strings.Repeat("a@b,", 100) + `a@b", "subject": "", "text": ""}`, "to: with cc and bcc", "to: with cc and bcc"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%.200s", c.config), func(t *testing.T) {
			config := object(t, c.config)
			config["connectionId"] = mailID
			got := ""
			for _, issue := range kind.Check(config) {
				if issue.Severity == blueprint.SeverityError {
					got = strings.TrimPrefix(got+"; "+issueText([]blueprint.Issue{issue}), "; ")
				}
			}
			if c.static == "" && got != "" || !strings.HasPrefix(got, c.static) {
				t.Errorf("check %q, want %q", got, c.static)
			}
			if strings.Contains(c.config, "{{") {
				return
			}
			_, err := kind.Run(t.Context(), &blueprint.Task{Config: config})
			want := "config: " + c.run
			if c.run == "" {
				want = "connections are not available"
			}
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("run %v, want %q", err, want)
			}
		})
	}
}
