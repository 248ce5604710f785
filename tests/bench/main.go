package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"blueprintd/tests/process"
)

// options are the options of the command line.
type options struct {
	connections []int
	rows        []string
	length      time.Duration
	warmup      time.Duration
	rounds      int
	starts      int
	waiting     int
	idle        int
	folder      string
	binary      string
	json        string
	write       string
	profile     string
	layers      bool
	shaped      bool
	startup     bool
	day         string
	database    string
	failovers   int
	peers       []peer
	peersFolder string
	quick       bool

	out, progress io.Writer
}

func main() {
	if len(os.Args) == 2 {
		if code, known := child(os.Args[1]); known {
			os.Exit(code)
		}
	}
	o, err := parse(os.Args[1:])
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\nhint: go run ./tests/bench -help\n", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func parse(args []string) (o options, err error) {
	o.out, o.progress = os.Stdout, os.Stderr
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	connections := flags.String("connections", "1,32,256", "`NUMBERS` of connections to measure with")
	rows := flags.String("rows", "a,b,c,d,e,f", "`LETTERS` of the rows to measure")
	seconds := flags.Float64("seconds", 2, "how long one measurement lasts")
	warmup := flags.Float64("warmup", 1, "how many seconds of load come before the first round of each measurement; a quarter of it before later ones")
	flags.IntVar(&o.rounds, "rounds", 3, "how often to measure everything, in turn")
	flags.IntVar(&o.starts, "starts", 10, "how often to start the server on an empty and on a loaded database; 0 = not at all")
	flags.IntVar(&o.waiting, "waiting", 10_000, "how many runs to leave waiting for a time, and for a user; 0 = none")
	flags.IntVar(&o.idle, "idle", 1000, "how many connections to leave open without a request, with HTTP and with HTTPS; 0 = none")
	flags.StringVar(&o.folder, "dir", "", "put the databases into a new folder in this `FOLDER` and leave them there; without it, into a temporary one")
	flags.StringVar(&o.binary, "binary", "", "the `SERVER` to measure; without it, one is built from the sources here")
	flags.StringVar(&o.json, "json", "", "write all figures to this `FILE`; - is standard output, instead of the tables")
	flags.StringVar(&o.write, "write", "", "also replace the tables in this `FILE`, between its markers")
	flags.StringVar(&o.profile, "profile", "", "only measure this `ROW` and take a CPU profile of the server")
	flags.BoolVar(&o.layers, "layers", false, "only measure the rows (c unless -rows is given) with a CPU profile and print the server's CPU time by layer")
	flags.BoolVar(&o.startup, "startup", false, "only measure starts, with a loaded database of 1 GB")
	flags.BoolVar(&o.shaped, "shapes", false, "only measure long and wide blueprints")
	flags.StringVar(&o.day, "day", "", "only measure the latency of webhooks beside mixed runs, backups and pruning, and write its picture to this `FILE` (SVG)")
	flags.StringVar(&o.database, "database", "", "only measure the webhook on a file and on this PostgreSQL server, a `URL` without a database, with one to three processes, beside River, n8n in queue mode and Temporal, and fail-overs")
	flags.IntVar(&o.failovers, "failovers", 5, "with -database, how often to kill one of three processes, a minute each; 0 = not at all")
	flags.BoolFunc("peers", "only measure the webhook, side by side with other servers; -peers=NAMES selects some of "+peerNames(), func(names string) (err error) {
		o.peers, err = selectPeers(names)
		return err
	})
	flags.StringVar(&o.peersFolder, "peers-folder", "", "with -peers or -database, a `FOLDER` that keeps the installed peers for the next time; without it, they are installed into a temporary one")
	flags.BoolVar(&o.quick, "quick", false, "one short round of everything, and with -database one fail-over, which takes up to two minutes: it shows that all works, not how fast")
	_ = flags.Parse(args) // ends the program when it fails
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if o.layers && !given["rows"] {
		*rows = "c"
	}
	if o.quick {
		for name, value := range map[string]string{"connections": "4", "seconds": "0.2", "warmup": "0.05", "rounds": "1", "starts": "1", "waiting": "50", "idle": "20", "failovers": "1"} {
			if !given[name] {
				_ = flags.Set(name, value)
			}
		}
	}
	o.length, o.warmup = time.Duration(*seconds*float64(time.Second)), time.Duration(*warmup*float64(time.Second))
	for text := range strings.SplitSeq(*connections, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 10_000 {
			return o, fmt.Errorf("-connections: %q: want a number from 1 to 10,000", text)
		}
		o.connections = append(o.connections, n)
	}
	o.rows = strings.Split(*rows, ",")
	if o.profile != "" {
		o.rows = []string{o.profile}
	}
	for _, name := range o.rows {
		if !slices.Contains([]string{"a", "b", "c", "d", "e", "f"}, name) {
			return o, fmt.Errorf("-rows, -profile: there is no row %q", name)
		}
	}
	switch {
	case flags.NArg() > 0:
		return o, fmt.Errorf("it takes flags only, not %q", flags.Arg(0))
	case o.length < 10*time.Millisecond || o.warmup < 0 || o.rounds < 1 || o.starts < 0 || o.waiting < 0 || o.idle < 0 || o.failovers < 0:
		return o, fmt.Errorf("-seconds from 0.01 on, -rounds from 1 on, and nothing below 0")
	case slices.Contains([]string{"a", "b"}, o.profile):
		return o, fmt.Errorf("-profile: row %s does not load the server", o.profile)
	case o.layers && (slices.Contains(o.rows, "a") || slices.Contains(o.rows, "b")):
		return o, errors.New("-layers: rows a and b do not load the server")
	}
	return o, nil
}

// bench runs the measurements of the options in its own folder.
func bench(ctx context.Context, o options) (err error) {
	if o.folder == "" {
		if o.folder, err = os.MkdirTemp("", "bench"); err != nil {
			return err
		}
		defer os.RemoveAll(o.folder)
	} else if o.folder, err = os.MkdirTemp(o.folder, "bench"); err != nil {
		return err
	}
	if o.folder, err = filepath.Abs(o.folder); err != nil {
		return err
	}
	if o.binary == "" {
		o.say("building the server")
	}
	// The settings of `make build`, but with symbols, which profiles need.
	o.binary, err = process.Program(ctx, o.binary, o.folder, "-trimpath", "-tags", "urfave_cli_no_docs")
	switch {
	case err != nil:
		return err
	case o.profile != "":
		return profile(ctx, o)
	case o.layers:
		return writeLayers(ctx, o)
	case o.startup:
		return writeStarts(ctx, o)
	case o.shaped:
		return writeShapes(ctx, o)
	case o.day != "":
		return writeDay(ctx, o)
	case o.database != "":
		return comparePostgreSQL(ctx, o)
	case o.peers != nil:
		return comparePeers(ctx, o)
	}
	return compare(ctx, o)
}

// say prints progress.
func (o *options) say(format string, args ...any) {
	fmt.Fprintf(o.progress, "bench: "+format+"\n", args...)
}

// quiet is how long a server must be idle to count as idle.
func (o *options) quiet() time.Duration {
	if o.quick {
		return 0
	}
	return time.Second
}
