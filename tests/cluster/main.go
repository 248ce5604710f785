package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"blueprintd/tests/process"
)

// options are the options of the command line.
type options struct {
	faults   int
	seed     uint64
	count    int
	clients  int
	keep     bool
	verbose  bool
	first    bool
	wanted   []string // the invariants that count for first; none = all
	binary   string
	selftest bool
	only     string // mutants
}

func main() {
	var o options
	flag.IntVar(&o.faults, "faults", 200, "number of faults; with -selftest the maximum for each mutant")
	flag.Uint64Var(&o.seed, "seed", uint64(now().UnixNano()%1_000_000), "seed of the load and of the faults; random by default")
	flag.IntVar(&o.count, "nodes", 3, "number of processes of the server")
	flag.IntVar(&o.clients, "clients", 6, "number of clients")
	flag.BoolVar(&o.keep, "keep", false, "keep the logs even without a violation")
	flag.BoolVar(&o.verbose, "v", false, "print each fault")
	flag.BoolVar(&o.first, "first", false, "stop at the first violation")
	flag.BoolVar(&o.selftest, "selftest", false, "check that each known mutant of the server is found")
	flag.StringVar(&o.only, "mutants", "", "comma-separated mutants to which -selftest is limited")
	flag.StringVar(&o.binary, "binary", "", "the server to test; without it, one is built from these sources")
	flag.Parse()
	if flag.NArg() > 0 || o.selftest && o.binary != "" || o.faults < 0 || min(o.count, o.clients) < 1 {
		fmt.Fprintln(os.Stderr, "the cluster torture takes flags only, -nodes and -clients from 1 on, and -selftest builds its own server; see -help")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if o.selftest {
		os.Exit(selftest(ctx, o))
	}
	os.Exit(torture(ctx, o))
}

// torture runs the whole test in a folder and returns the exit code.
func torture(ctx context.Context, o options) int {
	folder, err := os.MkdirTemp("", "torture-cluster")
	if err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		return 1
	}
	if o.binary, err = process.Program(ctx, o.binary, folder); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		return 1
	}
	c, err := tortureIn(ctx, o, folder, os.Stderr)
	if err != nil {
		fmt.Fprintf(os.Stderr, "torture: %v\nhint: the logs are in %s\n", err, folder)
		return 1
	}
	bad := len(c.history.violations) > 0
	if !o.keep && !bad {
		os.RemoveAll(folder)
		folder = ""
	}
	c.report(os.Stdout, folder)
	if bad {
		return 1
	}
	return 0
}

// cluster is one test: a server of several processes, its database, and what is known.
type cluster struct {
	options
	folder   string
	out      io.Writer
	began    time.Time
	database *database
	service  *service
	nodes    []*node
	shapes   []*shape
	history  history
	// onViolation is called with each violation, under the lock of the history.
	onViolation func(violation)
	healed      time.Time
	duties      bool // the watcher has reported that several processes have them

	mu       sync.Mutex
	timeline []event
	cancel   context.CancelCauseFunc

	countMu sync.Mutex
	summary summary
}

// fail ends the test because of an error of this program or of the machine.
func (c *cluster) fail(err error) { c.cancel(err) }

func (c *cluster) count(change func(*summary)) {
	c.countMu.Lock()
	defer c.countMu.Unlock()
	change(&c.summary)
}

// since writes an instant as seconds since the beginning.
func (c *cluster) since(at time.Time) string {
	return fmt.Sprintf("%8.2f s", at.Sub(c.began).Seconds())
}

// tortureIn runs the test. An error is one of this program or of the machine, not of the
// server.
func tortureIn(ctx context.Context, o options, folder string, out io.Writer) (*cluster, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c := &cluster{options: o, folder: folder, out: out, began: now(), cancel: cancel, summary: newSummary()}
	c.history.runs = map[string]*run{}
	var err error
	if c.database, err = newDatabase(ctx, folder); err != nil {
		return c, err
	}
	defer func() {
		if o.keep && len(c.history.violations) > 0 {
			c.database.stop(syscall.SIGINT)
			fmt.Fprintf(out, "the database is kept in %s\n", c.database.folder)
			return
		}
		c.database.remove()
	}()
	if c.service, err = newService(c.nameOf); err != nil {
		return c, err
	}
	if out, err := exec.CommandContext(ctx, o.binary, "master-key", "create", filepath.Join(folder, "key")).CombinedOutput(); err != nil {
		return c, fmt.Errorf("master-key create: %w\n%s", err, out)
	}
	for i := range o.count {
		n := &node{name: fmt.Sprint("n", i+1), log: filepath.Join(folder, fmt.Sprintf("n%d.log", i+1))}
		if n.link, err = newLink(c.database.address); err != nil {
			return c, err
		}
		c.nodes = append(c.nodes, n)
	}
	err = c.run(ctx)
	if cause := context.Cause(ctx); err == nil && cause != nil {
		err = cause
	}
	return c, err
}

// nameOf returns the name of the node with a process; "" if there is none.
func (c *cluster) nameOf(pid int) string {
	for _, n := range c.nodes {
		n.mu.Lock()
		first, second := n.process, n.second
		n.mu.Unlock()
		if first != nil && first.Pid() == pid || second != nil && second.Pid() == pid {
			return n.name
		}
	}
	return ""
}

// run loads and disturbs the server, and then checks it.
func (c *cluster) run(ctx context.Context) error {
	watched, endWatch := context.WithCancel(ctx)
	var watchers sync.WaitGroup
	defer func() {
		endWatch()
		for _, n := range c.nodes {
			_ = n.signal(syscall.SIGCONT)
			n.mu.Lock()
			p := n.process
			n.mu.Unlock()
			p.Kill()
			n.link.close()
		}
		watchers.Wait()
	}()
	for _, n := range c.nodes {
		watchers.Go(func() { c.supervise(watched, n) })
		watchers.Go(func() { c.watchReady(watched, n) })
	}
	if err := c.awaitReady(ctx, 2*maxReady); err != nil {
		return err
	}
	c.shapes = shapes(c.service.address())
	api := c.client("setup", 2).api()
	for _, s := range c.shapes {
		if err := s.create(ctx, api); err != nil {
			return err
		}
	}
	created := now()
	watchers.Go(func() { c.watchRuns(watched) })
	loaded, unload := context.WithCancel(ctx)
	var clients sync.WaitGroup
	for i := range c.clients {
		client := c.client(fmt.Sprint("c", i+1), uint64(100+i))
		clients.Go(func() { client.work(ctx, loaded) })
	}
	c.disturb(ctx, c.stopped)
	c.addEvent("all faults are healed")
	c.healed = now()
	process.Pause(ctx, time.Second)
	unload()
	clients.Wait()
	if ctx.Err() != nil || c.stopped() {
		return nil
	}
	if err := c.awaitReady(ctx, maxReady); err != nil {
		c.violated("ready", "", "%v", err)
		return nil
	}
	c.settle(ctx, created)
	endWatch()
	return c.checkStopped(ctx)
}

// stopped reports whether the test has to end at its first violation, of those that are
// looked for.
func (c *cluster) stopped() bool {
	c.history.mu.Lock()
	defer c.history.mu.Unlock()
	return c.first && slices.ContainsFunc(c.history.violations, func(v violation) bool { return len(c.wanted) == 0 || slices.Contains(c.wanted, v.Invariant) })
}

// maxReady is how long the harness waits for a start.
const maxReady = 30 * time.Second

// awaitReady waits until all processes are ready.
func (c *cluster) awaitReady(ctx context.Context, most time.Duration) error {
	for began := now(); now().Sub(began) < most; process.Pause(ctx, 50*time.Millisecond) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !slices.ContainsFunc(c.nodes, func(n *node) bool { return n.readyAddress() == "" }) {
			return nil
		}
	}
	return fmt.Errorf("not all processes are ready after %s", most)
}

// now returns real time: the server is a real process with a real clock.
func now() time.Time { return time.Now() }
