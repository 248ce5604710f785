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

// inbox takes mail for the local parts that it has, and keeps it.
type inbox struct {
	mu      sync.Mutex
	answers map[string]error // by local part: what it says when mail comes
	closed  map[string]error // what it says when somebody asks
	got     []delivered
	refused []string      // local part, size and reason
	hold    chan struct{} // mail is decided once it closes
	entered chan struct{} // one for each mail that came so far, when it waits
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
		return blueprint.Errorf(blueprint.CodeNotFound, "nobody")
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

// turnedAway returns what was refused so far.
func (b *inbox) turnedAway() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.refused)
}

func (b *inbox) mails() []delivered {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]delivered{}, b.got...)
}

// zone is a DNS of its own: TXT, MX and A records by name. Names that are not
// in it do not exist; those with "!" do not answer.
type zone map[string][]string

func (z zone) find(ctx context.Context, name string) ([]string, error) {
	records, there := z[strings.TrimSuffix(strings.ToLower(name), ".")]
	switch {
	case !there:
		return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
	case len(records) == 1 && records[0] == "!":
		<-ctx.Done()
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

// listening returns a listener that the test closes.
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

// talk is a client that says exactly what it is told to.
type talk struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func dial(t testing.TB, address string) *talk {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	return &talk{t, conn, bufio.NewReader(conn)}
}

// hear returns the next whole answer, "closed" when there is none.
func (c *talk) hear() string {
	var all []string
	for {
		line, err := c.in.ReadString('\n')
		var late net.Error
		if errors.As(err, &late) && late.Timeout() {
			c.t.Fatal("no answer, and no end")
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

func (c *talk) send(text string) {
	if _, err := fmt.Fprint(c.conn, text); err != nil {
		c.t.Logf("send: %v", err)
	}
}

// say sends a line and wants an answer that begins with want.
func (c *talk) say(line, want string) string {
	c.t.Helper()
	c.send(line + "\r\n")
	got := c.hear()
	if !strings.HasPrefix(got, want) {
		c.t.Fatalf("%q: got %q, want %s", line, got, want)
	}
	return got
}

// begin says who it is and goes on to DATA, for abc.
func (c *talk) begin() *talk {
	c.t.Helper()
	c.greet()
	c.say("MAIL FROM:<ada@example.org>", "250")
	c.say("RCPT TO:<abc@flows.example.org>", "250")
	c.say("DATA", "354")
	return c
}

func (c *talk) greet() *talk {
	c.t.Helper()
	if got := c.hear(); !strings.HasPrefix(got, "220") {
		c.t.Fatalf("greeting %q", got)
	}
	c.say("EHLO client.example.org", "250")
	return c
}
