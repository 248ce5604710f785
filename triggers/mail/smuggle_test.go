package mail

import (
	"fmt"
	"strings"
	"testing"
)

// TestEndOfMessage sends sequences that other servers interpret as the end of a
// message, followed by a second message. Only CR LF . CR LF is one; with any other,
// there is one message or a refusal, never two messages.
func TestEndOfMessage(t *testing.T) {
	address, box := serve(t)
	second := "MAIL FROM:<eve@example.org>\r\nRCPT TO:<def@flows.example.org>\r\nDATA\r\nSubject: smuggled\r\n\r\nhello\r\n.\r\n"
	for _, end := range []string{
		"\n.\n", "\n.\r\n", "\r.\r", "\r.\n", "\r.\r\n", "\n.\r", "\r\n.\n", "\r\n.\r", "\r\n.\r\r\n", "\r\r\n.\r\r\n", "\r\r\n.\r\n", "\r\n\x00.\r\n",
		"\r\n.\x00\r\n", "\n\n.\r\n", "\n.\n\n", "\r\n.\n\r", "\r\n .\r\n", "\r\n. \r\n", "\x85.\x85", "\u2028.\u2028", "\r\n..\r\n", "\v.\v", "\f.\f", "\n\r.\n\r", "\r\n\r.\r\n", "\r.\r\r\n",
	} {
		t.Run(fmt.Sprintf("%q", end), func(t *testing.T) {
			before := len(box.mails())
			c := dial(t, address).begin()
			c.send("Subject: first\r\n\r\nbody" + end + second)
			c.send("\r\n.\r\n")
			answer := c.read()
			got := box.mails()[before:]
			for _, mail := range got {
				if mail.local != "abc" || mail.Mail.Subject != "first" {
					t.Fatalf("got a mail for %s with the subject %q, want only the first one, for abc", mail.local, mail.Mail.Subject)
				}
			}
			switch {
			case strings.HasPrefix(answer, "554") && len(got) == 0:
			case strings.HasPrefix(answer, "250") && len(got) == 1 && strings.Contains(string(got[0].Raw), "Subject: smuggled"):
			default:
				t.Fatalf("got the reply %q and %d mails, want 554 and none or 250 and one", answer, len(got))
			}
		})
	}
}

// TestBareLineEnds tests that a bare CR or LF in a message refuses it and ends the
// connection.
func TestBareLineEnds(t *testing.T) {
	address, box := serve(t)
	for name, text := range map[string]string{
		"LF in the header": "Subject: a\nX: b\r\n\r\nbody\r\n", "LF in the body": "Subject: a\r\n\r\none\ntwo\r\n", "CR in the body": "Subject: a\r\n\r\none\rtwo\r\n",
		"CR at the end": "Subject: a\r\n\r\none\r\r\n", "LF first": "\nSubject: a\r\n", "CR first": "\rSubject: a\r\n", "a long line": strings.Repeat("x", maxLine+1) + "\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c := dial(t, address).begin()
			c.send(text)
			c.command(".", "554 5.6.0")
			c.command("MAIL FROM:<>", "closed")
		})
	}
	if n := len(box.mails()); n != 0 {
		t.Errorf("%d mails, want 0", n)
	}
	c := dial(t, address).begin()
	c.send("Subject: dots\r\n\r\n..\r\n..two\r\n.\r.\r\n")
	c.command(".", "554")
	c = dial(t, address).begin()
	c.send("Subject: dots\r\n\r\n..\r\n..two\r\nx.\r\n")
	c.command(".", "250")
	if got := string(box.mails()[0].Raw); !strings.HasSuffix(got, "\r\n\r\n.\r\n.two\r\nx.\r\n") {
		t.Errorf("%q", got)
	}
}

func TestCommandsEndWithCRLF(t *testing.T) {
	address, _ := serve(t)
	for _, line := range []string{"NOOP\n", "NO\rOP\r\n", "NOOP\r\r\n", "NOOP\x00\r\n", "NOOP " + strings.Repeat("x", 3000) + "\r\n"} {
		c := dial(t, address).greet()
		c.send(line + "MAIL FROM:<a@b.c>\r\n")
		if answer := c.read(); !strings.HasPrefix(answer, "500") {
			t.Errorf("%q: %q, want \"500\" at the start", line, answer)
		}
		if answer := c.read(); answer != "closed" {
			t.Errorf("%q: then %q, want closed", line, answer)
		}
	}
}

// TestPipelining tests that commands sent together are answered in order.
func TestPipelining(t *testing.T) {
	address, box := serve(t)
	c := dial(t, address).greet()
	c.send("MAIL FROM:<a@example.org>\r\nRCPT TO:<ABC@Flows.Example.ORG>\r\nRCPT TO:<nobody@flows.example.org>\r\nRCPT TO:<def@flows.example.org>\r\nDATA\r\n")
	for _, want := range []string{"250", "250", "550", "250", "354"} {
		if got := c.read(); !strings.HasPrefix(got, want) {
			t.Fatalf("got %q, want %s", got, want)
		}
	}
	c.send("Subject: both\r\n\r\nx\r\n.\r\nQUIT\r\n")
	for _, want := range []string{"250", "221", "closed"} {
		if got := c.read(); !strings.HasPrefix(got, want) {
			t.Fatalf("got %q, want %s", got, want)
		}
	}
	if got := box.mails(); len(got) != 2 || got[0].local != "abc" || got[1].local != "def" {
		t.Errorf("%v, want length 2, local abc and local def", got)
	}
}
