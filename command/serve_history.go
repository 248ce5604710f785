package command

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"blueprintd/blueprint"
	"blueprintd/server"
	"blueprintd/store"
)

const (
	leastDisk = 16 << 20 // bytes of the smallest --max-disk, with room for the write-ahead log
	leastRows = 1000     // a smaller number was probably meant as days, and would delete nearly everything
)

func readHistory(c *cli.Context, o *server.Options) (err error) {
	for _, flag := range []struct {
		name, standard string
		keep           *store.Keep
	}{{"keep-executions", "90d", &o.KeepExecutions}, {"keep-firings", "90d", &o.KeepFirings}, {"keep-audit", "400d", &o.KeepAudit}} {
		if *flag.keep, err = keepFlag(c, flag.name, flag.standard, o.Ephemeral); err != nil {
			return err
		}
	}
	if !c.IsSet("max-disk") {
		return nil
	}
	o.MaxDisk, err = sizeFlag(c, "max-disk", "2GiB", 0)
	if err == nil && o.MaxDisk != 0 && o.MaxDisk < leastDisk {
		err = usage("--max-disk 2GiB", "%s %s: must be at least 16MiB, or 0 for no limit", given(c, "max-disk"), c.String("max-disk"))
	}
	return err
}

func keepFlag(c *cli.Context, name, standard string, ephemeral bool) (store.Keep, error) {
	text := c.String(name)
	if !c.IsSet(name) {
		if ephemeral {
			return store.Keep{}, nil
		}
		text = standard
	}
	unit := "rows"
	if name == "keep-executions" {
		unit = "runs"
	}
	keep, err := parseKeep(text, unit)
	if err != nil {
		err = usage(blueprint.SeeDocs("--"+name+" "+standard+", --"+name+" 100000 or --"+name+" all", "deploying"), "%s: %s", strings.TrimSpace(given(c, name)+" "+text), err)
	}
	return keep, err
}

// parseKeep reads an age of at least a minute (90d, 36h, 1h30m), a number of at least
// leastRows rows, or "all" or 0. unit is the word for rows in an error.
func parseKeep(text, unit string) (store.Keep, error) {
	if text == "all" {
		return store.Keep{}, nil
	}
	if rows, err := strconv.ParseInt(text, 10, 64); err == nil && rows >= 0 {
		if rows != 0 && rows < leastRows {
			return store.Keep{}, fmt.Errorf("%d %s, or %[1]dd? a number of rows must be at least %[3]d", rows, unit, leastRows)
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
		return store.Keep{}, errors.New("want an age of at least 1m, a number of rows, or all")
	}
	return store.Keep{Age: age}, nil
}
