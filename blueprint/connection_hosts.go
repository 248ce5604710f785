package blueprint

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// HostsCover reports whether one of hosts covers host. Both have the form "host",
// "host:port" or "*.domain", in any case; a host without a port covers every port,
// and *.domain every subdomain but not the domain. Other forms cover nothing.
func HostsCover(hosts []string, host string) bool {
	one, problem := parseHost(host)
	return problem == "" && slices.ContainsFunc(hosts, func(text string) bool {
		wide, problem := parseHost(text)
		return problem == "" && wide.covers(one)
	})
}

// hostPattern is a parsed element of hosts, with IP addresses in canonical form.
type hostPattern struct {
	below bool // *.name
	name  string
	port  string // "" = any
}

func (p hostPattern) covers(other hostPattern) bool {
	switch {
	case p.port != "" && p.port != other.port:
		return false
	case p.below && strings.HasSuffix(other.name, "."+p.name):
		return true
	}
	return p.below == other.below && p.name == other.name
}

// shortDomains are reserved top-level domains, for which *.domain is allowed.
var shortDomains = []string{"internal", "local", "localhost", "test"}

// parseHost parses an element of hosts, or returns the problem.
func parseHost(text string) (p hostPattern, problem string) {
	const form = `must be a host, "host:port" or "*.domain"`
	name, port := text, ""
	if rest, bracketed := strings.CutPrefix(text, "["); bracketed {
		closed := false
		if name, port, closed = strings.Cut(rest, "]"); !closed || !strings.Contains(name, ":") {
			return p, form
		}
		if port != "" && !strings.HasPrefix(port, ":") {
			return p, form
		}
		if port != "" && !validPort(port[1:]) {
			return p, "must have a port from 1 to 65535"
		}
		port = strings.TrimPrefix(port, ":")
	} else if before, after, has := strings.Cut(text, ":"); has {
		if name, port = before, after; !validPort(port) {
			if strings.Contains(port, "/") || strings.Contains(port, ":") {
				return p, form
			}
			return p, "must have a port from 1 to 65535"
		}
	}
	p.port = port
	name, p.below = strings.CutPrefix(name, "*.")
	if p.name, problem = hostName(name); problem != "" {
		return p, form + ": " + problem
	}
	if p.below && (isIP(p.name) || !strings.Contains(p.name, ".") && !slices.Contains(shortDomains, p.name)) {
		return p, "must not cover so many hosts: write *.domain with a domain of your own"
	}
	return p, ""
}

func validPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 65535 && text == strconv.Itoa(n)
}

func isIP(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

var (
	hostLabel = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`)
	numeric   = regexp.MustCompile(`^([0-9]+|0x[0-9a-f]*)$`)
)

// hostName returns the canonical form of a host without a port, or the problem. Names
// that some resolvers read as an IPv4 address are refused: 127.1, 0x7f000001.
func hostName(text string) (name, problem string) {
	if address, err := netip.ParseAddr(text); err == nil {
		if address.Zone() != "" {
			return "", "an address has no zone here"
		}
		return address.Unmap().String(), ""
	}
	name = strings.ToLower(text)
	labels := strings.Split(name, ".")
	switch {
	case text == "":
		return "", "the host is missing"
	case len(name) > 253:
		return "", "the host is too long"
	case numeric.MatchString(labels[len(labels)-1]):
		return "", "write an IPv4 address as four numbers"
	}
	for _, r := range name {
		if r > '~' {
			return "", "write a host with letters beyond ASCII in its xn-- form"
		}
	}
	for _, label := range labels {
		if !hostLabel.MatchString(label) {
			return "", "a host consists of letters, digits and hyphens with dots between"
		}
	}
	return name, ""
}

// OAuthHosts returns the hosts that may receive the tokens of an oauth2 connection, in
// the forms of HostsCover: its hosts, or else those of its own URLs.
func OAuthHosts(config map[string]any) []string {
	hosts := TextsOf(config["hosts"])
	if len(hosts) > 0 {
		return hosts
	}
	for _, name := range []string{"authorizationUrl", "tokenUrl"} {
		text, _ := config[name].(string)
		if address, err := url.Parse(text); err == nil && address.Host != "" && !slices.Contains(hosts, address.Host) {
			hosts = append(hosts, address.Host)
		}
	}
	return hosts
}
