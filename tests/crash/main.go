package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"blueprintd/clients/go/program"
	"blueprintd/tests/process"
)

// options are the options of the command line.
type options struct {
	kills              int
	seed               uint64
	clients            int
	duration           time.Duration
	keep               bool
	binary             string
	json               bool
	first              bool
	expectedInvariants []string // the violations at which first stops; none = any
	selftest           bool
	cuts               int
	without            []string // shapes to leave out
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == ledgerArgument {
		if err := serveLedger(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "ledger:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.IntVar(&o.kills, "kills", 0, "number of kills; with -selftest the maximum for each mutant; 0 = 100, or 120 with -selftest")
	flag.Uint64Var(&o.seed, "seed", uint64(now().UnixNano()%1_000_000), "seed of the load and of the kills; random by default")
	flag.IntVar(&o.clients, "clients", 6, "number of clients")
	flag.DurationVar(&o.duration, "duration", 0, "stop killing after this time, whatever the value of -kills; 0 = no limit")
	flag.BoolVar(&o.keep, "keep", false, "keep the database and the logs even without a violation")
	flag.StringVar(&o.binary, "binary", "", "the server to test; without it, one is built from these sources")
	flag.BoolVar(&o.json, "json", false, "print the report as JSON")
	flag.BoolVar(&o.first, "first", false, "stop at the first violation")
	flag.BoolVar(&o.selftest, "selftest", false, "check that each known mutant of the server is found")
	without := flag.String("without", "", "comma-separated blueprints to exclude from the load")
	flag.IntVar(&o.cuts, "cuts", 60, "maximum number of power cuts with -selftest")
	flag.Parse()
	o.without = strings.FieldsFunc(*without, func(c rune) bool { return c == ',' })
	low := o.kills < 0 || o.duration < 0 || min(o.clients, o.cuts) < 1
	if flag.NArg() > 0 || low || o.selftest && o.binary != "" {
		fmt.Fprintln(os.Stderr, "torture takes flags only, -clients and -cuts from 1 on, and -selftest builds its own server; see -help")
		os.Exit(2)
	}
	if o.selftest {
		o.kills = cmp.Or(o.kills, 120)
		os.Exit(selftest(o))
	}
	o.kills = cmp.Or(o.kills, 100)
	os.Exit(torture(o))
}

// torture runs the whole test and returns the exit code.
func torture(o options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	folder, err := os.MkdirTemp("", "torture")
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		return 1
	}
	display := newDisplay(os.Stderr, o.kills)
	r, err := tortureIn(ctx, o, folder, display)
	display.close()
	if err != nil {
		fmt.Fprintf(os.Stderr, "torture: %v\nhint: the database and the logs are in %s\n", err, folder)
		return 1
	}
	r.Folder = folder
	if !o.keep && len(r.Violations) == 0 {
		os.RemoveAll(folder)
		r.Folder = ""
	}
	if o.json {
		printJSON(r)
	} else {
		fmt.Print(r.text())
	}
	if len(r.Violations) > 0 {
		return 1
	}
	return 0
}

func printJSON(value any) {
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	out.Encode(value)
}

var ledgerLine = regexp.MustCompile(`(?m)^(http://\S+) (http://\S+) (\S+)$`)

// tortureIn runs the test in a folder: first a server with the real clock, then for a
// quarter of the kills one with a virtual clock and schedules. An error is one of this
// program or of the machine, not of the server.
func tortureIn(ctx context.Context, o options, folder string, display *display) (*report, error) {
	var err error
	if o.binary, err = process.Program(ctx, o.binary, folder); err != nil {
		return nil, err
	}
	r := newReport(ctx, o)
	for _, name := range []string{"real clock", "virtual clock"} {
		part := o
		part.kills, part.duration = o.kills/4, o.duration/4
		if name == "real clock" {
			part.kills, part.duration = o.kills-part.kills, o.duration-part.duration
		}
		if part.kills == 0 {
			continue
		}
		s, err := runScenario(ctx, part, name, filepath.Join(folder, strings.ReplaceAll(name, " ", "-")), display)
		if err != nil {
			return nil, err
		}
		display.done += s.kills
		if r.add(s); s.history.stopped {
			break
		}
	}
	return r, nil
}

// runScenario runs one scenario with its own ledger and checks it.
func runScenario(ctx context.Context, o options, name, folder string, display *display) (*scenario, error) {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	calls := filepath.Join(folder, "ledger.jsonl")
	ledger, err := program.Start(program.Command{Path: self, Args: []string{ledgerArgument, calls}, Folder: folder, Log: filepath.Join(folder, "ledger.log"), Ready: ledgerLine})
	if err != nil {
		return nil, err
	}
	defer ledger.Kill()
	address, err := ledger.Address(ctx, 20*time.Second)
	if err != nil {
		return nil, fmt.Errorf("the ledger: %w", err)
	}
	s := newScenario(o, name, folder, display)
	s.sites = sites{address, ledger.Found[2], ledger.Found[3]}
	if name == "virtual clock" {
		s.clock, s.shapes = newVirtualClock(o.seed, address)
		s.history.clockSteps = true
	} else {
		s.shapes, s.connections, s.sources = shapes(address), newConnections(o.seed, s.sites), sources(address)
		for _, one := range s.sources {
			s.shapes = append(s.shapes, one.shape)
		}
	}
	if s.exclude(o.without); s.clock == nil {
		s.dashboardUser = newDashboardUser(s)
	}
	played, stop := context.WithCancel(ctx)
	defer stop()
	if o.first {
		s.history.stop, s.history.expectedInvariants = stop, o.expectedInvariants
	}
	err = s.run(played)
	if s.history.stopped && ctx.Err() == nil {
		return s, nil // stopped early: there is nothing more to check
	}
	if err != nil {
		return nil, err
	}
	return s, s.check(calls)
}
