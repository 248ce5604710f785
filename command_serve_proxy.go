package main

import (
	"blueprintd/rpc/trpc"
	"net/netip"

	"github.com/urfave/cli/v2"
)

func trustedProxyFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "trusted-proxy", Usage: "believe the proxies in this `CIDR` range when they say for whom they speak: each has to add the address of its client to the header X-Forwarded-For; may be repeated. With --public-url this machine itself is believed too"}
}

// thisMachine is where a proxy stands that a public address leads to, unless
// something else is said.
var thisMachine = trpc.Proxies{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// chooseProxies reads who is believed about where a request comes from.
func chooseProxies(c *cli.Context, o *options) error {
	named, err := prefixes("trusted-proxy", given(c, "trusted-proxy"), c.StringSlice("trusted-proxy"))
	o.trustedProxies = named
	return err
}

// proxies are those that are believed.
func (o *options) proxies() trpc.Proxies {
	if o.publicURL == "" {
		return o.trustedProxies
	}
	return append(thisMachine[:len(thisMachine):len(thisMachine)], o.trustedProxies...)
}
