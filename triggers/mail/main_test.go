package mail

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"blueprintd/blueprint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inbox is a Receiver that stores the mail for its local parts.
type inbox struct {
	mu      sync.Mutex
	answers map[string]error // result of ReceiveMail by local part
	closed  map[string]error // result of Mailbox by local part
	got     []delivered
	refused []string      // local part, size and reason
	hold    chan struct{} // ReceiveMail waits until it closes
	entered chan struct{} // signals that ReceiveMail waits
}

type delivered struct {
	local string
	*blueprint.ReceivedMail
}

func (b *inbox) Mailbox(_ context.Context, local string, _ *blueprint.Envelope) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.closed[local]; err != nil {
		return err
	}
	if _, there := b.answers[local]; !there {
		return blueprint.Errorf(blueprint.CodeNotFound, "no such mailbox")
	}
	return nil
}

func (b *inbox) ReceiveMail(_ context.Context, local string, received *blueprint.ReceivedMail) error {
	if b.hold != nil {
		b.entered <- struct{}{}
		<-b.hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.got = append(b.got, delivered{local, received})
	return b.answers[local]
}

func (b *inbox) RefuseMail(_ context.Context, local string, envelope *blueprint.Envelope, size int64, why blueprint.Reason) {
	reason := why.String()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused = append(b.refused, fmt.Sprintf("%s %d %s from %s", local, size, reason, envelope.From))
}

func (b *inbox) refusals() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.refused)
}

func (b *inbox) mails() []delivered {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]delivered{}, b.got...)
}

// zone is a Resolver with TXT and, under "a:", A records by name. Other names do not
// exist; lookups of "!" time out.
type zone map[string][]string

func (z zone) find(ctx context.Context, name string) ([]string, error) {
	records, there := z[strings.TrimSuffix(strings.ToLower(name), ".")]
	switch {
	case !there:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	case len(records) == 1 && records[0] == "!":
		return nil, &net.DNSError{Err: "timeout", Name: name, IsTimeout: true, IsTemporary: true}
	}
	return records, nil
}

func (z zone) LookupTXT(ctx context.Context, name string) ([]string, error) { return z.find(ctx, name) }
func (z zone) LookupMX(ctx context.Context, name string) ([]*net.MX, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}
func (z zone) LookupAddr(ctx context.Context, name string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}
func (z zone) LookupIPAddr(ctx context.Context, name string) (list []net.IPAddr, err error) {
	found, err := z.find(ctx, "a:"+name)
	for _, text := range found {
		list = append(list, net.IPAddr{IP: net.ParseIP(text)})
	}
	return list, err
}

// listening returns a listener that the end of the test closes.
func listening(t testing.TB) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// serve runs a server for flows.example.org with the mailboxes abc and def until
// the test ends.
func serve(t testing.TB, change ...func(*Options)) (address string, box *inbox) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box = &inbox{answers: map[string]error{"abc": nil, "def": nil}, closed: map[string]error{}}
	options := Options{Listener: listener, Domain: "flows.example.org", Receiver: box, Resolver: zone{}, Logger: slog.New(slog.DiscardHandler)}
	for _, f := range change {
		f(&options)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- New(options).Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return listener.Addr().String(), box
}

// client is an SMTP client that sends exactly what a test says.
type client struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func dial(t testing.TB, address string) *client {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{t, conn, bufio.NewReader(conn)}
}

// read returns the next reply, "closed" at the end of the connection.
func (c *client) read() string {
	var all []string
	for {
		line, err := c.in.ReadString('\n')
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			c.t.Fatal("timeout: want a reply or the end of the connection")
		}
		if err != nil {
			return "closed"
		}
		line = strings.TrimRight(line, "\r\n")
		if all = append(all, line); len(line) < 4 || line[3] != '-' {
			return strings.Join(all, "\n")
		}
	}
}

func (c *client) send(text string) {
	if _, err := fmt.Fprint(c.conn, text); err != nil {
		c.t.Logf("send: %v", err)
	}
}

// command sends a line and expects a reply that begins with want.
func (c *client) command(line, want string) string {
	c.t.Helper()
	c.send(line + "\r\n")
	got := c.read()
	if !strings.HasPrefix(got, want) {
		c.t.Fatalf("%q: got %q, want %s", line, got, want)
	}
	return got
}

// begin starts a message to abc, up to the reply to DATA.
func (c *client) begin() *client {
	c.t.Helper()
	c.greet()
	c.command("MAIL FROM:<ada@example.org>", "250")
	c.command("RCPT TO:<abc@flows.example.org>", "250")
	c.command("DATA", "354")
	return c
}

func (c *client) greet() *client {
	c.t.Helper()
	if got := c.read(); !strings.HasPrefix(got, "220") {
		c.t.Fatalf("greeting %q", got)
	}
	c.command("EHLO client.example.org", "250")
	return c
}
