package connections

import (
	"net/netip"
	"net/url"
	"strings"
)

// textAt gives the text under a key, "" when there is none.
func textAt(config map[string]any, key string) string {
	text, _ := config[key].(string)
	return text
}

// textsAt gives the texts of the list under a key.
func textsAt(config map[string]any, key string) (texts []string) {
	list, _ := config[key].([]any)
	for _, element := range list {
		if text, ok := element.(string); ok {
			texts = append(texts, text)
		}
	}
	return texts
}

// address reads an address of a config; nil when it is none.
func address(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return nil
	}
	return u
}

// hostPort gives the host of an address with its port, in the form of hosts.
func hostPort(u *url.URL) string {
	host := u.Hostname()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return host + ":" + port
}

// isLoopback tells whether a host is this machine. Names below localhost are
// not: a resolver may say that they are anywhere.
func isLoopback(host string) bool {
	host = strings.ToLower(host)
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().IsLoopback()
	}
	return host == "localhost"
}

// isSafe tells whether secrets may go to an address: with TLS, or on this
// machine.
func isSafe(u *url.URL) bool { return u.Scheme == "https" || isLoopback(u.Hostname()) }
