package triggers

import (
	"net/http"
	"slices"
	"strings"
)

// triggerHeaders gives the headers of a request as a run sees them: lower-case
// names, several values of one joined by commas, and nothing that proves who
// the sender is.
func triggerHeaders(r *http.Request) map[string]any { return headersOf(newDelivery(r)) }

// reserved are the headers of an answer that no respond node may set, in lower
// case: they belong to the connection, or they speak for the whole host, on
// which other people's triggers and the dashboard live as well.
var reserved = strings.Fields(`
	connection content-encoding content-length date host keep-alive server te trailer transfer-encoding upgrade
	accept-ch alt-svc clear-site-data critical-ch expect-ct nel origin-agent-cluster permissions-policy public-key-pins refresh
	report-to reporting-endpoints service-worker-allowed set-cookie set-cookie2 strict-transport-security www-authenticate
	x-content-type-options x-frame-options x-xss-protection`)

// reservedPrefixes are the beginnings of more of them.
var reservedPrefixes = []string{"access-control-", "content-security-policy", "cross-origin-", "proxy-", "sec-"}

func isReserved(lower string) bool {
	return slices.Contains(reserved, lower) ||
		slices.ContainsFunc(reservedPrefixes, func(prefix string) bool { return strings.HasPrefix(lower, prefix) })
}

// setHeaders copies the headers that a respond node chose and may choose.
func setHeaders(to http.Header, chosen map[string]string) {
	for name, value := range chosen {
		name = strings.ToLower(strings.TrimSpace(name))
		if name != "" && !strings.ContainsFunc(name, notInName) && !isReserved(name) {
			to.Set(name, value)
		}
	}
}

// notInName tells whether a character may not stand in the name of a header.
func notInName(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
