package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// readSpellings returns hosts that lead, or that some reader takes to lead, to this
// machine, its network or a metadata service; some are no hosts at all.
func readSpellings(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "addresses.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(data))
}

// target is a server on this machine that counts the connections it accepts.
type target struct {
	port     string
	accepted atomic.Int32
}

func newTarget(t *testing.T) *target {
	t.Helper()
	target := &target{}
	first, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listeners := []net.Listener{first}
	_, target.port, _ = net.SplitHostPort(first.Addr().String())
	if second, err := net.Listen("tcp", "[::1]:"+target.port); err == nil { // not every machine has IPv6
		listeners = append(listeners, second)
	}
	done := make(chan struct{})
	for _, listener := range listeners {
		go func() {
			defer func() { done <- struct{}{} }()
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				target.accepted.Add(1)
				conn.Close()
			}
		}()
	}
	t.Cleanup(func() {
		for _, listener := range listeners {
			listener.Close()
			<-done
		}
	})
	return target
}

func get(t *testing.T, client *Client, address string) (*Hops, error) {
	t.Helper()
	ctx, hops := RecordHops(context.Background())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return hops, err
	}
	response, err := client.Do(request)
	if err == nil {
		response.Body.Close()
	}
	return hops, err
}

func TestSpellings(t *testing.T) {
	spellings := readSpellings(t)
	if len(spellings) < 390 {
		t.Fatalf("only %d spellings, want at least 390", len(spellings))
	}
	target := newTarget(t)
	for _, resolved := range []*dns{
		{answer: always("127.0.0.1", "::1")},
		{answer: always("::ffff:127.0.0.1", "127.0.0.1"), alias: true},
	} {
		client := New(Options{Resolver: newResolver(t, resolved)})
		for _, host := range spellings {
			hops, err := get(t, client, "http://"+host+":"+target.port+"/")
			if err == nil {
				t.Errorf("%s: an answer came, want an error", host)
			}
			if hops.Sent() {
				t.Errorf("%s: something was sent", host)
			}
			if strings.ContainsAny(host, "@#?\\") { // the rest is not a port, so the dialer gets no valid address
				continue
			}
			if _, err := client.DialContext(context.Background(), "tcp", net.JoinHostPort(strings.Trim(host, "[]"), target.port)); err == nil {
				t.Errorf("%s: the dialer connected, want an error", host)
			}
		}
	}
	if n := target.accepted.Load(); n != 0 {
		t.Errorf("%d connections reached the server, want 0", n)
	}

	// The same server is reachable where the policy allows it.
	client := New(Options{Allow: prefixes("127.0.0.0/8"), Resolver: newResolver(t, &dns{answer: always("127.0.0.1")})})
	for _, host := range []string{"127.0.0.1", "name.example", "[::ffff:127.0.0.1]"} {
		before := target.accepted.Load()
		get(t, client, "http://"+host+":"+target.port+"/")
		if target.accepted.Load() == before {
			t.Errorf("%s: no connection although it is open, want Load other than %v", host, before)
		}
	}
}

func TestRefusalsAreTyped(t *testing.T) {
	client := New(Options{Resolver: newResolver(t, &dns{answer: always("10.0.0.7")})})
	for host, want := range map[string]string{
		"127.0.0.1":                "127.0.0.1 is a loopback address; hint: --allow-net 127.0.0.1/32 opens it",
		"[::ffff:169.254.169.254]": "::ffff:169.254.169.254 leads to 169.254.169.254, which is the metadata service of a cloud; hint: --allow-net 169.254.169.254/32 opens it",
		"db.example":               "db.example leads to 10.0.0.7, which is a private address; hint: --allow-net 10.0.0.7/32 opens it",
		"0x7f.1":                   `"0x7f.1" is neither a host name nor an address in its usual spelling; hint: write 192.0.2.1 or [2001:db8::1], without leading zeros or a dot at the end`,
	} {
		t.Run(host, func(t *testing.T) {
			_, err := get(t, client, "http://"+host+"/?token=secret")
			var refused *RefusedError
			if !errors.As(err, &refused) || err.Error() != want {
				t.Errorf("got %v, want %v", err, want)
			}
		})
	}
}

func TestNamesThatChangeTheirMind(t *testing.T) {
	target := newTarget(t)
	server := &dns{answer: func(_ string, n int) []netip.Addr {
		if n == 0 {
			return always("127.0.0.1")("", 0)
		}
		return always("10.0.0.1")("", 0)
	}}
	client := New(Options{Allow: prefixes("127.0.0.1/32"), Resolver: newResolver(t, server)})
	conn, err := client.DialContext(context.Background(), "tcp", "rebind.example:"+target.port)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	_, err = client.DialContext(context.Background(), "tcp", "rebind.example:"+target.port)
	var refused *RefusedError
	if !errors.As(err, &refused) || refused.Addr != netip.MustParseAddr("10.0.0.1") {
		t.Errorf("got %v", err)
	}
}

// One closed address among several open ones is passed over.
func TestMixedAnswers(t *testing.T) {
	target := newTarget(t)
	client := New(Options{Allow: prefixes("127.0.0.1/32"), Resolver: newResolver(t, &dns{answer: always("10.0.0.1", "fd00::1", "127.0.0.1")})})
	conn, err := client.DialContext(context.Background(), "tcp", "mixed.example:"+target.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if host, _, _ := net.SplitHostPort(conn.RemoteAddr().String()); host != "127.0.0.1" {
		t.Errorf("connected to %s, want 127.0.0.1", host)
	}
}

func TestOtherNetworks(t *testing.T) {
	client := New(Options{Allow: prefixes("0.0.0.0/0", "::/0")})
	for _, network := range []string{"udp", "unix", "ip", ""} {
		if _, err := client.DialContext(context.Background(), network, "127.0.0.1:1"); err == nil {
			t.Errorf("%q: connected, want an error", network)
		}
	}
}
