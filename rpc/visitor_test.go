package rpc

import (
	"net/http"
	"strings"
	"testing"
)

func TestNetworkOf(t *testing.T) {
	for _, test := range []struct {
		remote    string
		forwarded []string
		want      string
	}{
		{"203.0.113.7:1234", nil, "203.0.113.7"},
		{"203.0.113.7:1234", []string{"198.51.100.1"}, "203.0.113.7"}, // whoever comes by themselves may say what they like
		{"127.0.0.1:1234", nil, "127.0.0.1"},
		{"127.0.0.1:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"127.0.0.1:1234", []string{"10.9.9.9, 198.51.100.1"}, "198.51.100.1"},
		{"127.0.0.1:1234", []string{"10.9.9.9", " 198.51.100.2 "}, "198.51.100.2"},
		{"172.17.0.2:1234", []string{"198.51.100.1"}, "198.51.100.1"},
		{"127.0.0.1:1234", []string{"unknown"}, "127.0.0.1"},
		{"127.0.0.1:1234", []string{""}, "127.0.0.1"},
		{"[::1]:1234", []string{"2001:db8:1:2:3:4:5:6"}, "2001:db8:1:2::/64"},
		{"[2001:db8:1:2:3:4:5:6]:1234", nil, "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:1234", nil, "fe80::/64"},
		{"[::ffff:203.0.113.7]:1234", nil, "203.0.113.7"},
		{"@", nil, "@"},
	} {
		r := &http.Request{RemoteAddr: test.remote, Header: http.Header{"X-Forwarded-For": test.forwarded}}
		if got := networkOf(r); got != test.want {
			t.Errorf("%s for %q: %s, want %s", test.remote, test.forwarded, got, test.want)
		}
	}
}

func TestVisitorsAgentIsShortText(t *testing.T) {
	caller := &Caller{request: &http.Request{Header: http.Header{"User-Agent": {"a\x00b\xffc\n" + strings.Repeat("é", 400)}}}}
	if got := caller.visitor().Agent; got != "abc"+strings.Repeat("é", mostAgent-3) {
		t.Errorf("got %q", got)
	}
}
