package outbound

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// RefusedError is returned for an address that is not allowed. Nothing was sent.
type RefusedError struct {
	// Host is the requested host.
	Host string
	// Addr is the refused address; invalid if the host was not looked up.
	Addr netip.Addr
	// Reason describes the address, as in "a private address".
	Reason string
	// Hint is for the operator or the author.
	Hint string
}

func (e *RefusedError) Error() string {
	subject := e.Host
	switch {
	case !e.Addr.IsValid():
	case subject == "" || subject == e.Addr.String():
		subject = e.Addr.String()
	default:
		subject += " leads to " + e.Addr.String() + ", which"
	}
	text := fmt.Sprintf("%s is %s", subject, e.Reason)
	if e.Hint != "" {
		text += "; hint: " + e.Hint
	}
	return text
}

// guard decides which addresses may be connected to.
type guard struct{ allow []netip.Prefix }

func newGuard(allow []netip.Prefix) *guard {
	g := &guard{}
	for _, prefix := range allow {
		if addr := prefix.Addr(); addr.Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(addr.Unmap(), prefix.Bits()-96)
		}
		g.allow = append(g.allow, prefix.Masked())
	}
	return g
}

// check returns nil for an allowed address.
func (g *guard) check(addr netip.Addr) *RefusedError {
	addr = addr.WithZone("").Unmap()
	refused := func(reason string) *RefusedError {
		return &RefusedError{
			Addr:   addr,
			Reason: reason,
			Hint:   fmt.Sprintf("--allow-net %s/%d opens it", addr, addr.BitLen()),
		}
	}
	if metadata[addr] && !g.named(addr) {
		return refused("the metadata service of a cloud")
	}
	if reason := classOf(addr); reason != "" && !g.allowed(addr) {
		return refused(reason)
	}
	for _, inner := range embedded(addr) {
		if closed := g.check(inner); closed != nil {
			closed.Reason = fmt.Sprintf("a way to %s, %s", inner, closed.Reason)
			closed.Addr = addr
			return closed
		}
	}
	return nil
}

func (g *guard) allowed(addr netip.Addr) bool {
	return slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// named reports whether an entry names exactly this address.
func (g *guard) named(addr netip.Addr) bool {
	return slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.IsSingleIP() && p.Addr() == addr })
}

// checkSpelling refuses hosts that are numbers but not a canonical address:
// resolvers disagree on whether 0177.0.0.1 is 177.0.0.1, 127.0.0.1 or a name.
func checkSpelling(host string) *RefusedError {
	if _, err := netip.ParseAddr(host); err == nil {
		return nil
	}
	name := strings.TrimRight(host, ".")
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	digits := "0123456789"
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		last, digits = hex, digits+"abcdef"
	}
	if strings.Trim(last, digits) != "" && !strings.ContainsAny(host, "%:[]") {
		return nil
	}
	return &RefusedError{
		Host:   strconv.Quote(host),
		Reason: "neither a host name nor an address in its usual spelling",
		Hint:   "write 192.0.2.1 or [2001:db8::1], without leading zeros or a dot at the end",
	}
}
