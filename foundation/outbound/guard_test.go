package outbound

import (
	"net/netip"
	"strings"
	"testing"
)

func prefixes(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func TestGuard(t *testing.T) {
	tests := []struct {
		addr, allow, want string // want is the reason, "" for open
	}{
		{"8.8.8.8", "", ""},
		{"1.1.1.1", "", ""},
		{"223.255.255.255", "", ""},
		{"9.255.255.255", "", ""},
		{"11.0.0.0", "", ""},
		{"100.63.255.255", "", ""},
		{"100.128.0.0", "", ""},
		{"172.15.255.255", "", ""},
		{"172.32.0.0", "", ""},
		{"198.17.255.255", "", ""},
		{"198.20.0.0", "", ""},
		{"2606:4700::1111", "", ""},
		{"2001:4860:4860::8888", "", ""},
		{"::ffff:8.8.8.8", "", ""},

		{"0.0.0.0", "", "the unspecified address"},
		{"0.1.2.3", "", `an address of "this network"`},
		{"10.255.255.255", "", "a private address"},
		{"100.64.0.0", "", "an address of a carrier-grade NAT"},
		{"100.127.255.255", "", "an address of a carrier-grade NAT"},
		{"127.255.255.254", "", "a loopback address"},
		{"169.254.0.1", "", "a link-local address"},
		{"172.16.0.0", "", "a private address"},
		{"172.31.255.255", "", "a private address"},
		{"192.0.0.8", "", "a protocol assignment"},
		{"192.0.2.1", "", "a documentation address"},
		{"192.88.99.1", "", "a 6to4 relay"},
		{"192.168.255.1", "", "a private address"},
		{"198.18.0.0", "", "a benchmarking address"},
		{"198.19.255.255", "", "a benchmarking address"},
		{"224.0.0.1", "", "a multicast address"},
		{"239.255.255.255", "", "a multicast address"},
		{"240.0.0.1", "", "a reserved address"},
		{"255.255.255.255", "", "the broadcast address"},
		{"::", "", "the unspecified address"},
		{"::1", "", "a loopback address"},
		{"::2", "", "an IPv4-compatible address"},
		{"100::1", "", "a discarded address"},
		{"200::1", "", "not an address of the public internet"},
		{"4000::1", "", "not an address of the public internet"},
		{"2001:20::1", "", "a protocol assignment"},
		{"2001:db8::1", "", "a documentation address"},
		{"3fff::1", "", "a documentation address"},
		{"5f00::1", "", "a segment routing address"},
		{"fd00::1", "", "a private address"},
		{"fe80::1", "", "a link-local address"},
		{"fe80::1%eth0", "", "a link-local address"},
		{"fec0::1", "", "a site-local address"},
		{"ff02::1", "", "a multicast address"},

		// An IPv4 address inside is looked at again once the outside is open.
		{"::ffff:127.0.0.1", "", "a loopback address"},
		{"::ffff:10.0.0.1", "::ffff:10.0.0.0/104", ""},
		{"::127.0.0.1", "::/96", "a way to 127.0.0.1, a loopback address"},
		{"::ffff:0:7f00:1", "::ffff:0:0:0/96", "a way to 127.0.0.1, a loopback address"},
		{"64:ff9b::8.8.8.8", "", "a NAT64 address"},
		{"64:ff9b::8.8.8.8", "64:ff9b::/96", ""},
		{"64:ff9b::7f00:1", "64:ff9b::/96", "a way to 127.0.0.1, a loopback address"},
		{"64:ff9b::a9fe:a9fe", "64:ff9b::/96", "a way to 169.254.169.254, the metadata service of a cloud"},
		{"64:ff9b:1:7f00:0:100::", "64:ff9b:1::/48", "a way to 127.0.0.1, a loopback address"},
		{"64:ff9b:1::a00:1", "64:ff9b:1::/48", "a way to 10.0.0.1, a private address"},
		{"2002:7f00:1::", "2002::/16", "a way to 127.0.0.1, a loopback address"},
		{"2002:808:808::1", "2002::/16", ""},
		{"2001:0:7f00:1::f7f7:f7f7", "2001::/32", "a way to 127.0.0.1, a loopback address"},
		{"2001:0:808:808::80ff:fffe", "2001::/32", "a way to 127.0.0.1, a loopback address"},
		{"2606:4700::5efe:7f00:1", "", "a way to 127.0.0.1, a loopback address"},
		{"2606:4700::200:5efe:a00:1", "", "a way to 10.0.0.1, a private address"},

		// Opening a range.
		{"10.1.2.3", "10.0.0.0/8", ""},
		{"10.1.2.3", "10.9.9.9/8", ""},
		{"10.1.2.3", "10.1.2.4/32", "a private address"},
		{"::ffff:10.1.2.3", "10.0.0.0/8", ""},
		{"fd00::1", "fd00::/8", ""},
		{"::1", "::1/128", ""},
		{"127.0.0.1", "::1/128", "a loopback address"},

		// Metadata services are opened alone or not at all.
		{"169.254.169.254", "", "the metadata service of a cloud"},
		{"169.254.169.254", "169.254.0.0/16", "the metadata service of a cloud"},
		{"169.254.169.254", "0.0.0.0/0", "the metadata service of a cloud"},
		{"169.254.169.254", "169.254.169.254/31", "the metadata service of a cloud"},
		{"169.254.169.254", "169.254.169.254/32", ""},
		{"::ffff:169.254.169.254", "::/0", "the metadata service of a cloud"},
		{"::ffff:169.254.169.254", "169.254.169.254/32", ""},
		{"169.254.7.7", "169.254.0.0/16", ""},
		{"100.100.100.200", "100.64.0.0/10", "the metadata service of a cloud"},
		{"192.0.0.192", "192.0.0.0/24", "the metadata service of a cloud"},
		{"168.63.129.16", "", "the metadata service of a cloud"},
		{"168.63.129.17", "", ""},
		{"fd00:ec2::254", "fd00::/8", "the metadata service of a cloud"},
		{"fd00:ec2::254", "fd00:ec2::254/128", ""},
		{"fe80::a9fe:a9fe%eth0", "fe80::/10", "the metadata service of a cloud"},
	}
	for _, test := range tests {
		t.Run(test.addr+" "+test.allow, func(t *testing.T) {
			var allow []netip.Prefix
			if test.allow != "" {
				allow = prefixes(test.allow)
			}
			refused := newGuard(allow).check(netip.MustParseAddr(test.addr))
			switch {
			case refused == nil && test.want != "":
				t.Errorf("open, want %q", test.want)
			case refused != nil && refused.Reason != test.want:
				t.Errorf("%q, want %q", refused.Reason, test.want)
			case refused != nil && !strings.Contains(refused.Error(), "--allow-net"):
				t.Errorf("no way out is named: %s", refused)
			}
		})
	}
}

func TestRefusedError(t *testing.T) {
	refused := newGuard(nil).check(netip.MustParseAddr("10.0.0.5"))
	if got, want := refused.Error(), "10.0.0.5 is a private address; hint: --allow-net 10.0.0.5/32 opens it"; got != want {
		t.Errorf("got %q, want %v", got, want)
	}
	refused.Host = "db.example"
	if got := refused.Error(); !strings.HasPrefix(got, "db.example leads to 10.0.0.5, which is a private address; hint:") {
		t.Errorf("got %q", got)
	}
	if got := newGuard(nil).check(netip.MustParseAddr("fd00::1")).Error(); !strings.Contains(got, "--allow-net fd00::1/128") {
		t.Errorf("got %q, want \"--allow-net fd00::1/128\" in it", got)
	}
}

func FuzzGuard(f *testing.F) {
	for _, seed := range []string{"127.0.0.1", "::1", "::ffff:10.0.0.1", "64:ff9b::1", "2002::1", "8.8.8.8", "fe80::1%x"} {
		f.Add(seed)
	}
	closed := newGuard(nil)
	f.Fuzz(func(t *testing.T, host string) {
		addr, err := netip.ParseAddr(host)
		if err != nil {
			checkSpelling(host)
			return
		}
		if checkSpelling(host) != nil {
			t.Fatal("a usual spelling was refused")
		}
		plain := addr.Unmap()
		suspect := plain.IsPrivate() || plain.IsLoopback() || plain.IsLinkLocalUnicast() || plain.IsMulticast() || plain.IsUnspecified()
		if refused := closed.check(addr); refused == nil && suspect {
			t.Fatalf("%s is open", addr)
		}
	})
}
