package main

import (
	"blueprintd/server"

	"github.com/urfave/cli/v2"
)

func memoryLimitFlag() cli.Flag {
	return &cli.StringFlag{Name: "memory-limit", Usage: "use at most about this many `BYTES` of memory; what clients may fill follows from it (default: GOMEMLIMIT, the cgroup's limit, or all memory of the machine)"}
}

// chooseMemory reads how much memory the server may use.
func chooseMemory(c *cli.Context, o *server.Options) (err error) {
	if !c.IsSet("memory-limit") || c.String("memory-limit") == "" {
		return nil
	}
	if o.MemoryLimit, err = parseSize(c.String("memory-limit")); err != nil || o.MemoryLimit == 0 {
		return usage("--memory-limit 512MiB", "%s %s: want a size above 0", given(c, "memory-limit"), c.String("memory-limit"))
	}
	return nil
}
