package triggers

import (
	"net/http"
	"strings"
)

// withheld are the headers of a delivery that its run never sees: what proves
// who the sender is.
var withheld = map[string]bool{
	"authorization": true, "proxy-authorization": true, "cookie": true,
	"x-webhook-signature": true, "x-signature": true, "x-hub-signature": true, "x-hub-signature-256": true,
	"webhook-signature": true,
}

// triggerHeaders gives the headers of a delivery as a run sees them: lower-case
// names, and several values of one joined by commas.
func triggerHeaders(r *http.Request) map[string]any {
	out := make(map[string]any, len(r.Header)+1)
	for name, values := range r.Header {
		name = strings.ToLower(name)
		if !withheld[name] {
			out[name] = strings.ToValidUTF8(strings.Join(values, ", "), "\uFFFD")
		}
	}
	if r.Host != "" {
		out["host"] = strings.ToValidUTF8(r.Host, "\uFFFD")
	}
	return out
}

// reserved are the headers of an answer that no respond node may set: they
// belong to the connection, or they speak for the whole host, on which other
// people's triggers and the dashboard live as well.
var reserved = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Authenticate": true, "Proxy-Authorization": true, "Proxy-Connection": true,
	"Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true, "Content-Length": true, "Date": true,

	"X-Content-Type-Options": true, "Content-Security-Policy": true, "Content-Security-Policy-Report-Only": true,
	"Set-Cookie": true, "Set-Cookie2": true, "Clear-Site-Data": true, "Strict-Transport-Security": true, "Alt-Svc": true,
	"Public-Key-Pins": true, "Expect-Ct": true, "Nel": true, "Report-To": true, "Reporting-Endpoints": true,
	"Service-Worker-Allowed": true, "Origin-Agent-Cluster": true, "Accept-Ch": true, "Critical-Ch": true,
}

// setHeaders copies the headers that a respond node chose and may choose.
func setHeaders(to http.Header, chosen map[string]string) {
	for name, value := range chosen {
		name = http.CanonicalHeaderKey(strings.TrimSpace(name))
		if name != "" && !strings.ContainsFunc(name, notInName) && !reserved[name] {
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
