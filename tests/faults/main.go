package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"blueprintd/tests/process"
)

// options are the options of the command line.
type options struct {
	seed     uint64
	modes    []string
	from, to int
	every    int
	point    int
	cuts     int
	full     int
	clients  int
	workers  int
	binary   string
	json     bool
	first    bool
	phase    string
	check    bool
}

var allModes = []string{"kill", "kill-after", "eio", "enospc", "full", "short", "cut"}

func main() {
	var o options
	var modes, mode string
	flag.Uint64Var(&o.seed, "seed", uint64(now().UnixNano()%1_000_000), "seed of the power cuts; random by default")
	flag.StringVar(&modes, "modes", "kill,eio,enospc,short", "comma-separated faults, of "+strings.Join(allModes, ","))
	flag.StringVar(&mode, "mode", "", "the same as -modes, for the replay command of a report")
	flag.IntVar(&o.from, "from", 1, "the first point, or with -cuts the first cut")
	flag.IntVar(&o.to, "to", 0, "the last point or cut; 0 = the end")
	flag.IntVar(&o.every, "every", 1, "try one point in this many")
	flag.IntVar(&o.point, "point", 0, "try only this point")
	flag.IntVar(&o.cuts, "cuts", 0, "instead of the points: number of power cuts at random moments under several clients")
	flag.IntVar(&o.full, "full", 0, "instead of the points: how often to fill and free the disk under several clients")
	flag.IntVar(&o.clients, "clients", 6, "number of clients")
	flag.IntVar(&o.workers, "workers", 2, "number of cases tried at the same time")
	flag.StringVar(&o.binary, "binary", "", "the server to test; without it, one is built from these sources")
	flag.BoolVar(&o.json, "json", false, "print the report as JSON")
	flag.BoolVar(&o.first, "first", false, "stop at the first violation")
	flag.StringVar(&o.phase, "phase", "", "try only phases whose names have this prefix, such as upgrade")
	flag.BoolVar(&o.check, "check", false, "only check that the failing disk works here")
	flag.Parse()
	if mode != "" {
		modes = mode
	}
	o.modes = strings.Split(modes, ",")
	if o.point > 0 {
		o.from, o.to, o.every = o.point, o.point, 1
	}
	unknown := slices.ContainsFunc(o.modes, func(mode string) bool { return !slices.Contains(allModes, mode) })
	low := min(o.from, o.every, o.clients, o.workers) < 1 || min(o.to, o.cuts, o.full) < 0
	if flag.NArg() > 0 || unknown || low || o.workers > 250 {
		fmt.Fprintln(os.Stderr, "sweep takes flags only, with numbers from 1 on; see -help")
		os.Exit(2)
	}
	folder := os.Getenv(confinedTo)
	if folder == "" {
		os.Exit(confine())
	}
	os.Exit(sweep(o, folder))
}

// sweep runs the whole sweep and returns the exit code.
func sweep(o options, folder string) int {
	ctx, stop := signal.NotifyContext(context.Background(), endSignals...)
	defer stop()
	if err := errors.Join(useMemory(folder), check()); err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		return 2
	}
	if o.check {
		fmt.Println("the failing disk works here")
		return 0
	}
	r, err := sweepIn(ctx, o, folder)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		return 1
	}
	if o.json {
		out := json.NewEncoder(os.Stdout)
		out.SetIndent("", "  ")
		out.Encode(r)
	} else {
		fmt.Print(r.text())
	}
	if len(r.Violations) > 0 || r.Interrupted {
		return 1
	}
	return 0
}

func sweepIn(ctx context.Context, o options, folder string) (*report, error) {
	var err error
	if o.binary, err = process.Program(ctx, o.binary, folder); err != nil {
		return nil, err
	}
	r := &report{Seed: o.seed, began: now(), Cases: map[string]int{}, Violations: []violation{}}
	defer r.finish()
	switch {
	case o.cuts > 0:
		return r, r.cut(ctx, o, folder)
	case o.full > 0:
		return r, r.fill(ctx, o, folder)
	}
	return r, r.sweep(ctx, o, folder)
}
