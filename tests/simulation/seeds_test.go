package simulation

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seeds   = flag.Int("seeds", 150, "how many seeds to simulate")
	first   = flag.Uint64("seed", 1, "the first seed")
	step    = flag.Uint64("step", 0, "the distance from one seed to the next; set for a worker, which reports in JSON")
	replays = flag.Uint64("replays", 25, "how many seeds to simulate twice")
	flawed  = flag.Int("flaw", 0, "the flaw of a single seed, by its number")
	verbose = flag.Bool("verbose", false, "print the whole history of a single seed")
)

// simulate runs one seed in its own bubble. It prints a failure at once, because goroutines
// left in the bubble may end the whole process.
func simulate(t *testing.T, o Options) (report Report) {
	defer withoutCollector()()
	synctest.Test(t, func(t *testing.T) {
		o.Quiet = synctest.Wait
		report = runWorld(o)
		if report.Failure != "" && o.Flaw == FlawNone {
			explain(os.Stderr, &report)
		}
	})
	return report
}

// withoutCollector disables the garbage collector in a world: it wakes goroutines in its
// own order, and a seed would not replay exactly. The returned function enables it again;
// meanwhile it runs between worlds only.
func withoutCollector() func() {
	before := debug.SetGCPercent(-1)
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > worldsHeap {
		runtime.GC()
	}
	return func() { debug.SetGCPercent(before) }
}

// worldsHeap is the size of the heap, in bytes, from which it is collected between worlds.
const worldsHeap = 128 << 20

// explain prints a failure and how to reproduce it.
func explain(out io.Writer, report *Report) {
	const last = 60
	trace := report.Trace
	if len(trace) > last && !*verbose {
		fmt.Fprintf(out, "... %d earlier lines\n", len(trace)-last)
		trace = trace[len(trace)-last:]
	}
	fmt.Fprintf(out, "%s\nseed %d: %s\nreplay: cd tests/simulation && go test -run '^TestSeeds$' -seeds 1 -seed %d -verbose\n",
		strings.Join(trace, "\n"), report.Seed, report.Failure, report.Seed)
}

// expected are the events that a few hundred seeds must contain to be meaningful.
var expected = []string{
	"runs like the reference", "runs like the reference despite crashes", "cancelled runs", "runs stopped during other work",
	"interrupted nodes that run again", "interrupted or timed-out nodes", "nodes retried by a user's decision", "steps kept by a retry",
	"journal entries of kind retry", "journal entries of kind wait", "journal entries of kind await", "journal entries of kind again",
	"runs with items like the reference", "runs with items that stopped each other", "children", "children that have ended", "runs cancelled with the one that started them",
	"steps of items kept by a retry", "nodes continued after a sign-in or with more budget", "journal entries of kind loop", "journal entries of kind call",
	"ticks started", "ticks coalesced", "ticks skipped", "changed schedules", "deliveries answered 202", "deliveries answered 200",
	"temporarily refused commits", "permanently refused commits", "crashes after a commit", "crashes before a commit", "crashes between commits", "stops",
	"take-overs", "runs taken over", "runs handed to the process of their group", "duties taken", "freezes", "broken links", "late beats", "outages",
	"commits with an unknown outcome, applied", "commits with an unknown outcome, not applied", "processes declared dead", "writes of dead processes",
	"processes that find themselves declared dead", "restarts under the name of a frozen process", "nodes that run in a process without the run", "runs displaced by a newer one of their group",
}

// TestSeeds simulates seeds on all processors, in processes with one processor each, so
// that a failing seed can be replayed.
func TestSeeds(t *testing.T) {
	switch {
	case *step > 0:
		defer withoutCollector()()
		work(t)
		return
	case *seeds == 1:
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		report := simulate(t, Options{Seed: *first, Flaw: Flaw(*flawed)})
		if *verbose && (report.Failure == "" || *flawed > 0) {
			fmt.Println(strings.Join(report.Trace, "\n"))
		}
		if report.Failure != "" {
			t.Errorf("%v, want nothing", report.Failure)
		}
		return
	}
	s := summary{begun: time.Now(), counted: map[string]int{}}
	workers := min(runtime.GOMAXPROCS(0), *seeds)
	var group sync.WaitGroup
	for i := range workers {
		group.Go(func() { s.runWorker(t, i, workers) })
	}
	group.Wait()
	line := fmt.Sprintf("%d seeds, %d events, %d crashes, %d runs, %.1f seconds, %.0f seeds/s", s.done, s.events, s.crashes, s.runs, s.seconds(), float64(s.done)/s.seconds())
	t.Log(line)
	if s.reportsProgress() {
		fmt.Fprintln(os.Stderr, line)
	}
	for _, what := range slices.Sorted(maps.Keys(s.counted)) {
		t.Logf("%8d %s", s.counted[what], what)
	}
	for _, what := range expected {
		if s.counted[what] == 0 && *seeds >= 300 {
			t.Errorf("%d seeds without %s", *seeds, what)
		}
	}
	if s.done != *seeds {
		t.Errorf("%d of %d seeds were simulated", s.done, *seeds)
	}
	if slices.Sort(s.failed); len(s.failed) > 0 {
		t.Errorf("%d seeds failed: %v, want none", len(s.failed), s.failed[:min(20, len(s.failed))])
	}
}

// reportMark begins a line of a worker's report.
const reportMark = "report "

// work simulates a worker's share of the seeds.
func work(t *testing.T) {
	for n := range *seeds {
		report := simulate(t, Options{Seed: *first + uint64(n)**step})
		report.Trace = nil
		data, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%s%s\n", reportMark, data)
	}
}

// summary is the result of all seeds.
type summary struct {
	begun                       time.Time
	mu                          sync.Mutex
	done, events, crashes, runs int
	counted                     map[string]int
	failed                      []uint64
}

func (s *summary) seconds() float64 { return time.Since(s.begun).Seconds() }

// reportsProgress reports whether the run is long enough to report progress.
func (s *summary) reportsProgress() bool { return *seeds >= 5000 }

// runWorker runs a worker and reads its reports.
func (s *summary) runWorker(t *testing.T, number, workers int) {
	share := (*seeds - number + workers - 1) / workers
	worker := exec.Command(os.Args[0], "-test.run=^TestSeeds$", "-test.timeout=0", fmt.Sprint("-seeds=", share), fmt.Sprint("-seed=", *first+uint64(number)), fmt.Sprint("-step=", workers))
	worker.Env = append(os.Environ(), "GOMAXPROCS=1")
	worker.Stderr = os.Stderr
	out, err := worker.StdoutPipe()
	if err == nil {
		err = worker.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), reportMark); ok {
			var report Report
			if err := json.Unmarshal([]byte(text), &report); err != nil {
				t.Error(err)
			}
			s.add(&report)
		}
	}
	if err := worker.Wait(); err != nil {
		t.Errorf("a worker ended with %v; what it printed is above", err)
	}
}

func (s *summary) add(report *Report) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done, s.events, s.crashes, s.runs = s.done+1, s.events+report.Events, s.crashes+report.Crashes, s.runs+report.Runs
	for what, times := range report.Saw {
		s.counted[what] += times
	}
	if report.Failure != "" {
		s.failed = append(s.failed, report.Seed)
	}
	if s.reportsProgress() && s.done%1000 == 0 {
		fmt.Fprintf(os.Stderr, "%d of %d seeds, %.0f in a second\n", s.done, *seeds, float64(s.done)/s.seconds())
	}
}
