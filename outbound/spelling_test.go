package outbound

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

// spellings are hosts that lead, or that some reader takes to lead, to this
// machine, its network or a metadata service.
var spellings = strings.Fields(`
127.0.0.1 127.0.0.2 127.1.2.3 127.255.255.254 127.0.0.1. 127.0.0.1.. 127.1 127.0.1 127.00.0.1 127.0.0.01 127.000.000.001
0127.0.0.1 0177.0.0.1 0177.0.0.01 0177.0.1 0177.1 00177.0.0.1 0x7f.0.0.1 0x7F.0.0.1 0X7F.0.0.1 0x7f.0x0.0x0.0x1 0x7f.1 0x7f.0.1
0x7f000001 0X7F000001 0x7f000001. 0x000000007f000001 017700000001 0017700000001 2130706433 2130706433. 02130706433 4294967295 4294967296
0 0. 0.0 0.0.0 0.0.0.0 0.0.0.0. 00.00.00.00 0x0 0x 0x0.0x0.0x0.0x0 1 127 256.256.256.256 127.0.0.256 127.0.0.1.1 127.0.0.0x1
10.0.0.1 10.1 012.0.0.1 0xa000001 167772161 10.255.255.255 172.16.0.1 172.31.255.254 172.20.1 192.168.0.1 192.168.1 3232235521 0xc0a80001 0300.0250.0.1
169.254.169.254 169.254.169.254. 169.254.43518 169.16689662 2852039166 0xa9fea9fe 0251.0376.0251.0376 0xa9.0xfe.0xa9.0xfe 025177524776 169.254.170.2 169.254.0.1
100.64.0.1 100.100.100.200 100.127.255.254 192.0.0.1 192.0.0.192 192.0.2.1 198.18.0.1 198.19.255.254 198.51.100.1 203.0.113.1 192.88.99.1 168.63.129.16
224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 0.0.0.1 0.1.2.3
[::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0001] [0::1] [::1%25lo] [::1%25eth0] [::] [::%25lo] [0:0:0:0:0:0:0:0]
[::127.0.0.1] [::7f00:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::FFFF:127.0.0.1] [0:0:0:0:0:ffff:127.0.0.1] [0:0:0:0:0:ffff:7f00:0001] [::ffff:10.0.0.1] [::ffff:a00:1]
[::ffff:169.254.169.254] [::ffff:a9fe:a9fe] [::ffff:192.168.0.1] [::ffff:0.0.0.0] [::ffff:0:127.0.0.1] [::ffff:0:7f00:1] [::a9fe:a9fe]
[64:ff9b::127.0.0.1] [64:ff9b::7f00:1] [64:ff9b::a9fe:a9fe] [64:ff9b::10.0.0.1] [64:ff9b:1::7f00:1] [64:ff9b:1:7f00:0:100::] [64:ff9b:1::a9fe:a9fe]
[2002:7f00:1::] [2002:7f00:1::1] [2002:a9fe:a9fe::1] [2002:a00:1::] [2002:c0a8:1::1] [2001:0:7f00:1::1] [2001::1] [2001:0:808:808::80ff:fffe] [2001:db8::1] [2001:2::1] [2001:10::1]
[fe80::1] [fe80::1%25lo] [fe80::1%25eth0] [fe80::a9fe:a9fe%25eth0] [febf::1] [fec0::1] [fc00::1] [fd00::1] [fd00:ec2::254] [fd20:ce::254] [ff02::1] [ff0e::1] [100::1] [3fff::1] [5f00::1] [4000::1] [fe00::1]
[2606:4700::5efe:7f00:1] [2606:4700::200:5efe:a9fe:a9fe]
localhost LOCALHOST localhost. ip6-localhost localhost.localdomain foo.localhost metadata.google.internal kubernetes.default.svc
rebind.example 127.0.0.1.nip.example a.b.c.d xn--nxasmq6b.example _private.example
１２７.０.０.１ ①②⑦.⓪.⓪.① 127。0。0。1 127．0．0．1 0ｘ7f.1 ⓛⓞⓒⓐⓛⓗⓞⓢⓣ
127.0.0.1%00.example.com 127.0.0.1%2f.example [::1 ::1 [127.0.0.1] [localhost] [0x7f.1] %31%32%37.0.0.1 127.0.0.1%25lo
user@127.0.0.1 user:pass@127.0.0.1 example.com@127.0.0.1 127.0.0.1#@example.com 127.0.0.1?@example.com example.com\@127.0.0.1 127.0.0.1\.example.com
`)

// target is a server on this machine that counts who gets through to it.
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
	ctx, hops := Record(context.Background())
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
	if len(spellings) < 180 {
		t.Fatalf("only %d spellings", len(spellings))
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
				t.Errorf("%s: an answer came", host)
			}
			if hops.Sent() {
				t.Errorf("%s: something was sent", host)
			}
			if strings.ContainsAny(host, "@#?\\") { // the rest is no port of the host; see what the dialer says of each half
				continue
			}
			if _, err := client.DialContext(context.Background(), "tcp", net.JoinHostPort(strings.Trim(host, "[]"), target.port)); err == nil {
				t.Errorf("%s: the dialer connected", host)
			}
		}
	}
	if n := target.accepted.Load(); n != 0 {
		t.Errorf("%d connections reached the server", n)
	}

	// The same server is there for who may reach it.
	client := New(Options{Allow: prefixes("127.0.0.0/8"), Resolver: newResolver(t, &dns{answer: always("127.0.0.1")})})
	for _, host := range []string{"127.0.0.1", "name.example", "[::ffff:127.0.0.1]"} {
		before := target.accepted.Load()
		get(t, client, "http://"+host+":"+target.port+"/")
		if target.accepted.Load() == before {
			t.Errorf("%s: no connection although it is open", host)
		}
	}
}

func TestRefusalsAreTyped(t *testing.T) {
	client := New(Options{Resolver: newResolver(t, &dns{answer: always("10.0.0.7")})})
	for host, want := range map[string]string{
		"127.0.0.1":                "127.0.0.1 is a loopback address; hint: start the server with --allow-net 127.0.0.1/32 to open it",
		"[::ffff:169.254.169.254]": "::ffff:169.254.169.254 leads to 169.254.169.254, which is the metadata service of a cloud; hint: start the server with --allow-net 169.254.169.254/32 to open it",
		"db.example":               "db.example leads to 10.0.0.7, which is a private address; hint: start the server with --allow-net 10.0.0.7/32 to open it",
		"0x7f.1":                   `"0x7f.1" is neither a host name nor an address in its usual spelling; hint: write 192.0.2.1 or [2001:db8::1], without leading zeros or a dot at the end`,
	} {
		_, err := get(t, client, "http://"+host+"/?token=secret")
		var refused *RefusedError
		if !errors.As(err, &refused) || err.Error() != want {
			t.Errorf("%s: got %v", host, err)
		}
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
		t.Errorf("connected to %s", host)
	}
}

func TestOtherNetworks(t *testing.T) {
	client := New(Options{Allow: prefixes("0.0.0.0/0", "::/0")})
	for _, network := range []string{"udp", "unix", "ip", ""} {
		if _, err := client.DialContext(context.Background(), network, "127.0.0.1:1"); err == nil {
			t.Errorf("%q: connected", network)
		}
	}
}
