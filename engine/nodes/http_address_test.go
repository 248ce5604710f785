package nodes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blueprintd/blueprint"
	"blueprintd/foundation/clock"
	"blueprintd/foundation/outbound"
)

// closedAddresses are of all the kinds that a name may not lead to.
var closedAddresses = strings.Fields(`
	127.0.0.1 127.255.255.254 10.0.0.1 172.16.0.1 192.168.0.1 169.254.0.1 169.254.169.254 169.254.170.2 100.64.0.1 100.100.100.200 168.63.129.16 0.0.0.0 0.1.2.3
	192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
	::1 :: ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:a9fe:a9fe ::ffff:10.0.0.1 ::ffff:0:7f00:1 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::7f00:1 64:ff9b:1:7f00:0:100::
	2002:7f00:1:: 2002:a9fe:a9fe::1 2001:0:7f00:1::1 2001::1 fe80::1 fe80::a9fe:a9fe fec0::1 fc00::1 fd00:ec2::254 fd20:ce::254 ff02::1 100::1 2001:db8::1 3fff::1 5f00::1 4000::1 2606:4700::5efe:a00:1`)

// notNames are hosts that are never looked up, because they are not names.
var notNames = strings.Fields(`127.0.0.+1 127.0.0.-1 -1 localhost.. xn--127001-.example 127.0.0.1,example.com`)

// newTypeWith returns the type with a client of its own.
func newTypeWith(options outbound.Options) *blueprint.NodeType {
	return httpRequest(Dependencies{HTTP: outbound.New(options), Clock: clock.NewVirtual(now), UserAgent: "blueprintd/test"})
}

// ask runs the type with a url.
func ask(t *testing.T, kind *blueprint.NodeType, address string) (blueprint.Result, *blueprint.Failure) {
	t.Helper()
	task := newTask(t, kind, `{"url":"","method":"POST","body":"secret"}`, scope)
	task.Config["url"] = address
	result, err := kind.Run(context.Background(), task)
	var failure *blueprint.Failure
	if err != nil && !errors.As(err, &failure) {
		t.Errorf("%s: %v", address, err)
	}
	return result, failure
}

// wantRefused checks that nothing was sent, and why.
func wantRefused(t *testing.T, s *site, what, code string, sentBefore int, result blueprint.Result, failure *blueprint.Failure) {
	t.Helper()
	switch {
	case failure == nil:
		t.Errorf("%s: it was answered", what)
	case failure.Code != code || failure.NotSent != (sentBefore == 0) || strings.Contains(failure.Message, "secret"):
		t.Errorf("%s: got %+v", what, failure)
	}
	if len(result.Calls) != sentBefore || len(s.requests()) != sentBefore {
		t.Errorf("%s: calls %+v, %d requests arrived; want length %v and %v", what, result.Calls, len(s.requests()), sentBefore, sentBefore)
	}
}

// Refused addresses are refused in every notation, in the config and in redirects.
func TestAddressSpellings(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "addresses.txt"))
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t, outbound.Options{}) // where all of them would lead, if they led anywhere
	port := s.host()[strings.LastIndexByte(s.host(), ':'):]
	for _, seen := range []*nameServer{{addr: netip.MustParseAddr("127.0.0.1")}, {addr: netip.MustParseAddr("::1"), alias: true}} {
		kind := newTypeWith(outbound.Options{Resolver: seen.resolver(t)})
		for _, host := range strings.Fields(string(data)) {
			for _, address := range []string{"http://" + host + port + "/", "HTTPS://" + host + "/", "http://" + host} {
				code := codeRefused
				if _, problem := parseURL(address); problem != "" {
					code = codeBadConfig
				} else if slices.Contains(notNames, host) {
					code = codeConnect
				}
				result, failure := ask(t, kind, address)
				if code == codeBadConfig && failure != nil && failure.Code == code {
					failure.NotSent = true // a bad config need not say so
				}
				wantRefused(t, s, address, code, 0, result, failure)
			}
		}
	}
}

func TestNamesOfClosedAddresses(t *testing.T) {
	s := newSite(t, outbound.Options{})
	port := s.host()[strings.LastIndexByte(s.host(), ':'):]
	for _, addr := range closedAddresses {
		for _, alias := range []bool{false, true} {
			server := &nameServer{addr: netip.MustParseAddr(addr), alias: alias}
			kind := newTypeWith(outbound.Options{Resolver: server.resolver(t)})
			for _, host := range []string{"name.example", "name.example.", "metadata.google.internal", "LOCALHOST.example"} {
				result, failure := ask(t, kind, "http://"+host+port+"/secret")
				wantRefused(t, s, host+" as "+addr, codeRefused, 0, result, failure)
			}
		}
	}
}

func TestRedirectsToClosedAddresses(t *testing.T) {
	s := newSite(t, outbound.Options{})
	port := s.host()[strings.LastIndexByte(s.host(), ':'):]
	kind := newTypeWith(outbound.Options{
		Allow:    []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Resolver: (&nameServer{addr: netip.MustParseAddr("127.0.0.2")}).resolver(t),
	})
	hosts := []string{"name.example", "0x7f.2", "127.2", "2130706434", "0177.0.0.2", "127.0.0.2.", "[::ffff:127.0.0.2]", "[::ffff:7f00:2]", "eve:x@127.0.0.2"}
	for _, addr := range closedAddresses {
		if parsed := netip.MustParseAddr(addr); parsed.Is6() && parsed.Unmap() != netip.MustParseAddr("127.0.0.1") {
			hosts = append(hosts, "["+addr+"]")
		} else if parsed.Is4() && addr != "127.0.0.1" {
			hosts = append(hosts, addr)
		}
	}
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, host := range hosts {
			s.answers(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Location", "http://"+host+port+"/secret")
				w.WriteHeader(status)
			})
			s.clear()
			result, failure := ask(t, kind, s.URL)
			wantRefused(t, s, fmt.Sprintf("%d to %s", status, host), codeRefused, 1, result, failure)
		}
	}
}

// What the operator opens is open, and nothing beside it; a name that changes
// its mind after the first request does not get the second.
func TestOpenAddresses(t *testing.T) {
	s := newSite(t, outbound.Options{})
	port := s.host()[strings.LastIndexByte(s.host(), ':'):]
	server := &nameServer{addr: netip.MustParseAddr("127.0.0.1")}
	kind := newTypeWith(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, Resolver: server.resolver(t)})
	for _, host := range []string{"127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "name.example", "localhost"} {
		s.clear()
		result, failure := ask(t, kind, "http://"+host+port+"/")
		if failure != nil || len(s.requests()) != 1 || len(result.Calls) != 1 {
			t.Errorf("%s: %+v, calls %+v; want nil, length 1 and length 1", host, failure, result.Calls)
		}
	}
	for _, host := range []string{"10.0.0.1", "[::1]", "169.254.169.254", "[64:ff9b::7f00:1]", "0x7f.1"} {
		s.clear()
		result, failure := ask(t, kind, "http://"+host+port+"/")
		wantRefused(t, s, host, codeRefused, 0, result, failure)
	}

	fickle := &nameServer{addr: netip.MustParseAddr("127.0.0.1"), then: netip.MustParseAddr("10.0.0.1")}
	kind = newTypeWith(outbound.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, Resolver: fickle.resolver(t)})
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, (&url.URL{Scheme: "http", Host: r.Host, Path: "/again"}).String(), http.StatusTemporaryRedirect)
	})
	s.clear()
	result, failure := ask(t, kind, "http://rebind.example"+port+"/")
	wantRefused(t, s, "a name that changes its mind", codeRefused, 1, result, failure)
}
