package trpc

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

func TestOriginOf(t *testing.T) {
	prefix := netip.MustParsePrefix
	none, here := Proxies(nil), Proxies{prefix("127.0.0.0/8"), prefix("::1/128")}
	both := append(Proxies{prefix("10.1.0.0/16"), prefix("2001:db8:ffff::/48")}, here...)
	for _, test := range []struct {
		proxies   Proxies
		remote    string
		forwarded []string
		want      string
		silent    bool
	}{
		{none, "203.0.113.7:1234", nil, "203.0.113.7 203.0.113.0/24", false},
		{none, "127.0.0.1:1234", []string{"198.51.100.1"}, "127.0.0.1 127.0.0.0/24", false}, // nobody has declared a proxy
		{none, "10.0.0.2:1234", []string{"198.51.100.1"}, "10.0.0.2 10.0.0.0/24", false},
		{here, "10.0.0.2:1234", []string{"198.51.100.1"}, "10.0.0.2 10.0.0.0/24", false},
		{here, "203.0.113.7:1234", []string{"198.51.100.1"}, "203.0.113.7 203.0.113.0/24", false}, // whoever comes by themselves may say what they like
		{here, "127.0.0.1:1234", nil, "127.0.0.1 127.0.0.0/24", true},
		{here, "127.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"10.9.9.9, 198.51.100.1"}, "198.51.100.1 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"10.9.9.9", " 198.51.100.2 "}, "198.51.100.2 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"198.51.100.1:4711"}, "198.51.100.1 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"[2001:db8:1:2::3]:4711"}, "2001:db8:1:2::/64 2001:db8:1::/48", false},
		{here, "127.0.0.1:1234", []string{"[2001:db8:1:2::3]"}, "2001:db8:1:2::/64 2001:db8:1::/48", false},
		{here, "127.0.0.1:1234", []string{"::ffff:198.51.100.1"}, "198.51.100.1 198.51.100.0/24", false},
		{here, "127.0.0.1:1234", []string{"unknown"}, "127.0.0.1 127.0.0.0/24", true},
		{here, "127.0.0.1:1234", []string{""}, "127.0.0.1 127.0.0.0/24", true},
		{here, "127.0.0.1:1234", []string{"198.51.100.1, x"}, "127.0.0.1 127.0.0.0/24", true},
		{here, "127.0.0.1:1234", []string{"127.0.0.9"}, "127.0.0.9 127.0.0.0/24", false}, // a client on the proxy's own machine
		{here, "[::1]:1234", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64 2001:db8:1::/48", false},
		{both, "127.0.0.1:1234", []string{"192.0.2.1, 198.51.100.1, 10.1.2.3"}, "198.51.100.1 198.51.100.0/24", false},
		{both, "[2001:db8:ffff::1]:1234", []string{"198.51.100.1, 10.1.2.3"}, "198.51.100.1 198.51.100.0/24", false},
		{both, "127.0.0.1:1234", []string{"unknown, 10.1.2.3"}, "10.1.2.3 10.1.2.0/24", true},
		{both, "127.0.0.1:1234", []string{"10.2.2.3"}, "10.2.2.3 10.2.2.0/24", false},
		{here, "[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::/64 2001:db8:1::/48", false},
		{here, "[fe80::1%eth0]:1234", nil, "fe80::/64 fe80::/48", false},
		{here, "[::ffff:203.0.113.7]:1234", nil, "203.0.113.7 203.0.113.0/24", false},
		{here, "@", nil, "@ @", false},
	} {
		logs := &bytes.Buffer{}
		h := &Handler{options: Options{Proxies: test.proxies, Logger: slog.New(slog.NewTextHandler(logs, nil))}}
		for range 2 {
			got := h.originOf(&http.Request{RemoteAddr: test.remote, Header: http.Header{"X-Forwarded-For": test.forwarded}})
			if got.address+" "+got.network != test.want {
				t.Errorf("%s for %q: %s, want %s", test.remote, test.forwarded, got, test.want)
			}
		}
		if told := strings.Count(logs.String(), "does not say"); told != 1 && test.silent || told != 0 && !test.silent {
			t.Errorf("%s for %q is told of %d times", test.remote, test.forwarded, told)
		}
	}
}

func TestVisitorsAgentIsShortText(t *testing.T) {
	caller := &Caller{Request: &http.Request{Header: http.Header{"User-Agent": {"a\x00b\xffc\n" + strings.Repeat("é", 400)}}}}
	if got := caller.Visitor().Agent; got != "abc"+strings.Repeat("é", mostAgent-3) {
		t.Errorf("got %q", got)
	}
}
