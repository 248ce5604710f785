package rpc

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"unicode"

	"blueprintd/blueprint"
)

// mostAgent is how many characters of what a browser says of itself are kept.
const mostAgent = 300

// visitor tells where a call comes from.
func (c *Caller) visitor() blueprint.Visitor {
	agent := []rune(strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(c.request.UserAgent(), "")))
	return blueprint.Visitor{Address: networkOf(c.request), Agent: string(agent[:min(len(agent), mostAgent)])}
}

// networkOf gives the address that a request comes from, such that one person
// has one: of IPv6 the network, for that is what people are given. A proxy
// stands on this machine or in its own network, and tells for whom it speaks;
// what the one behind it says of others counts for nothing.
func networkOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	address = address.Unmap()
	if forwarded := r.Header.Values("X-Forwarded-For"); len(forwarded) > 0 && (address.IsLoopback() || address.IsPrivate()) {
		last := forwarded[len(forwarded)-1]
		if i := strings.LastIndexByte(last, ','); i >= 0 {
			last = last[i+1:]
		}
		if told, err := netip.ParseAddr(strings.TrimSpace(last)); err == nil {
			address = told.Unmap()
		}
	}
	address = address.WithZone("")
	if address.Is6() {
		return netip.PrefixFrom(address, 64).Masked().String()
	}
	return address.String()
}
