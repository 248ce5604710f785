package main

import (
	"blueprintd/server"

	"github.com/urfave/cli/v2"
)

func trustedProxyFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "trusted-proxy", Usage: "believe the proxies in this `CIDR` range when they say for whom they speak: each has to add the address of its client to the header X-Forwarded-For; may be repeated. With --public-url this machine itself is believed too"}
}

// chooseProxies reads who is believed about where a request comes from.
func chooseProxies(c *cli.Context, o *server.Options) error {
	named, err := prefixes("trusted-proxy", given(c, "trusted-proxy"), c.StringSlice("trusted-proxy"))
	o.TrustedProxies = named
	return err
}
