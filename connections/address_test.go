package connections

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blueprintd/blueprint"
)

func TestAddress(t *testing.T) {
	for _, test := range []struct{ text, hostPort string }{ // "" if the address is refused
		{"https://api.example/x", "api.example:443"},
		{"http://api.example", "api.example:80"},
		{"https://api.example:8443", "api.example:8443"},
		{"http://[2001:db8::1]/", "[2001:db8::1]:80"},
		{"https://[2001:db8::1]:8443", "[2001:db8::1]:8443"},
		{"ftp://api.example", ""},
		{"https://", ""},
		{"https://:443/", ""},
		{"https://user@api.example", ""},
		{"api.example", ""},
		{"", ""},
		{"https://%zz", ""},
	} {
		t.Run(test.text, func(t *testing.T) {
			got := ""
			if u := address(test.text); u != nil {
				got = hostPort(u)
			}
			if got != test.hostPort {
				t.Errorf("got %q, want %q", got, test.hostPort)
			}
		})
	}
}

// Without TLS, secrets are sent only to this machine.
func TestSafeAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"https://api.example": true, "http://api.example": false, "http://127.0.0.1": true, "http://127.8.9.1:80": true, "http://[::1]": true, "http://[::ffff:127.0.0.1]": true,
		"http://LOCALHOST": true, "http://a.localhost": false, "http://10.0.0.1": false, "http://[::2]": false, "http://localhost.example": false,
	} {
		t.Run(address, func(t *testing.T) {
			u, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			if got := isSafe(u); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// The issuer of an authorization response must have the scheme, the host and the port of a
// URL of the connection.
func TestIssuedBy(t *testing.T) {
	c := &oauthClient{authorization: &url.URL{Scheme: "https", Host: "login.example"}, token: &url.URL{Scheme: "https", Host: "token.example:8443"}}
	for issuer, want := range map[string]bool{
		"https://login.example": true, "https://LOGIN.example:443/tenant": true, "https://token.example:8443": true,
		"http://login.example": false, "https://login.example:8443": false, "https://token.example": false, "https://evil.example": false,
		"https://user@login.example": false, "https://login.example?a": false, "https://login.example#a": false, ":": false, "": false,
	} {
		t.Run(issuer, func(t *testing.T) {
			if got := c.issuedBy(issuer); got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

func TestParameters(t *testing.T) {
	for _, test := range []struct {
		name, query string
		want        map[string]string // nil if refused
	}{
		{"none", "", map[string]string{"a": "", "b": ""}},
		{"both and another", "b=2&a=1&c=3&c=4", map[string]string{"a": "1", "b": "2"}},
		{"repeated", "a=1&a=1", nil},
		{"malformed", "a=1&%zz", nil},
		{"16 KiB", "a=1&c=" + strings.Repeat("c", 16<<10-6), map[string]string{"a": "1", "b": ""}},
		{"a byte more", "a=1&c=" + strings.Repeat("c", 16<<10-5), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.URL.RawQuery = test.query
			got, ok := parameters(r, "a", "b")
			if diff := cmp.Diff(test.want, got); diff != "" || ok != (test.want != nil) {
				t.Errorf("reported %v (-want +got)\n%s", ok, diff)
			}
		})
	}
}

// Names of other services are shown as one short line.
func TestPlain(t *testing.T) {
	for _, test := range []struct{ name, given, want string }{
		{"a name", "Team é", "Team é"},
		{"control characters", "\x1b[31mT\r\n\u202e", "[31mT"},
		{"a hundred characters", strings.Repeat("é", 100), strings.Repeat("é", 100)},
		{"one more", strings.Repeat("é", 101), strings.Repeat("é", 100) + "…"},
		{"none", "\n", "(unnamed)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := plain(test.given); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	for _, test := range []struct {
		name       string
		err        error
		code, want string
	}{
		{"an unknown name", &net.DNSError{IsNotFound: true}, codeConnect, "no host named api.example is known"},
		{"no answer of the resolver", &net.DNSError{IsTimeout: true}, codeTimeout, "api.example did not answer in time"},
		{"a failure of the resolver", &net.DNSError{}, codeConnect, "cannot reach api.example"},
		{"the deadline", fmt.Errorf("get: %w", context.DeadlineExceeded), codeTimeout, "api.example did not answer in time"},
		{"refused, with a text", errors.New("s3cret"), codeConnect, "cannot reach api.example"},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := &blueprint.Failure{Code: test.code, Message: test.want, NotSent: true}
			if diff := cmp.Diff(want, unreachable(test.err, "api.example")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// farConn is a connection to another machine.
type farConn struct{ net.Conn }

func (farConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 25}
}

// A password is not sent to another machine without TLS.
func TestPasswordWithoutTLS(t *testing.T) {
	near, far := net.Pipe()
	commands := make(chan []string)
	go func() {
		var received []string
		fmt.Fprint(far, "220 hello\r\n")
		for lines := bufio.NewScanner(far); lines.Scan(); {
			received = append(received, lines.Text())
			fmt.Fprint(far, "250-me\r\n250 AUTH PLAIN LOGIN\r\n")
		}
		commands <- received
	}()
	g := &smtpSession{config: map[string]any{"username": "me", "password": "s3cret", "tls": "none"}, host: "mail.example", conn: farConn{near}}
	problem, err := g.run(t.Context())
	near.Close()
	if err != nil || !strings.Contains(problem, "was not sent the password") {
		t.Errorf("got the problem %q (%v), want that the password was not sent", problem, err)
	}
	if received := <-commands; !slices.Equal(received, []string{"EHLO localhost"}) {
		t.Errorf("the server received %q, want only EHLO", received)
	}
}

// A mail server that asks for more than its method needs gets no answer.
func TestUnexpectedChallenges(t *testing.T) {
	g := &smtpSession{config: map[string]any{"username": "me", "password": "s3cret"}}
	if answer, err := (plainAuth{g}).Next(nil, true); answer != nil || err == nil {
		t.Errorf("AUTH PLAIN: answered %q (%v), want an error", answer, err)
	}
	for _, want := range []string{"me", "s3cret"} {
		if answer, err := (loginAuth{g}).Next(nil, true); string(answer) != want || err != nil {
			t.Errorf("AUTH LOGIN: answered %q (%v), want %q", answer, err, want)
		}
	}
	if answer, err := (loginAuth{g}).Next(nil, true); answer != nil || err == nil {
		t.Errorf("AUTH LOGIN: answered %q (%v) to a third challenge, want an error", answer, err)
	}
}
