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

// class is a range of addresses that is not the public internet.
type class struct {
	prefix netip.Prefix
	name   string // as in "a private address"
}

// classes lists the ranges that are closed unless the operator allows them, after
// the special-purpose registries of IPv4 and IPv6. The first match names an
// address. Ranges of relays, whose target is part of the address, are included
// although the registry calls them public.
var classes = parseClasses([][2]string{
	{"0.0.0.0/32", "the unspecified address"},
	{"0.0.0.0/8", "an address of \"this network\""},
	{"10.0.0.0/8", "a private address"},
	{"100.64.0.0/10", "an address of a carrier-grade NAT"},
	{"127.0.0.0/8", "a loopback address"},
	{"169.254.0.0/16", "a link-local address"},
	{"172.16.0.0/12", "a private address"},
	{"192.0.0.0/24", "a protocol assignment"},
	{"192.0.2.0/24", "a documentation address"},
	{"192.88.99.0/24", "a 6to4 relay"},
	{"192.168.0.0/16", "a private address"},
	{"198.18.0.0/15", "a benchmarking address"},
	{"198.51.100.0/24", "a documentation address"},
	{"203.0.113.0/24", "a documentation address"},
	{"224.0.0.0/4", "a multicast address"},
	{"255.255.255.255/32", "the broadcast address"},
	{"240.0.0.0/4", "a reserved address"},

	{"::/128", "the unspecified address"},
	{"::1/128", "a loopback address"},
	{"::ffff:0:0:0/96", "an IPv4-translated address"},
	{"::/96", "an IPv4-compatible address"},
	{"64:ff9b::/96", "a NAT64 address"},
	{"64:ff9b:1::/48", "a NAT64 address"},
	{"100::/64", "a discarded address"},
	{"2001::/32", "a Teredo address"},
	{"2001:2::/48", "a benchmarking address"},
	{"2001::/23", "a protocol assignment"},
	{"2001:db8::/32", "a documentation address"},
	{"2002::/16", "a 6to4 address"},
	{"3fff::/20", "a documentation address"},
	{"5f00::/16", "a segment routing address"},
	{"fc00::/7", "a private address"},
	{"fe80::/10", "a link-local address"},
	{"fec0::/10", "a site-local address"},
	{"ff00::/8", "a multicast address"},
})

// globalUnicast is the range of IPv6 that is allocated for the public internet.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// metadata lists services that return the credentials of a machine to any process on
// it. Some are in ranges that are open otherwise.
var metadata = parseAddresses(
	"169.254.169.254",    // most clouds
	"169.254.170.2",      // container credentials
	"169.254.170.23",     // container identities
	"169.254.42.42",      // Scaleway
	"169.254.0.23",       // Tencent
	"100.100.100.200",    // Alibaba
	"192.0.0.192",        // Oracle
	"168.63.129.16",      // Azure
	"fd00:ec2::254",      // the same services over IPv6
	"fd00:ec2::23",       // container identities
	"fd20:ce::254",       // Google
	"fd00:42::42",        // Scaleway
	"fd00:c1::a9fe:a9fe", // Oracle
	"fe80::a9fe:a9fe",    // OpenStack
)

func parseClasses(rows [][2]string) []class {
	list := make([]class, len(rows))
	for i, row := range rows {
		list[i] = class{netip.MustParsePrefix(row[0]), row[1]}
	}
	return list
}

func parseAddresses(texts ...string) map[netip.Addr]bool {
	set := map[netip.Addr]bool{}
	for _, text := range texts {
		set[netip.MustParseAddr(text)] = true
	}
	return set
}

// classOf returns the class of a plain address, "" for the public internet.
func classOf(addr netip.Addr) string {
	for _, class := range classes {
		if class.prefix.Contains(addr) {
			return class.name
		}
	}
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return "not an address of the public internet"
	}
	return ""
}

// The ranges whose addresses carry an IPv4 address.
var (
	compatible = netip.MustParsePrefix("::/96")
	translated = netip.MustParsePrefix("::ffff:0:0:0/96")
	nat64      = netip.MustParsePrefix("64:ff9b::/96")
	localNAT64 = netip.MustParsePrefix("64:ff9b:1::/48")
	sixToFour  = netip.MustParsePrefix("2002::/16")
	teredo     = netip.MustParsePrefix("2001::/32")
)

// embedded returns the IPv4 addresses that are contained in an IPv6 address.
func embedded(addr netip.Addr) []netip.Addr {
	if !addr.Is6() || addr == netip.IPv6Loopback() || addr == netip.IPv6Unspecified() {
		return nil
	}
	b := addr.As16()
	four := func(i int) netip.Addr { return netip.AddrFrom4([4]byte(b[i : i+4])) }
	switch {
	case compatible.Contains(addr), translated.Contains(addr), nat64.Contains(addr):
		return []netip.Addr{four(12)}
	case localNAT64.Contains(addr):
		if [5]byte(b[11:]) == [5]byte{} { // the short form, with a gap at byte 8
			return []netip.Addr{netip.AddrFrom4([4]byte{b[6], b[7], b[9], b[10]})}
		}
		return []netip.Addr{four(12)}
	case sixToFour.Contains(addr):
		return []netip.Addr{four(2)}
	case teredo.Contains(addr): // the server, and the client with inverted bits
		return []netip.Addr{four(4), netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]})}
	case b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return []netip.Addr{four(12)}
	default:
		return nil
	}
}
