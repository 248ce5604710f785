package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/server"
	"blueprintd/store"
)

// leastDisk is the smallest limit that leaves the log room to work.
const leastDisk = 16 << 20

// historyFlags say how much history a server keeps.
func historyFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "keep-executions", Usage: "keep finished runs for this `AGE` (90d, 36h), or this many (100000; at least 1000), or all, which 0 is too; failed ones stay three times as long, or go last (default: 90d; all with --ephemeral)"},
		&cli.StringFlag{Name: "keep-firings", Usage: "keep the history of triggers for this `AGE`, or this many rows (at least 1000), or all, which 0 is too; those of a delivery with an id that started a run stay 72h at least (default: 90d; all with --ephemeral)"},
		&cli.StringFlag{Name: "keep-audit", Usage: "keep who changed what for this `AGE`, or this many lines (at least 1000), or all, which 0 is too (default: 400d; all with --ephemeral)"},
		&cli.StringFlag{Name: "max-disk", Usage: "the `BYTES` that the database may take, as 2GiB: beyond, the oldest finished runs go; 0 is any number (default: any number)"},
	}
}

// chooseHistory reads the flags of historyFlags.
func chooseHistory(c *cli.Context, o *server.Options) (err error) {
	if o.KeepExecutions, err = chooseKeep(c, o, "keep-executions", "90d"); err != nil {
		return err
	}
	if o.KeepFirings, err = chooseKeep(c, o, "keep-firings", "90d"); err != nil {
		return err
	}
	if o.KeepAudit, err = chooseKeep(c, o, "keep-audit", "400d"); err != nil {
		return err
	}
	if !c.IsSet("max-disk") {
		return nil
	}
	const hint = "--max-disk 2GiB"
	switch o.MaxDisk, err = parseSize(c.String("max-disk")); {
	case c.String("max-disk") == "":
		return usage(hint, "%s: is empty", given(c, "max-disk"))
	case errors.Is(err, errTooLarge):
		return usage(hint, "%s %s: is larger than any disk", given(c, "max-disk"), c.String("max-disk"))
	case err != nil:
		return usage(hint, "%s %s: is no size", given(c, "max-disk"), c.String("max-disk"))
	case o.MaxDisk != 0 && o.MaxDisk < leastDisk:
		return usage(hint, "%s %s: is less than 16MiB", given(c, "max-disk"), c.String("max-disk"))
	}
	return nil
}

func chooseKeep(c *cli.Context, o *server.Options, name, otherwise string) (store.Keep, error) {
	text := c.String(name)
	if !c.IsSet(name) {
		text = otherwise
		if o.Ephemeral {
			text = "all"
		}
	}
	keep, err := parseKeep(text)
	switch {
	case err != nil && text == "":
		err = usage("--"+name+" "+otherwise+", or --"+name+" all", "%s: is empty", given(c, name))
	case err != nil:
		if name != "keep-executions" {
			err = errors.New(strings.Replace(err.Error(), " runs, or", " rows, or", 1))
		}
		err = usage("--"+name+" "+otherwise+", or --"+name+" 100000", "%s %s: %s", given(c, name), text, err)
	}
	return keep, err
}

// leastRows is the smallest number of rows that can be kept: what is less was
// meant as a number of days, and would remove nearly everything.
const leastRows = 1000

// parseKeep reads an age (90d, 36h, 1h30m: a minute at least), a number of
// rows, leastRows at least, or "all", which 0 is too.
func parseKeep(text string) (store.Keep, error) {
	if text == "all" {
		return store.Keep{}, nil
	}
	if text == "" {
		return store.Keep{}, errors.New("is empty")
	}
	if rows, err := strconv.ParseInt(text, 10, 64); err == nil && rows >= 0 {
		if rows != 0 && rows < leastRows {
			return store.Keep{}, fmt.Errorf("%d runs, or %[1]dd? A number of rows is %d or more", rows, leastRows)
		}
		return store.Keep{Rows: rows}, nil
	}
	age, err := time.ParseDuration(text)
	if number, isDays := strings.CutSuffix(text, "d"); isDays {
		var days float64
		if days, err = strconv.ParseFloat(number, 64); !(math.Abs(days) <= 36_500) {
			err = strconv.ErrRange
		}
		age = time.Duration(days * float64(24*time.Hour))
	}
	if err != nil || age < time.Minute {
		return store.Keep{}, fmt.Errorf("is no age of a minute or more, no number of rows, and not all")
	}
	return store.Keep{Age: age}, nil
}
