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
	kills    int
	seed     uint64
	clients  int
	duration time.Duration
	keep     bool
	binary   string
	json     bool
	first    bool
	signs    []string // the violations at which first stops; none = any
	selftest bool
	cuts     int
	without  []string // shapes to leave out
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
	flag.IntVar(&o.kills, "kills", 0, "how often to kill the server; of -selftest at most, for each bug; 0 = 100, or 120 with -selftest")
	flag.Uint64Var(&o.seed, "seed", uint64(now().UnixNano()%1_000_000), "plan of the load and of the kills; each run takes another unless it is given")
	flag.IntVar(&o.clients, "clients", 6, "how many clients load the server")
	flag.DurationVar(&o.duration, "duration", 0, "stop killing after this time, whatever -kills says; 0 = no limit")
	flag.BoolVar(&o.keep, "keep", false, "keep the database and the logs also when all is well")
	flag.StringVar(&o.binary, "binary", "", "the server to torture; without it, one is built from the sources here")
	flag.BoolVar(&o.json, "json", false, "print the report as JSON")
	flag.BoolVar(&o.first, "first", false, "stop at the first violation")
	flag.BoolVar(&o.selftest, "selftest", false, "put known bugs into the server, one after the other, and look whether each is found")
	without := flag.String("without", "", "blueprints of the load to leave out, with commas between; the report names them")
	flag.IntVar(&o.cuts, "cuts", 60, "how many power cuts -selftest tries at most")
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
	watched := newScreen(os.Stderr, o.kills)
	r, err := tortureIn(ctx, o, folder, watched)
	watched.close()
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
func tortureIn(ctx context.Context, o options, folder string, watched *screen) (*report, error) {
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
		s, err := perform(ctx, part, name, filepath.Join(folder, strings.ReplaceAll(name, " ", "-")), watched)
		if err != nil {
			return nil, err
		}
		watched.done += s.kills
		if r.add(s); s.book.stopped {
			break
		}
	}
	return r, nil
}

// perform runs one scene with its own ledger and judges it.
func perform(ctx context.Context, o options, name, folder string, watched *screen) (*scene, error) {
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
	s := newScene(o, name, folder, watched)
	s.sites = sites{address, ledger.Found[2], ledger.Found[3]}
	if name == "virtual clock" {
		s.ticking, s.shapes = newTicking(o.seed, address)
		s.book.clockSteps = true
	} else {
		s.shapes, s.links, s.sources = shapes(address), newLinks(o.seed, s.sites), sources(address)
		for _, one := range s.sources {
			s.shapes = append(s.shapes, one.shape)
		}
	}
	if s.leaveOut(o.without); s.ticking == nil {
		s.dashboardUser = newDashboardUser(s)
	}
	played, stop := context.WithCancel(ctx)
	defer stop()
	if o.first {
		s.book.stop, s.book.signs = stop, o.signs
	}
	err = s.play(played)
	if s.book.stopped && ctx.Err() == nil {
		return s, nil // stopped early: there is nothing more to judge
	}
	if err != nil {
		return nil, err
	}
	return s, s.judge(calls)
}
