package mail

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/smtp"
	"slices"
	"strings"
	"testing"
	"time"

	"blueprintd/blueprint"
)

// TestRecipients tests that only the plain address of a mailbox is accepted, and
// that no form of address relays mail.
func TestRecipients(t *testing.T) {
	address, _ := serve(t)
	for path, want := range map[string]string{
		"<abc@flows.example.org>": "250", "<ABC@FLOWS.EXAMPLE.ORG>": "250", " <abc@flows.example.org>": "250", "<def@flows.example.org>": "250",
		"<nobody@flows.example.org>": "550", "<abc@example.org>": "550", "<abc@localhost>": "550", "<abc>": "550", "<>": "550", "<abc@>": "550", "<@flows.example.org>": "550",
		"<abc+tag@flows.example.org>": "550", "<abc%example.org@flows.example.org>": "550", "<example.org!abc@flows.example.org>": "550",
		"<@flows.example.org:abc@flows.example.org>": "550", "<@a.example,@b.example:abc@flows.example.org>": "550", `<"abc"@flows.example.org>`: "550",
		`<"abc@example.org"@flows.example.org>`: "550", "<abc@example.org@flows.example.org>": "550", "<abc@flows.example.org@example.org>": "550", "abc@flows.example.org": "550",
		"<abc@[127.0.0.1]>": "550", "<abc@flows.example.org.>": "550", "<abc(x)@flows.example.org>": "550", "<a.bc@flows.example.org>": "550", "<äbc@flows.example.org>": "550",
		"<postmaster>": "550", "<abc@flows.example.org> NOTIFY=NEVER": "504", "<abc@flows.example.org>x": "550", "<abc:example.org@flows.example.org>": "550", "<abc\\@x@flows.example.org>": "550",
		"<" + strings.Repeat("a", 65) + "@flows.example.org>": "550", "<abc @flows.example.org>": "550", "<abc@flows.example.org\t>": "550",
	} {
		t.Run(path, func(t *testing.T) {
			c := dial(t, address).greet()
			c.command("MAIL FROM:<ada@example.org>", "250")
			c.command("RCPT TO:"+path, want)
			if want != "250" {
				c.command("DATA", "502")
			}
			c.command("QUIT", "221")
		})
	}
}

func TestManyUnknownRecipientsEndTheConnection(t *testing.T) {
	address, _ := serve(t)
	for _, path := range []string{"<nobody@flows.example.org>", "<nobody@example.org>", "<a%b@flows.example.org>"} {
		c := dial(t, address).greet()
		c.command("MAIL FROM:<ada@example.org>", "250")
		for range maxRefused {
			c.command("RCPT TO:"+path, "550")
		}
		c.command("RCPT TO:"+path, "421")
		if got := c.read(); got != "closed" {
			t.Errorf("%s: after the last reply: got %q, want the connection closed", path, got)
		}
	}
}

// TestReplies tests how the decisions of two recipients become one reply.
func TestReplies(t *testing.T) {
	later, never := blueprint.Errorf(blueprint.CodeUnavailable, "full"), blueprint.Errorf(blueprint.CodeBadRequest, "it has no nodes")
	for _, test := range []struct {
		abc, def error
		want     string
	}{
		{nil, nil, "250"}, {later, nil, "451 4.3.0"}, {nil, later, "451"}, {never, nil, "554 5.7.1 the message is refused: it has no nodes"}, {never, later, "451"},
		{blueprint.Errorf(blueprint.CodeNotFound, "gone"), nil, "554"}, {blueprint.Errorf(blueprint.CodeInternal, "x"), nil, "451"}, {fmt.Errorf("plain"), nil, "451"},
	} {
		t.Run(fmt.Sprint(test.abc, ", ", test.def), func(t *testing.T) {
			address, box := serve(t)
			box.answers["abc"], box.answers["def"] = test.abc, test.def
			c := dial(t, address).greet()
			c.command("MAIL FROM:<ada@example.org>", "250")
			c.command("RCPT TO:<abc@flows.example.org>", "250")
			c.command("RCPT TO:<def@flows.example.org>", "250")
			c.command("RCPT TO:<abc@flows.example.org>", "250") // has no effect
			c.command("DATA", "354")
			c.send("Subject: x\r\n\r\n")
			c.command(".", test.want)
			if n := len(box.mails()); n != 2 {
				t.Errorf("got %d mails, want one for each recipient", n)
			}
		})
	}
	address, box := serve(t)
	box.closed["abc"] = later
	c := dial(t, address).greet()
	c.command("MAIL FROM:<>", "250")
	c.command("RCPT TO:<abc@flows.example.org>", "451")
}

func TestExtensions(t *testing.T) {
	address, _ := serve(t, func(o *Options) { o.MaxMessage = 5000 })
	c := dial(t, address)
	c.read()
	offered := c.command("EHLO x", "250")
	for _, not := range []string{"CHUNKING", "STARTTLS", "AUTH", "BINARYMIME", "SMTPUTF8"} {
		if strings.Contains(offered, not) {
			t.Errorf("%s is offered: %s", not, offered)
		}
	}
	if !strings.Contains(offered, "250-SIZE 5000\n") || !strings.Contains(offered, "PIPELINING") || !strings.Contains(offered, "8BITMIME") {
		t.Errorf("%v, want %q in it, \"PIPELINING\" in it and \"8BITMIME\" in it", offered, "250-SIZE 5000\n")
	}
	c.command("AUTH PLAIN AGEAYg==", "502")
	c.command("STARTTLS", "502")
	c.command("STARTTLS now", "501")
	c.command("VRFY abc", "252")
	c.command("EXPN abc", "502")
	c.command("MAIL FROM:<a@example.org> SIZE=5000", "250")
	c.command("RCPT TO:<abc@flows.example.org>", "250")
	c.command("BDAT 3 LAST", "502")
	if got := c.read(); got != "closed" {
		t.Errorf("%v, want closed", got)
	}
}

// TestSize tests that a message of the maximum size is accepted, that a longer one
// is refused and reported to its recipients, and that the session goes on.
func TestSize(t *testing.T) {
	address, box := serve(t, func(o *Options) { o.MaxMessage = 5000 })
	for size, want := range map[int]string{4999: "250", 5000: "250", 5001: "552", 5002: "552", 9000: "552"} {
		c := dial(t, address).begin()
		c.send("Subject: x\r\n\r\n" + strings.Repeat("x", size-16) + "\r\n")
		c.command(".", want)
		c.command("NOOP", "250")
	}
	for _, mail := range box.mails() {
		if n := len(mail.Raw); n != 4999 && n != 5000 {
			t.Errorf("%d bytes", n)
		}
	}
	c := dial(t, address).greet() // the announced size is refused at RCPT
	c.command("MAIL FROM:<a@example.org> SIZE=90000000", "250")
	c.command("RCPT TO:<nobody@flows.example.org>", "550")
	c.command("RCPT TO:<abc@flows.example.org>", "554 5.3.4")
	c.command("DATA", "502")
	c.command("RSET", "250")
	c.command("MAIL FROM:<a@example.org>", "250")
	c.command("RCPT TO:<abc@flows.example.org>", "250")
	c.command("RCPT TO:<def@flows.example.org>", "250")
	c.command("DATA", "354")
	c.send("Subject: x\r\n\r\n" + strings.Repeat("x", 8000-16) + "\r\n")
	c.command(".", "552")
	refused := box.refusals()
	for _, want := range []string{"abc 5001", "abc 5002", "abc 9000", "abc 90000000", "abc 8000", "def 8000"} {
		i := slices.IndexFunc(refused, func(one string) bool { return strings.HasPrefix(one, want+" the message is too large from ") })
		if i < 0 {
			t.Fatalf("got the refusals %q, want %s among them", refused, want)
		}
		refused = slices.Delete(refused, i, i+1)
	}
	if len(refused) > 0 {
		t.Errorf("got the further refusals %q, want none", refused)
	}
	for text, want := range map[string]string{"a\nb\r\n": "the message has an LF without a CR", strings.Repeat("X: y\r\n", 300): "more than 200 fields"} {
		t.Run(text, func(t *testing.T) {
			c = dial(t, address).begin()
			c.send(text)
			c.command(".", "554")
			refused := box.refusals()
			if last := refused[len(refused)-1]; !strings.HasPrefix(last, "abc ") || !strings.Contains(last, want) {
				t.Errorf("got the refusal %q, want one of abc with %q", last, want)
			}
		})
	}
	c = dial(t, address).begin()
	c.send(strings.Repeat(strings.Repeat("x", 998)+"\r\n", 200)) // beyond twice the limit the transfer is aborted
	for got := c.read(); got != "closed"; got = c.read() {
		if !strings.HasPrefix(got, "552") && !strings.HasPrefix(got, "421") {
			t.Errorf("%q", got)
		}
	}
}

// TestLargeMessages tests that the number of large messages in memory is limited.
func TestLargeMessages(t *testing.T) {
	const mostLarge = 8
	address, box := serve(t, func(o *Options) { o.MaxLargeFrom = mostLarge + 1 })
	box.hold, box.entered = make(chan struct{}), make(chan struct{}, 20)
	large := "Subject: large\r\n\r\n" + strings.Repeat(strings.Repeat("x", 998)+"\r\n", 1100)
	var waiting []*client
	for range mostLarge {
		c := dial(t, address).begin()
		c.send(large + ".\r\n")
		<-box.entered
		waiting = append(waiting, c)
	}
	c := dial(t, address).begin()
	c.send(large)
	c.command(".", "452 4.3.1")
	small := dial(t, address).begin()
	small.send("Subject: small\r\n\r\n.\r\n")
	close(box.hold)
	if got := small.read(); !strings.HasPrefix(got, "250") {
		t.Errorf("%v, want \"250\" at the start", got)
	}
	for _, c := range waiting {
		if got := c.read(); !strings.HasPrefix(got, "250") {
			t.Errorf("%v, want \"250\" at the start", got)
		}
	}
}

func TestConnectionLimits(t *testing.T) {
	address, _ := serve(t, func(o *Options) { o.MaxPerAddress = 3 })
	var open []*client
	for range 3 {
		open = append(open, dial(t, address).greet())
	}
	if got := dial(t, address).read(); !strings.HasPrefix(got, "421 4.7.0") {
		t.Errorf("%v, want \"421 4.7.0\" at the start", got)
	}
	open[0].command("QUIT", "221")
	for deadline := time.Now().Add(10 * time.Second); ; {
		if got := dial(t, address).read(); strings.HasPrefix(got, "220") {
			break
		} else if time.Now().After(deadline) {
			t.Fatal(got)
		}
	}
	address, _ = serve(t, func(o *Options) { o.MaxConnections = 1 })
	dial(t, address).greet()
	if got := dial(t, address).read(); !strings.HasPrefix(got, "421 4.7.0") {
		t.Errorf("%v, want \"421 4.7.0\" at the start", got)
	}
}

func TestTimeouts(t *testing.T) {
	quick := Timeouts{Command: 50 * time.Millisecond, Block: 50 * time.Millisecond, Message: 150 * time.Millisecond}
	address, box := serve(t, func(o *Options) { o.Timeouts = quick })
	c := dial(t, address)
	c.read()
	if got := c.read(); !strings.HasPrefix(got, "421 4.4.2") {
		t.Errorf("no command: %q, want \"421 4.4.2\" at the start", got)
	}
	c = dial(t, address).begin()
	c.send("Subject: x\r\n")
	if got := c.read(); !strings.HasPrefix(got, "421 4.4.2") {
		t.Errorf("the rest of the message: %q, want \"421 4.4.2\" at the start", got)
	}
	c = dial(t, address).begin()
	ended := make(chan string)
	go func() { ended <- c.read() }()
	for tick := time.NewTicker(10 * time.Millisecond); ; { // bytes that arrive do not extend Timeouts.Message
		select {
		case <-tick.C:
			_, _ = c.conn.Write([]byte("x"))
			continue
		case got := <-ended:
			tick.Stop()
			if !strings.HasPrefix(got, "421") && got != "closed" {
				t.Errorf("slow message: %q", got)
			}
		}
		break
	}
	c = dial(t, address).begin()
	c.send("Subject: broken off\r\n\r\nhello\r\n")
	c.conn.Close()
	if n := len(box.mails()); n != 0 {
		t.Errorf("got %d incomplete mails, want none", n)
	}
}

// TestStop tests that idle connections end with 421, and that a transfer in
// progress completes.
func TestStop(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address, box := serve(t, func(o *Options) { o.Listener.Close(); o.Listener = listener })
	idle, busy := dial(t, listener.Addr().String()).greet(), dial(t, listener.Addr().String()).begin()
	_ = address
	listener.Close() // ends Run as its context would
	if got := idle.read(); !strings.HasPrefix(got, "421 4.3.2") {
		t.Errorf("%v, want \"421 4.3.2\" at the start", got)
	}
	busy.send("Subject: last\r\n\r\n")
	busy.command(".", "250")
	if got := busy.read(); !strings.HasPrefix(got, "421 4.3.2") {
		t.Errorf("%v, want \"421 4.3.2\" at the start", got)
	}
	if n := len(box.mails()); n != 1 {
		t.Errorf("%d mails, want 1", n)
	}
}

// certificate returns a self-signed certificate for a name.
func certificate(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour)}
	made, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}
}

func TestSTARTTLS(t *testing.T) {
	made := certificate(t, "flows.example.org")
	address, box := serve(t, func(o *Options) { o.TLS = &tls.Config{Certificates: []tls.Certificate{made}} })
	sender, err := smtp.Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	if ok, _ := sender.Extension("STARTTLS"); !ok {
		t.Fatal("not offered")
	}
	leaf, _ := x509.ParseCertificate(made.Certificate[0])
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	if err := sender.StartTLS(&tls.Config{RootCAs: roots, ServerName: "flows.example.org"}); err != nil {
		t.Fatal(err)
	}
	if ok, _ := sender.Extension("STARTTLS"); ok {
		t.Error("offered twice")
	}
	if err := sender.Mail("ada@example.org"); err != nil {
		t.Fatal(err)
	}
	if err := sender.Rcpt("abc@flows.example.org"); err != nil {
		t.Fatal(err)
	}
	w, err := sender.Data()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("Subject: encrypted\n\n" + strings.Repeat("line\n", 1000)))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := sender.Quit(); err != nil {
		t.Error(err)
	}
	if got := box.mails(); len(got) != 1 || !got[0].TLS || got[0].Hello != "localhost" || !bytes.HasPrefix(got[0].Raw, []byte("Subject: encrypted\r\n")) {
		t.Errorf("%+v", got)
	}
	c := dial(t, address).greet()
	c.send("STARTTLS\r\nMAIL FROM:<eve@example.org>\r\n") // would be read as if sent with TLS
	if got := c.read(); !strings.HasPrefix(got, "554") {
		t.Errorf("%v, want \"554\" at the start", got)
	}
	if got := c.read(); got != "closed" {
		t.Errorf("%v, want closed", got)
	}
	c = dial(t, address).greet() // the state from before TLS is discarded
	c.command("MAIL FROM:<eve@example.org>", "250")
	c.command("RCPT TO:<abc@flows.example.org>", "250")
	c.command("STARTTLS", "220")
	secured := tls.Client(c.conn, &tls.Config{RootCAs: roots, ServerName: "flows.example.org"})
	encrypted := &client{t, secured, bufio.NewReader(secured)}
	encrypted.command("DATA", "502")
	encrypted.command("MAIL FROM:<eve@example.org>", "502")
	encrypted.command("STARTTLS", "503")
	c = dial(t, address).greet()
	c.command("STARTTLS", "220")
	c.send("this is no handshake at all, as every reader can see\r\n")
	for got := c.read(); got != "closed"; got = c.read() {
		if strings.HasPrefix(got, "2") {
			t.Errorf("after a bad handshake: %q", got)
		}
	}
}
