package main

import (
	"blueprintd/server"
	"strconv"

	"github.com/urfave/cli/v2"
)

func seedIDsFlag() cli.Flag {
	return &cli.StringFlag{Name: "seed-ids", Usage: "draw every id, key and random part from this `NUMBER`, for tests: with --clock virtual the same calls, one after the other, give the same answers; only with --ephemeral"}
}

// chooseSeedIDs reads what ids are drawn from. What anybody can draw again is
// no secret, so such a server keeps nothing.
func chooseSeedIDs(c *cli.Context, o *server.Options) error {
	text := c.String("seed-ids")
	if text == "" {
		return nil
	}
	seed, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return usage("--seed-ids 1", "%s %s: is no whole number", given(c, "seed-ids"), text)
	}
	if !o.Ephemeral {
		return usage("add --ephemeral, or leave it out", "%s: keys and ids that follow from a number are for servers that keep nothing", given(c, "seed-ids"))
	}
	o.SeedIDs = &seed
	return nil
}
