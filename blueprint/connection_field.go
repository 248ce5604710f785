package blueprint

import (
	"encoding/json"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a config.
const (
	mostConfigText   = 2048  // characters of a text
	mostConfigSecret = 16384 // bytes of a secret: signed tokens are long
	mostConfigList   = 100   // elements of a list
)

// fieldCheck returns the issues of a value that is present; paths start at the value.
type fieldCheck func(value any) []Issue

// textCheck returns a check for strings; problem returns "" for a valid one.
func textCheck(problem func(text string) string) fieldCheck {
	return boundedText(func(text string) string {
		if utf8.RuneCountInString(text) > mostConfigText {
			return fmt.Sprintf("must have at most %d characters", mostConfigText)
		}
		return ""
	}, problem)
}

// boundedText is textCheck with a check of the length.
func boundedText(long, problem func(text string) string) fieldCheck {
	return func(value any) []Issue {
		text, ok := value.(string)
		switch {
		case !ok:
			return fault("must be a string")
		case text == "":
			return fault("must not be empty")
		case long(text) != "":
			return fault(long(text))
		case strings.ContainsFunc(text, unicode.IsControl):
			return fault("must not contain control characters")
		}
		return fault(problem(text))
	}
}

// fault is the issue for one problem, nil for none.
func fault(problem string) []Issue {
	if problem == "" {
		return nil
	}
	return []Issue{{Path: []any{}, Message: problem}}
}

func oneOf(words ...string) fieldCheck {
	return textCheck(func(text string) string {
		if slices.Contains(words, text) {
			return ""
		}
		return "must be one of " + strings.Join(words, ", ")
	})
}

// wholeNumber checks an integer; the bounds are inclusive.
func wholeNumber(least, most int64) fieldCheck {
	return func(value any) []Issue {
		number, _ := value.(json.Number)
		if n, err := number.Int64(); err != nil || n < least || n > most {
			return fault(fmt.Sprintf("must be a whole number from %d to %d", least, most))
		}
		return nil
	}
}

// listOf checks a list and each of its elements.
func listOf(element fieldCheck) fieldCheck {
	return func(value any) (issues []Issue) {
		list, ok := value.([]any)
		switch {
		case !ok:
			return fault("must be a list")
		case len(list) > mostConfigList:
			return fault(fmt.Sprintf("must have at most %d elements", mostConfigList))
		}
		for i, one := range list {
			issues = append(issues, below(element(one), i)...)
		}
		return issues
	}
}

// someOf is listOf for a list that must not be empty.
func someOf(element fieldCheck) fieldCheck {
	each := listOf(element)
	return func(value any) []Issue {
		if list, ok := value.([]any); ok && len(list) == 0 {
			return fault("must have at least 1 element")
		}
		return each(value)
	}
}

// below prefixes the paths of issues.
func below(issues []Issue, at any) []Issue {
	for i := range issues {
		issues[i].Path = append([]any{at}, issues[i].Path...)
	}
	return issues
}

// secretText checks a secret without showing it.
func secretText(problem func(text string) string) fieldCheck {
	return boundedText(func(text string) string {
		if len(text) > mostConfigSecret {
			return fmt.Sprintf("must have at most %d bytes", mostConfigSecret)
		}
		return ""
	}, problem)
}

var (
	plainText = textCheck(untrimmed)
	// A pasted token often has extra white space, a password may begin with some.
	headerSecret = secretText(untrimmed)
	password     = secretText(func(string) string { return "" })
	hostForm     = textCheck(func(text string) string { _, problem := parseHost(text); return problem })
	hostOnly     = textCheck(func(text string) string { _, problem := hostName(text); return problem })
	webAddress   = textCheck(func(text string) string { return addressProblem(text, false) })
	safeAddress  = textCheck(func(text string) string { return addressProblem(text, true) })
)

func untrimmed(text string) string {
	if strings.TrimSpace(text) != text {
		return "must not begin or end with white space"
	}
	return ""
}

// addressProblem checks the URL of a service. If safe, only loopback hosts may use http.
func addressProblem(text string, safe bool) string {
	address, err := url.Parse(text)
	if err != nil || strings.ContainsAny(text, " \\") {
		return "must be a URL such as https://api.example.com"
	}
	switch {
	case address.Scheme != "http" && address.Scheme != "https":
		return "must begin with https:// or http://"
	case address.Opaque != "" || address.Hostname() == "":
		return "must name a host"
	case address.User != nil:
		return "must not contain a user or a password"
	case address.Fragment != "" || strings.HasSuffix(text, "#"):
		return "must not have a fragment"
	case strings.HasSuffix(address.Host, ":") || address.Port() != "" && !validPort(address.Port()):
		return "must have a port from 1 to 65535, or none"
	}
	name, problem := hostName(address.Hostname())
	if problem == "" && safe && address.Scheme == "http" && !loopbackName(name) {
		return "must begin with https://, because secrets are sent there"
	}
	return problem
}

// loopbackName reports whether a canonical host is loopback. Names below localhost are
// not: a resolver may return any address for them.
func loopbackName(name string) bool {
	if address, err := netip.ParseAddr(name); err == nil {
		return address.IsLoopback()
	}
	return name == "localhost"
}

// scope is a scope token (RFC 6749, 3.3).
var scope = textCheck(func(text string) string {
	for _, r := range text {
		if r <= ' ' || r == '"' || r == '\\' || r > '~' {
			return "must be one scope, without spaces and quotes"
		}
	}
	return ""
})

// basicUser has no colon, which separates it from the password (RFC 7617).
var basicUser = textCheck(func(text string) string {
	if strings.Contains(text, ":") {
		return "must not contain a colon"
	}
	return ""
})

// framing are headers that belong to the connection, not to the message.
var framing = []string{"connection", "content-length", "expect", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}

var headerName = textCheck(func(text string) string {
	for _, r := range text {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r) {
			return "must be a header name"
		}
	}
	if name := strings.ToLower(text); slices.Contains(framing, name) || strings.HasPrefix(name, "proxy-") {
		return "must not be a header of the connection"
	}
	return ""
})

var mailAddress = textCheck(func(text string) string {
	if _, err := mail.ParseAddress(text); err != nil {
		return "must be an email address"
	}
	return ""
})

var connectionID = textCheck(func(text string) string {
	if !IsUUID(text) {
		return "must be a UUID"
	}
	return ""
})

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
	_, notIP := netip.ParseAddr(p.name)
	if p.below && (notIP == nil || !strings.Contains(p.name, ".") && !slices.Contains(shortDomains, p.name)) {
		return p, "must not cover so many hosts: write *.domain with a domain of your own"
	}
	return p, ""
}

func validPort(text string) bool {
	n, err := strconv.Atoi(text)
	return err == nil && n >= 1 && n <= 65535 && text == strconv.Itoa(n)
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

// OAuthAnyHost reports whether requests that name an oauth2 connection may send its tokens to
// any host.
func OAuthAnyHost(config map[string]any) bool { return len(TextsOf(config["hosts"])) == 0 }

// OAuthHosts returns the hosts that may receive the tokens of an oauth2 connection through
// another connection, in the forms of HostsCover: its hosts, or else those of its own URLs.
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
